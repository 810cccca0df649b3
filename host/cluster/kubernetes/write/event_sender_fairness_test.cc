// The order in which EventSender sends events that wait, and which of them it drops.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/event_sender_fixture.h"

namespace berth::host {
namespace {

using EventPods = std::vector<std::string>;

class EventSenderFairnessTest : public EventSenderTest {
 protected:
  // Sends an event of the pod in this version: events of two versions are not in one series.
  void SendVersion(const std::string& pod, const std::string& version,
                   const std::string& ns = "default") {
    Event event = MakeEvent(pod);
    event.regarding.resource_version = version;
    event.regarding.ns = ns;
    sender().Send(event);
  }
  // Stores one event after the other. Returns their pods.
  EventPods StoreAll() {
    EventPods pods;
    for (; open() > 0; Store()) pods.push_back(OpenPods().front());
    return pods;
  }
};

TEST_F(EventSenderFairnessTest, DropsTheNewestEventOfAFullQueue) {
  options_.in_flight = 1;
  LimitWaiting(2);
  for (const char* pod : {"a", "b", "c"}) Send(pod);
  ExpectCounts(0, 0, 0);
  Send("d");
  ExpectCounts(0, 1, 0);
  EXPECT_EQ(sender().counts().full, 1U);
  EXPECT_EQ(sender().waiting(), 2U);
  EXPECT_EQ(OpenPods(), (EventPods{"a"}));
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"b"}));
  // An event like the one that was dropped is new to the server.
  Send("d");
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"c"}));
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"d"}));
  EXPECT_FALSE(Body().contains("series"));
}

// A tenant with many pending pods does not delay the event of another one.
TEST_F(EventSenderFairnessTest, NamespacesTakeTurns) {
  options_.in_flight = 1;
  for (const char* pod : {"a", "b", "c", "d"}) Send(pod);
  SendVersion("x", "7", "other");
  EXPECT_EQ(StoreAll(), (EventPods{"a", "b", "x", "c", "d"}));
}

// A flood of one namespace loses its own events, whether the event of the other one waits for a
// connection or for its next try.
TEST_F(EventSenderFairnessTest, FullQueueLosesEventsOfTheLargestNamespace) {
  // As long as "default", so that LimitWaiting() fits.
  const std::string other = "other77";
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails);
    sender_.reset();
    options_.in_flight = 1;
    LimitWaiting(3);
    if (fails) {
      SendVersion("x", "7", other);
      Fail(500);
    }
    for (const char* pod : {"a", "b", "c"}) Send(pod);
    if (!fails) SendVersion("x", "7", other);
    for (const char* pod : {"d", "e", "f"}) Send(pod);
    RunFor(60 * kSecond);
    EXPECT_EQ(StoreAll(), (EventPods{"a", "b", "x", "c"}));
    ExpectCounts(4, 3, 0);
  }
}

// The server has the first event of the pod, whatever happens to its repetitions.
TEST_F(EventSenderFairnessTest, LostRepeatDoesNotMakeTheNextFirst) {
  options_.in_flight = 1;
  LimitWaiting(2);
  Send("a");
  Store();
  Send("b");  // Under way, so that the others wait.
  SendVersion("a", "8");
  Send("c");
  Send("d");  // The repeat is lost.
  ExpectCounts(1, 1, 0);
  Store();  // c is under way, and d waits.
  SendVersion("a", "9");
  Send("e");
  EXPECT_EQ(StoreAll(), (EventPods{"c", "d", "e"})) << "the repeat is lost again, not e";
}

// An older event that is tried again does not displace a newer one, which then is a first event.
TEST_F(EventSenderFairnessTest, NewerEventStaysWhenAnOlderOneReturns) {
  options_.in_flight = 1;
  Send("a");
  Fail(500);
  RunFor(kSecond);
  Send("b");  // Under way, so that the others wait.
  SendVersion("a", "8");
  Send("c");
  RunFor(20 * kSecond);  // The older event of a is to be tried again.
  ExpectCounts(0, 0, 1);
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"c"}));
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"a"}));
  EXPECT_EQ(Body()["regarding"]["resourceVersion"], "8");
  Store();
  EXPECT_EQ(open(), 0U);
}

// The count of a series takes its turn, too.
TEST_F(EventSenderFairnessTest, CountsOfSeriesWaitForTheirTurn) {
  options_.in_flight = 1;
  for (const char* pod : {"a", "a", "b"}) Send(pod);
  SendVersion("x", "7", "other");
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"b"}));
  Store();
  EXPECT_EQ(OpenPods(), (EventPods{"x"}));
  Store();
  ASSERT_EQ(open(), 1U);
  EXPECT_TRUE(transport_.open().at(0).starts_with("PATCH")) << transport_.open().at(0);
}

TEST_F(EventSenderFairnessTest, FirstEventGoesBeforeRepeatsOfAnotherPod) {
  options_.in_flight = 1;
  Send("a");
  Store();
  Send("b");  // Under way, so that the others wait.
  SendVersion("a", "8");
  Send("c");
  EXPECT_EQ(StoreAll(), (EventPods{"b", "c", "a"}));
}

TEST_F(EventSenderFairnessTest, RepeatTakesThePlaceOfOneThatWaits) {
  options_.in_flight = 1;
  Send("a");
  for (const char* version : {"8", "9", "10"}) {
    SendVersion("b", version);
    EXPECT_EQ(sender().waiting(), 1U);
  }
  Event other_reason = MakeEvent("b");
  other_reason.reason = "Preempted";
  sender().Send(other_reason);
  EXPECT_EQ(sender().waiting(), 2U) << "another reason is another event";
  Store();
  EXPECT_EQ(Body()["regarding"]["resourceVersion"], "10");
  Store();
  EXPECT_EQ(Body()["reason"], "Preempted");
  Store();
  EXPECT_EQ(open(), 0U);
  ExpectCounts(3, 0, 2);
}

}  // namespace
}  // namespace berth::host
