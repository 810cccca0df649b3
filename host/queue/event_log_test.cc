#include <deque>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/queue/event_matcher.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

class EventLogTest : public ::testing::Test {
 protected:
  QueueEntry& Make(const std::string& name) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = objects_.Pod({.name = name});
    entry.entity.place = QueuePlace::kInFlight;
    return entry;
  }
  // Returns an event whose number is its action.
  static QueueEvent Event(uint32_t number) {
    return {.resource = BERTH_RESOURCE_NODE, .action = number};
  }
  void Append(const QueueEvent& event, const EntityFilter* filter = nullptr) {
    log_.Append(event, kAllPlugins, filter);
  }
  // Returns the numbers of the replayed events, such as "1 2 3".
  std::string Replayed(const QueueEntry& entry, PluginBits plugins = kAllPlugins) const {
    std::string numbers;
    log_.Replay(entry, plugins, [&](const QueueEvent& event) {
      numbers.append(numbers.empty() ? "" : " ").append(std::to_string(event.action));
      return true;
    });
    return numbers;
  }

  TestObjects objects_;
  std::deque<QueueEntry> entries_;
  EventLog log_{4};
};

TEST_F(EventLogTest, KeepsNothingWhileNoEntityRecords) {
  Append(Event(1));
  EXPECT_EQ(log_.size(), 0U);
}

TEST_F(EventLogTest, ReplaysTheEventsSinceStartInOrder) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  Append(Event(1));
  log_.Start(b);
  Append(Event(2));
  Append(Event(3));
  EXPECT_EQ(Replayed(a), "1 2 3");
  EXPECT_EQ(Replayed(b), "2 3");
  EXPECT_EQ(log_.size(), 3U) << "each event is stored once";
  log_.CheckInvariants();
}

TEST_F(EventLogTest, TheMeterCountsTheEventsThatAreKept) {
  MetricTable table;
  QueueMetrics metrics(table);
  const TestClock clock;
  QueueMeter meter(metrics, clock, kNewestKubeVersion);
  log_.SetMeter(&meter);
  Gauge& added = metrics.inflight_events.With({"NodeAdd"});
  Gauge& popped = metrics.inflight_events.With({"PodPopped"});
  const QueueEvent node_added = Event(BERTH_ACTION_ADD);
  Append(node_added);
  EXPECT_EQ(added.value(), 0) << "no entity records";
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  Append(node_added);
  log_.StartFrom(a, b);
  Append(node_added);
  EXPECT_EQ(added.value(), 2);
  EXPECT_EQ(popped.value(), 2);
  log_.Stop(a);
  EXPECT_EQ(added.value(), 2);
  EXPECT_EQ(popped.value(), 1);
  for (int i = 0; i < 3; ++i) Append(node_added);  // The limit is 4: recording for b stops.
  EXPECT_EQ(added.value(), 0);
  EXPECT_EQ(popped.value(), 0);
}

TEST_F(EventLogTest, ReplayStopsWhenTheCallbackReturnsFalse) {
  QueueEntry& a = Make("a");
  log_.Start(a);
  for (uint32_t i = 1; i <= 3; ++i) Append(Event(i));
  uint32_t last = 0;
  log_.Replay(a, kAllPlugins, [&](const QueueEvent& event) {
    last = event.action;
    return last < 2;
  });
  EXPECT_EQ(last, 2U);
}

TEST_F(EventLogTest, ReplaysOnlyEventsOfTheGivenPlugins) {
  QueueEntry& a = Make("a");
  log_.Start(a);
  log_.Append(Event(1), BitOf(3));
  log_.Append(Event(2), BitOf(4) | BitOf(5));
  log_.AppendFor(a, Event(3), BitOf(6));
  EXPECT_EQ(Replayed(a, BitsOf({.plugins = {3}, .pending = {}})), "1");
  EXPECT_EQ(Replayed(a, BitsOf({.plugins = {5}, .pending = {3}})), "1 2");
  EXPECT_EQ(Replayed(a, BitsOf({.plugins = {}, .pending = {6}})), "3");
  EXPECT_EQ(Replayed(a, BitsOf({.plugins = {7, 8}, .pending = {}})), "");
  EXPECT_EQ(Replayed(a, BitsOf({.plugins = {3 + 64}, .pending = {}})), "1")
      << "plugins 3 and 67 share a bit";
  log_.PolicyChanged();
  EXPECT_EQ(Replayed(a, BitOf(7)), "1 2 3");
}

