// Fixture of the tests of KubernetesClient, whose server is the test, in virtual time.
#ifndef BERTH_TESTS_HARNESS_KUBERNETES_CLIENT_FIXTURE_H_
#define BERTH_TESTS_HARNESS_KUBERNETES_CLIENT_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/test_watch_event_text.h"
#include "tests/harness/reflector_fixture.h"

namespace berth::host {

// Records what a watch of the client delivers, as RecordingReflectorSink does.
class ClientSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (WatchEvent& event : events) {
      seen.push_back(WatchEventText(event));
      received.push_back(std::move(event));
    }
    seen.emplace_back("|");
    if (on_events) std::exchange(on_events, nullptr)();
  }
  void OnWatchError(const Status& status) override {
    seen.push_back(status.ok() ? "ok" : "error: " + status.ToString());
    if (on_error) std::exchange(on_error, nullptr)();
  }
  std::vector<std::string> Take() { return std::exchange(seen, {}); }

  std::vector<std::string> seen;
  std::vector<WatchEvent> received;
  std::function<void()> on_events;  // Called once.
  std::function<void()> on_error;   // Called once.
};

// Uses transport_ for reads.
class KubernetesClientTest : public ReflectorTest {
 protected:
  static constexpr const char* kFirstPods =
      "GET /api/v1/pods?allowWatchBookmarks=true&fieldSelector=status.phase%21%3DSucceeded%2C"
      "status.phase%21%3DFailed&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch="
      "true";

  KubernetesClientTest() {
    fence_.OpenUntil(BindFence::kForever);
    options_.reads = {&transport_, &executor_};
    options_.writes = {&writes_, &executor_};
    options_.events = {&events_, &executor_};
    options_.wall = &clock_;
    options_.fence = &fence_;
    options_.seed = 7;
    options_.wake = [this] { ++wakes_; };
    options_.needed_by = [](std::string_view kind) {
      return kind == kNodeKind ? "the host" : "the plugin X";
    };
    options_.wait = [this](const std::function<bool()>& is_done) { RunUntil(is_done); };
  }
  ~KubernetesClientTest() override {
    if (client_ && !is_stopped_) Stop();
  }

  // The first call creates the client with options_.
  KubernetesClient& client() {
    if (!client_) client_ = std::make_unique<KubernetesClient>(interner_, options_, Log());
    return *client_;
  }
  void Stop() {
    is_stopped_ = true;
    client().Stop();
  }
  // Runs everything that is due, and delivers.
  void Run() {
    executor_.RunAll();
    client().Deliver();
  }
  // Advances the time, and delivers. The server does not answer.
  void RunFor(int64_t ns) {
    host::Advance(executor_, clock_, ns);
    client().Deliver();
  }

  // ---- Texts of the server
  static std::string PodText(const std::string& name, int version, const std::string& rest = "") {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"default","name":")" + name +
           R"(","uid":"u-)" + name + R"(","resourceVersion":")" + std::to_string(version) + "\"}" +
           rest + "}";
  }
  // The server serves nodes and pods.
  static std::string CoreResourcesText() {
    const std::string verbs = R"("verbs":["get","list","watch"]})";
    return R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)"
           R"({"name":"nodes","namespaced":false,"kind":"Node",)" +
           verbs + R"(,{"name":"pods","namespaced":true,"kind":"Pod",)" + verbs + "]}";
  }
  static std::string RacksText(bool is_served) {
    return std::string(
               R"({"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[)") +
           (is_served ? R"({"name":"racks","namespaced":false,"kind":"Rack",)"
                        R"("verbs":["get","list","watch"]})"
                      : "") +
           "]}";
  }
  static std::string RackText(const std::string& name, int version) {
    return R"({"kind":"Rack","apiVersion":"example.com/v1","metadata":{"name":")" + name +
           R"(","uid":"u-)" + name + R"(","resourceVersion":")" + std::to_string(version) + "\"}}";
  }

  // ---- Requests of the scheduler
  static Event MakeEvent(const std::string& pod = "p") {
    Event event;
    event.type = "Normal";
    event.reason = "Scheduled";
    event.regarding.api_version = "v1";
    event.regarding.kind = "Pod";
    event.regarding.ns = "default";
    event.regarding.name = pod;
    event.reporting_controller = "acme";
    return event;
  }
  static ApiRequest MakeRequest(const std::string& verb, const std::string& path = "/x") {
    return {.verb = verb, .path = path, .body = verb == "GET" ? "" : "{}"};
  }

  // ---- Steps
  // Starts a watch of nodes, which has delivered n1@5 and n2@6 with the resourceVersion 10.
  std::unique_ptr<Watch> WatchNodes(ClientSink& sink) {
    auto watch = client().StartWatch(kNodeKind, sink);
    executor_.RunAll();
    transport_.Answer(0, 200, ResourcesText());
    transport_.Head(0);
    transport_.Bytes(0, Line("ADDED", "n1", 5) + Line("ADDED", "n2", 6) + Bookmark(10, true));
    client().Deliver();
    sink.seen.clear();
    return watch;
  }
  // Returns a callback that records the result of a request.
  StatusCallback Note(std::string what) {
    return [this, what = std::move(what)](const Status& status) {
      answers_.push_back(what + ": " + status.ToString());
    };
  }
  ResponseCallback NoteResponse(std::string what) {
    return [this, what = std::move(what)](const ApiResponse& response) {
      answers_.push_back(what + ": " + std::to_string(response.http_status) + " " +
                         (response.status.ok() ? response.body : response.status.ToString()));
    };
  }
  std::vector<std::string> Answers() { return std::exchange(answers_, {}); }

  BindFence fence_{[this] { return clock_.NowNs(); }};
  ScriptedTransport writes_{executor_};
  ScriptedTransport events_{executor_};
  KubernetesClient::Options options_;
  std::unique_ptr<KubernetesClient> client_;
  bool is_stopped_ = false;
  int wakes_ = 0;
  std::vector<std::string> answers_;
  std::function<void()> during_stop_;  // Called before the time advances during Stop().

 private:
  void RunUntil(const std::function<bool()>& is_done) {
    while (true) {
      executor_.RunAll();
      if (is_done()) return;
      if (during_stop_) during_stop_();
      executor_.RunAll();
      if (is_done()) return;
      const auto next_ns = executor_.NextNs();
      ASSERT_TRUE(next_ns.has_value());
      clock_.AdvanceTo(std::max(*next_ns, clock_.NowNs()));
    }
  }
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_KUBERNETES_CLIENT_FIXTURE_H_
