#include "host/queue/event_matcher.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The plugins have the interests of TestQueue::DefaultTable().
class EventMatcherTest : public ::testing::Test {
 protected:
  EventMatcherTest() {
    policy_.table = TestQueue::DefaultTable();
    interests_.Build(policy_.table);
  }

  PodRef MakePod(const std::string& name, const std::string& label = "x",
                 const std::string& status = "") {
    return objects_.Pod(
        {.name = name, .meta = R"("labels":{"v":")" + label + "\"}", .status = status});
  }
  QueueEntry& Make(const std::string& name, QueuePlace place, Rejection rejection = {}) {
    QueueEntry& entry = entries_.emplace_back();
    entry.entity.pod = MakePod(name);
    entry.entity.place = place;
    entry.entity.SetRejection(std::move(rejection));
    return entry;
  }
  QueueEntry& Park(const std::string& name, Rejection rejection) {
    QueueEntry& entry = Make(name, QueuePlace::kUnschedulable, std::move(rejection));
    parked_.Add(entry, 1);
    return entry;
  }
  QueueEntry& Record(const std::string& name) {
    QueueEntry& entry = Make(name, QueuePlace::kInFlight);
    log_.Start(entry);
    return entry;
  }
  QueueEvent NodeAdded(const std::string& name) {
    return {.resource = BERTH_RESOURCE_NODE,
            .action = BERTH_ACTION_ADD,
            .before = NodeRef(),
            .after = objects_.Node({.name = name})};
  }
  static QueueEvent PodDeleted() {
    return {.resource = BERTH_RESOURCE_ASSIGNED_POD, .action = BERTH_ACTION_DELETE};
  }
  // Returns the names of the parked pods that the event requeues, with "!" appended for those that
  // skip the backoff.
  std::vector<std::string> Apply(const QueueEvent& event, const EntityFilter* parked = nullptr,
                                 const EntityFilter* in_flight = nullptr) {
    std::vector<ParkedIndex::RequeuedEntry> requeued;
    matcher_.Apply(event, parked, in_flight, requeued);
    std::vector<std::string> names;
    for (const auto& [entry, how] : requeued) {
      EXPECT_NE(how, Requeueing::kSkip);
      names.push_back(std::string(entry->entity.pod->name()) +
                      (how == Requeueing::kImmediately ? "!" : ""));
    }
    return names;
  }
  Requeueing Decide(QueueEntry& entry, Rejection rejection) {
    entry.entity.SetRejection(std::move(rejection));
    return matcher_.DecideAfterAttempt(entry);
  }

  TestObjects objects_;
  TestPolicy policy_;
  InterestTable interests_;
  std::deque<QueueEntry> entries_;
  ParkedIndex parked_{interests_};
  EventLog log_{4};
  EventMatcher matcher_{policy_, interests_, parked_, log_};
};

const EntityFilter kNotA = [](const QueuedEntity& entity) { return entity.pod->name() != "a"; };

TEST_F(EventMatcherTest, TheMeterObservesEachHint) {
  MetricTable table;
  QueueMetrics metrics(table);
  const TestClock clock;
  QueueMeter meter(metrics, clock, kNewestKubeVersion);
  matcher_.SetMeter(&meter);
  Park("a", {.plugins = {1}});
  Park("b", {.plugins = {2}});
  Apply(NodeAdded("helps-1"));
  Apply(NodeAdded("helps-2"));
  Apply(PodDeleted());  // Plugin 2 has no hint for it.
  std::vector<std::string> observed;
  metrics.hint_seconds.ForEach([&](auto values, const Histogram& histogram) {
    if (histogram.Read().buckets[0] == 0) return;
    observed.push_back(values[0] + " " + values[1] + " " + values[2]);
  });
  EXPECT_THAT(observed, ElementsAre("1 NodeAdd Queue", "1 NodeAdd QueueSkip"));
}