TEST_F(EventLogTest, DropsEventsThatNoEntityNeeds) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  Append(Event(1));
  log_.Start(b);
  Append(Event(2));
  log_.Stop(a);
  EXPECT_EQ(log_.size(), 1U);
  EXPECT_EQ(Replayed(b), "2");
  log_.Stop(b);
  EXPECT_EQ(log_.size(), 0U);
  log_.Stop(b);
  EXPECT_EQ(log_.recorders(), 0U);
  log_.CheckInvariants();
}

TEST_F(EventLogTest, KeepsEventsForTheOldestRecording) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  Append(Event(1));
  log_.Start(b);
  Append(Event(2));
  log_.Stop(b);
  EXPECT_EQ(Replayed(a), "1 2");
  EXPECT_EQ(log_.size(), 2U);
}

TEST_F(EventLogTest, RecordsAnEventForSomeEntities) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  log_.Start(b);
  const EntityFilter not_a = [](const QueuedEntity& entity) { return entity.pod->name() != "a"; };
  const EntityFilter none = [](const QueuedEntity&) { return false; };
  Append(Event(1), &not_a);
  Append(Event(2), &none);
  log_.AppendFor(a, Event(3), kAllPlugins);
  EXPECT_EQ(Replayed(a), "3");
  EXPECT_EQ(Replayed(b), "1");
  EXPECT_EQ(log_.size(), 2U) << "an event for no entity is not stored";
}

TEST_F(EventLogTest, DropsEventForEntityThatDoesNotRecord) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  log_.AppendFor(b, Event(1), kAllPlugins);
  EXPECT_EQ(log_.size(), 0U);
}

TEST_F(EventLogTest, KeepsObjectsAlive) {
  QueueEntry& a = Make("a");
  log_.Start(a);
  NodeRef node = objects_.Node({.name = "n"});
  Append({.resource = BERTH_RESOURCE_NODE,
          .action = BERTH_ACTION_ADD,
          .before = NodeRef(),
          .after = node});
  const std::weak_ptr<const Node> watched = node;
  node.reset();
  EXPECT_FALSE(watched.expired());
  log_.Stop(a);
  EXPECT_TRUE(watched.expired());
}

TEST_F(EventLogTest, ReplaysAllEventsAtTheLimit) {
  QueueEntry& a = Make("a");
  log_.Start(a);
  for (uint32_t i = 1; i <= 4; ++i) Append(Event(i));
  EXPECT_TRUE(a.is_recording);
  EXPECT_EQ(Replayed(a), "1 2 3 4");
}

TEST_F(EventLogTest, BeyondTheLimitStopsTheOldestRecording) {
  QueueEntry& a = Make("a");
  QueueEntry& b = Make("b");
  log_.Start(a);
  Append(Event(1));
  log_.Start(b);
  for (uint32_t i = 2; i <= 5; ++i) Append(Event(i));
  EXPECT_FALSE(a.is_recording);
  EXPECT_EQ(Replayed(b), "2 3 4 5");
  log_.CheckInvariants();
  Append(Event(6));
  EXPECT_FALSE(b.is_recording);
  EXPECT_EQ(log_.size(), 0U) << "no recording is left";
  log_.Start(a);
  Append(Event(7));
  EXPECT_EQ(Replayed(a), "7");
  log_.CheckInvariants();
}

TEST_F(EventLogTest, ALimitOfZeroKeepsNothing) {
  EventLog log(0);
  QueueEntry& a = Make("a");
  log.Start(a);
  EXPECT_TRUE(a.is_recording);
  log.Append(Event(1), kAllPlugins);
  EXPECT_FALSE(a.is_recording);
  log.CheckInvariants();
}

TEST_F(EventLogTest, StartingTwiceFailsAnAssertion) {
  QueueEntry& a = Make("a");
  log_.Start(a);
  EXPECT_DEATH(log_.Start(a), "is_recording");
}

}  // namespace
}  // namespace berth::host
