// Shared by the tests of KubernetesClient and KubernetesConnection with real threads: what a server
// sends, and users of a client that check what they receive.
#ifndef BERTH_TESTS_HARNESS_CLIENT_THREADS_FIXTURE_H_
#define BERTH_TESTS_HARNESS_CLIENT_THREADS_FIXTURE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/cluster/client.h"

namespace berth::host {

inline constexpr std::string_view kNodeResources =
    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes",)"
    R"("namespaced":false,"kind":"Node","verbs":["get","list","watch"]}]})";

// A list of one node whose version each watch reaches after its first events.
inline constexpr std::string_view kCurrentVersion =
    R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"120"},"items":[]})";

// A monotonic clock.
inline int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A watch line of a node.
inline std::string NodeLine(const char* type, int name, int version) {
  return std::string(R"({"type":")") + type +
         R"(","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n)" +
         std::to_string(name) + R"(","uid":"u)" + std::to_string(name) +
         R"(","resourceVersion":")" + std::to_string(version) + "\"}}}\n";
}

inline std::string EndOfInitialEvents(int version) {
  return R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{)"
         R"("resourceVersion":")" +
         std::to_string(version) + R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})" +
         "\n";
}

// Checks the order of the events of one watch.
class OrderSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.type == WatchType::kSynced) {
        is_synced = true;
        continue;
      }
      EXPECT_EQ(event.type, is_synced ? WatchType::kModified : WatchType::kAdded);
      if (is_synced) {
        EXPECT_EQ(Base(event.object).name(), Base(event.previous).name());
      }
      ++count;
    }
  }

  bool is_synced = false;
  size_t count = 0;
};

// Sends every type of request and counts the answers.
class Requester {
 public:
  explicit Requester(DecisionWriter& writer) : writer_(writer) {}

  // Sends one request of each type.
  void SendAll(int number) {
    const std::string name = "p" + std::to_string(number % 7);
    const PodName pod = {"default", name, ""};
    writer_.Bind(pod, "n1", Count<Status>());
    writer_.PatchPodStatus(pod, {}, Count<Status>());
    writer_.DeletePod(pod, 0, Count<Status>());
    Event event;
    event.reason = "Scheduled";
    event.regarding.kind = "Pod";
    event.regarding.name = name;
    writer_.CreateEvent(event, Count<Status>());
    ApiRequest request;
    request.verb = "PUT";
    request.path = "/x";
    request.body = "{}";
    writer_.Request(std::move(request), Count<ApiResponse>());
  }

  std::atomic<uint64_t> sent = 0;
  std::atomic<uint64_t> answered = 0;

 private:
  template <class R>
  std::function<void(R)> Count() {
    ++sent;
    return [this](const R&) { ++answered; };
  }

  DecisionWriter& writer_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_CLIENT_THREADS_FIXTURE_H_