TEST_F(EventMatcherTest, EventRequeuesThePodsWhoseRejectorsItHelps) {
  Park("a", {.plugins = {1}});
  Park("b", {.plugins = {2}});
  Park("c", {.plugins = {1}, .pending = {3}});
  Park("d", {.plugins = {5}});
  const struct {
    const char* description;
    QueueEvent event;
    std::vector<std::string> requeued;
  } cases[] = {
      {"the hint of plugin 1 returns true", NodeAdded("helps-1"), {"a", "c"}},
      {"the hint of a pending plugin returns true", NodeAdded("helps-3"), {"c!"}},
      {"no hint returns true", NodeAdded("helps-2"), {}},
      {"plugin 2 has no hint", PodDeleted(), {"b"}},
      {"no plugin registered for the event",
       {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_DELETE},
       {}},
      {"a WILDCARD event", QueueEvent(), {"a", "b", "c", "d"}},
      {"a WILDCARD event for one pod", {.after = MakePod("b")}, {"b"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    EXPECT_THAT(Apply(c.event), ::testing::UnorderedElementsAreArray(c.requeued));
  }
}

TEST_F(EventMatcherTest, AnEventIsRecordedForPodsInFlight) {
  const struct {
    const char* description;
    QueueEvent event;
    Rejection rejection;
    Requeueing how;
  } cases[] = {
      {"the hint returns true", NodeAdded("helps-1"), {.plugins = {1}}, Requeueing::kAfterBackoff},
      {"the hint returns false", NodeAdded("helps-2"), {.plugins = {1}}, Requeueing::kSkip},
      {"another plugin rejected the pod",
       NodeAdded("helps-1"),
       {.plugins = {2}},
       Requeueing::kSkip},
      {"a pending plugin", NodeAdded("helps-3"), {.pending = {3}}, Requeueing::kImmediately},
      {"an error", NodeAdded("helps-2"), {}, Requeueing::kAfterBackoff},
      {"a WILDCARD event", QueueEvent(), {.plugins = {5}}, Requeueing::kAfterBackoff},
      {"a WILDCARD event does not skip the backoff",
       QueueEvent(),
       {.pending = {3}},
       Requeueing::kAfterBackoff},
      {"a WILDCARD event for another pod",
       {.after = MakePod("b")},
       {.plugins = {5}},
       Requeueing::kSkip},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    QueueEntry& entry = Record("a");
    EXPECT_THAT(Apply(c.event), IsEmpty());
    EXPECT_EQ(Decide(entry, c.rejection), c.how);
    log_.Stop(entry);
  }
}

TEST_F(EventMatcherTest, TheEventThatRequeuesSoonestDecides) {
  QueueEntry& entry = Record("a");
  Apply(PodDeleted());
  Apply(NodeAdded("helps-3"));
  EXPECT_EQ(Decide(entry, {.plugins = {2}, .pending = {3}}), Requeueing::kImmediately);
  EXPECT_EQ(Decide(entry, {.plugins = {2}, .pending = {4}}), Requeueing::kAfterBackoff);
}

TEST_F(EventMatcherTest, HintsAreNotCalledOnceDecisionIsFinal) {
  QueueEntry& entry = Record("a");
  Apply(NodeAdded("helps-1"));
  Apply(NodeAdded("helps-1"));
  EXPECT_EQ(Decide(entry, {.plugins = {1}}), Requeueing::kAfterBackoff);
  EXPECT_THAT(policy_.hint_calls, ElementsAre("1:a"));
}

TEST_F(EventMatcherTest, APodThatMissedEventsIsTriedAgain) {
  QueueEntry& entry = Record("a");
  log_.Stop(entry);
  EXPECT_EQ(Decide(entry, {.plugins = {5}}), Requeueing::kAfterBackoff);
}

TEST_F(EventMatcherTest, FiltersLimitTheEntities) {
  Park("a", {.plugins = {2}});
  Park("b", {.plugins = {2}});
  const QueueEvent events[] = {PodDeleted(), QueueEvent()};
  for (const QueueEvent& event : events) {
    SCOPED_TRACE(EventLabel(event, kNewestKubeVersion));
    QueueEntry& a = Record("a");
    QueueEntry& c = Record("c");
    EXPECT_THAT(Apply(event, &kNotA, nullptr), ElementsAre("b"));
    EXPECT_EQ(Decide(a, {.plugins = {2}}), Requeueing::kAfterBackoff);
    log_.Stop(a);
    log_.Start(a);
    EXPECT_THAT(Apply(event, nullptr, &kNotA), UnorderedElementsAre("a", "b"));
    EXPECT_EQ(Decide(a, {.plugins = {2}}), Requeueing::kSkip);
    EXPECT_EQ(Decide(c, {.plugins = {2}}), Requeueing::kAfterBackoff);
    log_.Stop(a);
    log_.Stop(c);
  }
}

TEST_F(EventMatcherTest, RecordForConcernsOneEntity) {
  QueueEntry& a = Record("a");
  QueueEntry& b = Record("b");
  matcher_.RecordFor(a, PodDeleted());
  EXPECT_EQ(Decide(a, {.plugins = {2}}), Requeueing::kAfterBackoff);
  EXPECT_EQ(Decide(a, {.plugins = {5}}), Requeueing::kSkip);
  matcher_.RecordFor(a, QueueEvent());
  EXPECT_EQ(Decide(a, {.plugins = {5}}), Requeueing::kAfterBackoff);
  EXPECT_EQ(Decide(b, {.plugins = {2}}), Requeueing::kSkip);
  const size_t size = log_.size();
  matcher_.RecordFor(a, {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_DELETE});
  EXPECT_EQ(log_.size(), size) << "no plugin registered for the event";
}

TEST_F(EventMatcherTest, ChangeOfPodIsEventForItsRejectors) {
  const PodRef old = MakePod("a");
  const struct {
    const char* description;
    PodRef pod;
    Rejection rejection;
    bool hint;
    Requeueing how;
  } cases[] = {
      {"the hint returns true",
       MakePod("a", "y"),
       {.plugins = {1}},
       true,
       Requeueing::kAfterBackoff},
      {"the hint returns false", MakePod("a", "y"), {.plugins = {1}}, false, Requeueing::kSkip},
      {"the rejector registered for no change of pods",
       MakePod("a", "y"),
       {.plugins = {2}},
       true,
       Requeueing::kSkip},
      {"a pending plugin without a hint",
       MakePod("a", "y"),
       {.pending = {3}},
       false,
       Requeueing::kImmediately},
      {"only the status changed",
       MakePod("a", "x", R"("nominatedNodeName":"n")"),
       {.plugins = {3}},
       true,
       Requeueing::kSkip},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    policy_.hint = [&c](const Interest&, const berth_queued&, const berth_event&) {
      return c.hint;
    };
    QueueEntry& parked = Make("a", QueuePlace::kUnschedulable, c.rejection);
    EXPECT_EQ(matcher_.ApplyPodChange(parked, old, c.pod).how, c.how);
    QueueEntry& in_flight = Record("a");
    EXPECT_EQ(matcher_.ApplyPodChange(in_flight, old, c.pod).how, Requeueing::kSkip);
    EXPECT_EQ(Decide(in_flight, c.rejection), c.how) << "the events are recorded";
    log_.Stop(in_flight);
  }
}

TEST_F(EventMatcherTest, HintsGetEventAndEachMemberOfGroup) {
  QueueEntry& entry = Make("a", QueuePlace::kUnschedulable, {.plugins = {1}});
  entry.entity.group = std::make_unique<QueuedGroup>();
  entry.entity.group->members = {{.pod = MakePod("a")}, {.pod = MakePod("b")}};
  parked_.Add(entry, 1);
  EXPECT_THAT(Apply(NodeAdded("helps-2")), IsEmpty());
  EXPECT_THAT(policy_.hint_calls, ElementsAre("1:a", "1:b"));

  policy_.hint_calls.clear();
  policy_.hint = [](const Interest& interest, const berth_queued&, const berth_event& event) {
    EXPECT_EQ(interest.index, 1U);
    EXPECT_EQ(event.resource, uint32_t{BERTH_RESOURCE_TARGET_POD});
    EXPECT_EQ(event.before.kind, uint32_t{BERTH_KIND_POD});
    EXPECT_EQ(event.after.kind, uint32_t{BERTH_KIND_POD});
    return false;
  };
  matcher_.ApplyPodChange(entry, MakePod("b"), MakePod("b", "y"));
  EXPECT_THAT(policy_.hint_calls, ElementsAre("1:b")) << "the pod that changed";
}

}  // namespace
}  // namespace berth::host
