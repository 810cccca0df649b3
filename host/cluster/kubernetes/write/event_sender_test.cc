#include "host/cluster/kubernetes/write/event_sender.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/harness/event_sender_fixture.h"

namespace berth::host {
namespace {

using EventPods = std::vector<std::string>;

// ---- Single events ------------------------------------------------------------------------------

TEST_F(EventSenderTest, CreatesAnEvent) {
  Send("a");
  ASSERT_EQ(transport_.open(), (std::vector<std::string>{kEventsTarget}));
  EXPECT_EQ(Body()["eventTime"], "2026-01-10T08:00:00.000000Z");
  EXPECT_EQ(Body()["reportingController"], "acme");
  EXPECT_EQ(Body()["reportingInstance"], "acme-host-1");
  EXPECT_FALSE(Body().contains("series"));
  EXPECT_EQ(transport_.RequestAt(0).content_type, kJson);
  EXPECT_EQ(transport_.RequestAt(0).timeout_ns, 34 * kSecond);
  Store();
  EXPECT_EQ(open(), 0U);
  ExpectCounts(1, 0, 0);
}

TEST_F(EventSenderTest, CompletesTheReportingInstance) {
  struct Case {
    std::string controller;
    std::string instance;
    std::string host;
    std::string expected;
  };
  const Case cases[] = {
      {"acme", "", "h", "acme-h"},
      {"acme", "acme", "h", "acme-h"},
      {"acme", "acme-7", "h", "acme-7"},
      {"acme", "acme", "", "acme"},
      {std::string(126, 'c'), "", "h", std::string(126, 'c') + "-h"},
      {std::string(127, 'c'), "", "h", std::string(127, 'c') + "-"},
  };
  for (const Case& c : cases) {
    options_.host_name = c.host;
    sender_.reset();
    Event event = MakeEvent("a");
    event.reporting_controller = c.controller;
    event.reporting_instance = c.instance;
    sender().Send(event);
    EXPECT_EQ(Body()["reportingInstance"], c.expected);
    Store();
  }
}

TEST_F(EventSenderTest, GivesEventsOfOneTimeDistinctNames) {
  Event other = MakeEvent("a");
  other.reason = "Preempted";
  Send("a");
  sender().Send(other);
  ASSERT_EQ(open(), 2U);
  EXPECT_NE(Body(0)["metadata"]["name"], Body(1)["metadata"]["name"]);
}

TEST_F(EventSenderTest, LimitsTheRequestsUnderWay) {
  options_.in_flight = 2;
  for (const char* pod : {"a", "b", "c", "d"}) Send(pod);
  EXPECT_EQ(OpenPods(), (EventPods{"a", "b"}));
  EXPECT_EQ(sender().waiting(), 2U);
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"b", "c"}));
  Store();
  Store();
  Store();
  EXPECT_EQ(open(), 0U);
  ExpectCounts(4, 0, 0);
}

TEST_F(EventSenderTest, SendsEventThatWaitedAsItWasGiven) {
  options_.in_flight = 1;
  Event event = MakeEvent("a", "a note with 3:abc in it");
  event.type = "Warning";
  event.reason = "Preempted";
  event.action = "Preempting";
  event.regarding.resource_version = "";
  event.reporting_instance = "acme-7";
  event.time_ns = 5 * kSecond;
  for (const bool has_related : {false, true}) {
    for (const bool is_unique : {false, true}) {
      SCOPED_TRACE(testing::Message() << has_related << is_unique);
      event.related.reset();
      if (has_related) event.related = {"v1", "Pod", "other", "b", "uid-b", "12"};
      event.is_unique = is_unique;
      event.regarding.uid += "x";  // Another event than the last one.
      Send("first");
      sender().Send(event);
      ASSERT_EQ(sender().waiting(), 1U);
      Store();
      const std::string name = Body()["metadata"]["name"];
      EXPECT_EQ(transport_.BodyOf(0), EventBody(event, name, std::nullopt));
      Store();
      RunFor(7 * kMinute);  // The series of both events end.
    }
  }
}

// ---- Errors -------------------------------------------------------------------------------------

TEST_F(EventSenderTest, RepeatsAnEventThatCouldNotBeWritten) {
  struct Case {
    const char* name;
    uint32_t http_status;  // 0: lost.
  };
  for (const Case& c : {Case{"lost", 0}, Case{"internal error", 500}, Case{"overloaded", 429}}) {
    SCOPED_TRACE(c.name);
    Send(c.name);
    const std::string body = transport_.BodyOf(0);
    if (c.http_status == 0) {
      transport_.Lose(0, Delivery::kUnknown);
    } else {
      Fail(c.http_status);
    }
    EXPECT_EQ(sender().waiting(), 1U);
    RunFor(10 * kSecond - 1);
    EXPECT_EQ(open(), 0U);
    RunFor(2500 * kMillisecond + 1);
    ASSERT_EQ(open(), 1U);
    EXPECT_EQ(transport_.BodyOf(0), body) << "a repetition has the same name";
    Store();
  }
  ExpectCounts(3, 0, 0);
}

