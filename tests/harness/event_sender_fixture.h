// Fixture of the tests of the event sender.
#ifndef BERTH_TESTS_HARNESS_EVENT_SENDER_FIXTURE_H_
#define BERTH_TESTS_HARNESS_EVENT_SENDER_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/base/json_text.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/write/event_sender.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

inline constexpr const char* kEventsTarget =
    "POST /apis/events.k8s.io/v1/namespaces/default/events";
inline constexpr int64_t kEventTime = 1'768'032'000 * kSecond;

// An event sender over a transport whose answers the test gives, in virtual time.
class EventSenderTest : public ::testing::Test {
 protected:
  EventSenderTest() { options_.host_name = "host-1"; }

  EventSender& sender() {
    if (!sender_) {
      sender_ = EventSender::Create(transport_, executor_, clock_, options_, Log());
    }
    return *sender_;
  }
  static Event MakeEvent(const std::string& pod, const std::string& note = "a note") {
    Event event;
    event.type = "Warning";
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = note;
    event.regarding.api_version = "v1";
    event.regarding.kind = "Pod";
    event.regarding.ns = "default";
    event.regarding.name = pod;
    event.regarding.uid = "u-" + pod;
    event.regarding.resource_version = "7";
    event.reporting_controller = "acme";
    event.reporting_instance = "acme";
    return event;
  }
  void Send(const std::string& pod) { sender().Send(MakeEvent(pod)); }

  size_t open() const { return transport_.open().size(); }
  nlohmann::json Body(size_t index = 0) { return ParseJson(transport_.BodyOf(index)); }
  // Returns the pods of the events under way.
  std::vector<std::string> OpenPods() {
    std::vector<std::string> pods;
    for (size_t i = 0; i < open(); ++i) pods.push_back(Body(i)["regarding"]["name"]);
    return pods;
  }
  void Store() {
    ASSERT_GT(open(), 0U);
    transport_.Answer(0, 201, "{}");
  }
  void Fail(uint32_t http_status, const std::string& reason = "") {
    ASSERT_GT(open(), 0U);
    transport_.Answer(0, http_status, R"({"kind":"Status","reason":")" + reason + "\"}");
  }
  void RunFor(int64_t duration_ns) {
    const int64_t end_ns = clock_.NowNs() + duration_ns;
    executor_.RunAll();
    while (true) {
      const auto next_ns = executor_.NextNs();
      if (!next_ns || *next_ns > end_ns) break;
      clock_.AdvanceTo(*next_ns);
      executor_.RunAll();
    }
    clock_.AdvanceTo(end_ns);
  }
  // `lost`: for whatever reason.
  void ExpectCounts(uint64_t sent, uint64_t lost, uint64_t repeated) {
    const EventSender::Counts& counts = sender().counts();
    EXPECT_EQ(counts.sent, sent);
    EXPECT_EQ(counts.full + counts.ended + counts.refused + counts.failed, lost);
    EXPECT_EQ(counts.repeated, repeated);
  }
  // Lets at most so many events of Send() wait.
  void LimitWaiting(size_t events) {
    VirtualExecutor executor{clock_};
    ScriptedTransport transport{executor};
    EventSender::Options options = options_;
    options.in_flight = 1;
    const auto sender = EventSender::Create(transport, executor, clock_, options, Log());
    for (const char* pod : {"y", "z"}) sender->Send(MakeEvent(pod));
    options_.queue_bytes = events * sender->waiting_bytes();
  }

  VirtualClock clock_{kEventTime};
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  EventSender::Options options_;
  std::unique_ptr<EventSender> sender_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_EVENT_SENDER_FIXTURE_H_