// While an event waits for its repetition, the next answer finds no other one to send.
TEST_F(EventSenderTest, AnswerStartsNoRepetitionEarly) {
  options_.in_flight = 2;
  Send("a");
  Send("b");
  Fail(500);
  Store();
  EXPECT_EQ(open(), 0U);
  EXPECT_EQ(sender().waiting(), 1U);
  RunFor(60 * kSecond);
  EXPECT_EQ(OpenPods(), (EventPods{"a"}));
  Store();
  ExpectCounts(2, 0, 0);
}

TEST_F(EventSenderTest, RespectsRetryAfterUpToOneMinute) {
  Send("a");
  for (const int64_t retry_after_ns : {60 * kSecond, 61 * kSecond, INT64_MAX}) {
    transport_.Answer(0, 429, "{}", retry_after_ns);
    RunFor(60 * kSecond - 1);
    EXPECT_EQ(open(), 0U) << retry_after_ns;
    RunFor(1);
    ASSERT_EQ(open(), 1U) << retry_after_ns;
  }
}

TEST_F(EventSenderTest, GivesUpAfterTheLastTry) {
  options_.tries = 3;
  Send("a");
  for (int i = 0; i < 3; ++i) {
    ExpectCounts(0, 0, 0);
    Fail(500);
    RunFor(13 * kSecond);
  }
  EXPECT_EQ(open(), 0U);
  ExpectCounts(0, 1, 0);
  EXPECT_EQ(sender().counts().failed, 1U);
  EXPECT_EQ(sender().series(), 0U);
}

TEST_F(EventSenderTest, DropsWhatTheServerRefuses) {
  for (const uint32_t http_status : {400U, 403U, 404U, 409U, 422U}) {
    Send("a");
    Fail(http_status, "Refused");
    RunFor(60 * kSecond);
    EXPECT_EQ(open(), 0U) << http_status;
    EXPECT_EQ(sender().series(), 0U) << http_status;
  }
  ExpectCounts(0, 5, 0);
  EXPECT_EQ(sender().counts().refused, 5U);
}

TEST_F(EventSenderTest, AcceptsEventThatALostRequestHasCreated) {
  Send("a");
  transport_.Lose(0, Delivery::kUnknown);
  RunFor(13 * kSecond);
  Fail(409, "AlreadyExists");
  ExpectCounts(1, 0, 0);
  Send("a");
  EXPECT_TRUE(transport_.open().at(0).starts_with("PATCH")) << transport_.open().at(0);
}

// The request whose answer was lost knew of one event only.
TEST_F(EventSenderTest, WritesTheCountThatALostRequestLacked) {
  Send("a");
  transport_.Lose(0, Delivery::kUnknown);
  Send("a");
  RunFor(13 * kSecond);
  Fail(409, "AlreadyExists");
  ASSERT_EQ(open(), 1U);
  EXPECT_TRUE(transport_.open().at(0).starts_with("PATCH")) << transport_.open().at(0);
  EXPECT_EQ(Body()["series"]["count"], 2);
}

TEST_F(EventSenderTest, RepeatsNothingWhileTheQueueIsFull) {
  options_.in_flight = 1;
  LimitWaiting(2);
  for (const char* pod : {"a", "b", "c"}) Send(pod);
  Fail(500);
  ExpectCounts(0, 1, 0);
  EXPECT_EQ(OpenPods(), (EventPods{"b"}));
}

TEST_F(EventSenderTest, DropsEventsThatWaitForTheirRepetitionFirst) {
  options_.in_flight = 1;
  LimitWaiting(2);
  Send("a");
  Fail(500);
  Send("b");
  Send("c");
  Send("d");
  ExpectCounts(0, 1, 0);
  RunFor(60 * kSecond);
  Store();
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"d"}));
}

TEST_F(EventSenderTest, DropsWhatMaySendRefuses) {
  bool is_open = false;
  options_.may_send = [&is_open] {
    return is_open ? Status() : Status::Unavailable("this process does not lead");
  };
  Send("a");
  const auto may_send = transport_.RequestAt(0).may_send;
  transport_.Lose(0, Delivery::kNotSent, may_send());
  RunFor(60 * kSecond);
  EXPECT_EQ(open(), 0U);
  ExpectCounts(0, 1, 0);
  EXPECT_EQ(sender().counts().refused, 1U);
  is_open = true;
  Send("a");
  EXPECT_TRUE(transport_.RequestAt(0).may_send().ok());
  Store();
  ExpectCounts(1, 1, 0);
}

// ---- Series -------------------------------------------------------------------------------------

TEST_F(EventSenderTest, CountsRepetitionsInASeries) {
  Send("a");
  const std::string name = Body()["metadata"]["name"];
  Store();
  RunFor(kSecond);
  sender().Send(MakeEvent("a", "another note"));
  ASSERT_EQ(transport_.open().at(0),
            "PATCH /apis/events.k8s.io/v1/namespaces/default/events/" + name);
  EXPECT_EQ(transport_.RequestAt(0).content_type, kMergePatch);
  EXPECT_EQ(transport_.BodyOf(0),
            R"({"series":{"count":2,"lastObservedTime":"2026-01-10T08:00:01.000000Z"}})");
  Store();
  for (int i = 0; i < 5; ++i) Send("a");
  EXPECT_EQ(open(), 0U);
  ExpectCounts(2, 0, 6);
  // Six minutes after its last event, the series ends, and its count is written.
  RunFor(6 * kMinute - 1);
  EXPECT_EQ(open(), 0U);
  RunFor(1);
  ASSERT_EQ(open(), 1U);
  EXPECT_EQ(Body()["series"]["count"], 7);
  Store();
  EXPECT_EQ(sender().series(), 0U);
  Send("a");
  EXPECT_EQ(transport_.open().at(0), kEventsTarget);
  EXPECT_NE(Body()["metadata"]["name"], name);
}

TEST_F(EventSenderTest, WritesCountOfLongSeriesEveryHalfHour) {
  Send("a");
  Store();
  Send("a");
  Store();
  for (int minute = 1; minute < 30; ++minute) {
    RunFor(kMinute);
    Send("a");
    ASSERT_EQ(open(), 0U) << minute;
  }
  RunFor(kMinute);
  ASSERT_EQ(open(), 1U);
  EXPECT_EQ(Body()["series"]["count"], 31);
  Store();
  // A count that has not changed is not written again.
  RunFor(6 * kMinute);
  EXPECT_EQ(open(), 0U);
  EXPECT_EQ(sender().series(), 0U);
}

TEST_F(EventSenderTest, EndsASeriesOfOneEventSilently) {
  Send("a");
  Store();
  RunFor(6 * kMinute - 1);
  EXPECT_EQ(sender().series(), 1U);
  RunFor(1);
  EXPECT_EQ(sender().series(), 0U);
  EXPECT_EQ(open(), 0U);
}

TEST_F(EventSenderTest, AUniqueEventBeginsNoSeries) {
  Event event = MakeEvent("a", "a note");
  event.is_unique = true;
  sender().Send(event);
  sender().Send(event);
  EXPECT_EQ(sender().series(), 0U);
  ASSERT_EQ(open(), 2U);
  const std::string name = Body()["metadata"]["name"];
  // Until the server has it, it is treated as every other event.
  Fail(503);
  Store();
  EXPECT_EQ(open(), 0U);
  RunFor(13 * kSecond);
  ASSERT_EQ(open(), 1U);
  EXPECT_EQ(Body()["metadata"]["name"], name);
  EXPECT_EQ(Body()["note"], "a note");
  Store();
  RunFor(10 * kMinute);
  EXPECT_EQ(open(), 0U);
  ExpectCounts(2, 0, 0);
}

TEST_F(EventSenderTest, SendsSeriesAfterTheCreationOfItsEvent) {
  Send("a");
  Send("a");
  Send("a");
  EXPECT_EQ(open(), 1U);
  EXPECT_FALSE(Body().contains("series"));
  Store();
  ASSERT_EQ(open(), 1U);
  EXPECT_EQ(Body()["series"]["count"], 3);
  Store();
  EXPECT_EQ(open(), 0U);
}

TEST_F(EventSenderTest, CreatesEventThatHasWaitedWithItsSeries) {
  options_.in_flight = 1;
  Send("a");
  Send("b");
  Send("b");
  Store();
  ASSERT_EQ(transport_.open().at(0), kEventsTarget);
  EXPECT_EQ(Body()["series"]["count"], 2);
  Store();
  EXPECT_EQ(open(), 0U);
}

TEST_F(EventSenderTest, CreatesEventAgainThatTheServerHasForgotten) {
  for (const bool has_related : {false, true}) {
    Event event = MakeEvent(has_related ? "b" : "a");
    event.note = "text: \"1:x\"";
    if (has_related) event.related = ObjectReference{"v1", "Node", "", "n:1", "", ""};
    sender().Send(event);
    const auto first = Body();
    EXPECT_EQ(first.contains("related"), has_related);
    Store();
    sender().Send(event);
    Fail(404, "NotFound");
    ASSERT_EQ(transport_.open(), (std::vector<std::string>{kEventsTarget}));
    auto again = Body();
    EXPECT_EQ(again["series"]["count"], 2);
    again.erase("series");
    EXPECT_EQ(again, first);
    Store();
  }
  ExpectCounts(4, 0, 2);
}

TEST_F(EventSenderTest, DistinguishesSeriesByTheirKey) {
  const Event first = MakeEvent("a");
  std::vector<Event> others(9, first);
  others[0].type = "Normal";
  others[1].reason = "Other";
  others[2].action = "Other";
  others[3].reporting_controller = "other";
  others[4].reporting_instance = "other";
  others[5].regarding.uid = "other";
  others[6].regarding.resource_version = "8";
  others[7].related = first.regarding;
  others[8].regarding.ns = "other";
  options_.in_flight = 100;
  sender().Send(first);
  for (const Event& event : others) sender().Send(event);
  EXPECT_EQ(open(), 10U);
  EXPECT_EQ(sender().series(), 10U);
  ExpectCounts(0, 0, 0);
}

TEST_F(EventSenderTest, EndsTheSeriesThatWasSilentLongest) {
  options_.max_series = 2;
  Send("a");
  Store();
  Send("b");
  Store();
  for (int i = 0; i < 2; ++i) {
    Send("a");
    Send("b");
    while (open() > 0) Store();
  }
  Send("a");
  Send("c");  // Ends the series of b, whose count of 3 is not written yet.
  EXPECT_EQ(sender().series(), 2U);
  ASSERT_EQ(open(), 2U);
  EXPECT_EQ(Body(0)["series"]["count"], 3);
  EXPECT_EQ(Body(1)["regarding"]["name"], "c");
}

// ---- Flush --------------------------------------------------------------------------------------

class EventSenderFlushTest : public EventSenderTest {
 protected:
  void Flush() {
    sender().Flush(5 * kSecond, [this] { ++done_; });
  }
  int done_ = 0;
};

TEST_F(EventSenderFlushTest, EndsAtOnceWithoutEvents) {
  Flush();
  EXPECT_EQ(done_, 0);
  executor_.RunAll();
  EXPECT_EQ(done_, 1);
  Send("a");
  EXPECT_EQ(open(), 0U);
  ExpectCounts(0, 1, 0);
}

TEST_F(EventSenderFlushTest, SendsWhatWaitsAndTheCountsOfSeries) {
  options_.in_flight = 1;
  Send("a");
  Store();
  Send("a");
  Store();
  Send("a");  // Counted only.
  Send("b");
  Fail(500);  // Waits for its repetition.
  Send("c");
  Send("d");
  Flush();
  int requests = 0;
  for (; open() > 0; ++requests) {
    EXPECT_EQ(done_, 0);
    Store();
    executor_.RunAll();
  }
  EXPECT_EQ(requests, 4) << "c, d, the repetition of b, and the count of a";
  EXPECT_EQ(done_, 1);
  ExpectCounts(6, 0, 2);
}

TEST_F(EventSenderFlushTest, RepeatsNothing) {
  Send("a");
  Flush();
  Fail(500);
  executor_.RunAll();
  EXPECT_EQ(done_, 1);
  ExpectCounts(0, 1, 0);
}

TEST_F(EventSenderFlushTest, DropsTheRestAtItsLimit) {
  options_.in_flight = 1;
  Send("a");
  Send("b");
  Send("c");
  Flush();
  RunFor(5 * kSecond - 1);
  EXPECT_EQ(done_, 0);
  RunFor(1);
  EXPECT_EQ(done_, 1);
  ExpectCounts(0, 2, 0);
  EXPECT_EQ(sender().counts().ended, 2U);
  Store();  // The late answer to a.
  executor_.RunAll();
  EXPECT_EQ(open(), 0U);
  EXPECT_EQ(done_, 1);
  ExpectCounts(0, 2, 0);
}

TEST_F(EventSenderTest, IgnoresAnswersAfterItsDestruction) {
  Send("a");
  sender_.reset();
  Store();
  executor_.RunAll();
  EXPECT_EQ(open(), 0U);
}

}  // namespace
}  // namespace berth::host
