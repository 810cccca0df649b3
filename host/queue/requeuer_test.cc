#include "host/queue/requeuer.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RequeuerTest : public ::testing::Test {
 protected:
  using enum QueuePlace;

  // A pod that was rejected once, and is in no place.
  QueueEntry& Make(const std::string& name) {
    QueueEntry& entry = *entries_.emplace_back(std::make_unique<QueueEntry>());
    entry.entity.pod = objects_.Pod({.name = name});
    entry.entity.SetRejection({.plugins = {1}, .pending = {}});
    entry.entity.rejected_count = 1;
    entry.entity.queued_ns = clock_.NowNs();
    entry.sequence = entries_.size();
    return entry;
  }
  std::unique_ptr<Requeuer> MakeRequeuer(bool pop_from_backoff) {
    backoff_ = Backoff(kSecond, 10 * kSecond, pop_from_backoff);
    return std::make_unique<Requeuer>(policy_, clock_, backoff_, places_, pop_from_backoff);
  }

  TestObjects objects_;
  TestPolicy policy_;
  TestOrder order_;
  TestClock clock_;
  Backoff backoff_{kSecond, 10 * kSecond, /*has_windows=*/true};
  InterestTable interests_;
  std::vector<std::unique_ptr<QueueEntry>> entries_;
  QueuePlaces places_{order_, clock_, backoff_, interests_, 10};
};

TEST_F(RequeuerTest, PlaceDependsOnRequestTheErrorsAndPreEnqueue) {
  const struct {
    const char* description;
    Requeueing how;
    int64_t waited_ns;
    uint32_t error_count;
    bool is_gated;
    QueuePlace place;
  } cases[] = {
      {"at once", Requeueing::kImmediately, 0, 0, false, kActive},
      {"during its backoff", Requeueing::kAfterBackoff, 0, 0, false, kBackoff},
      {"during its backoff, after an error", Requeueing::kAfterBackoff, 0, 1, false, kErrorBackoff},
      {"at the end of its backoff", Requeueing::kAfterBackoff, kSecond, 0, false, kBackoff},
      {"after its backoff", Requeueing::kAfterBackoff, 2 * kSecond, 0, false, kActive},
      {"PreEnqueue rejects it", Requeueing::kImmediately, 0, 0, true, kGated},
      {"PreEnqueue rejects it during its backoff", Requeueing::kAfterBackoff, 0, 0, true, kGated},
      {"skipped", Requeueing::kSkip, 0, 0, false, kUnschedulable},
      {"skipped: PreEnqueue does not run", Requeueing::kSkip, 0, 0, true, kUnschedulable},
  };
  const auto requeuer = MakeRequeuer(/*pop_from_backoff=*/true);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    QueueEntry& entry = Make("a");
    places_.Move(entry, kActive);
    places_.Move(entry, kInFlight);
    entry.entity.error_count = c.error_count;
    policy_.gated_by.clear();
    if (c.is_gated) policy_.gated_by["a"] = 7;
    clock_.Advance(c.waited_ns);
    requeuer->ParkOrRequeue(entry, c.how);
    EXPECT_EQ(entry.entity.place, c.place);
    EXPECT_EQ(entry.entity.gate != nullptr, c.place == kGated);
    places_.Leave(entry);
  }
}

TEST_F(RequeuerTest, PreEnqueueRunsOnceThroughTheBackoffQueue) {
  for (const bool pop_from_backoff : {true, false}) {
    SCOPED_TRACE(pop_from_backoff);
    const auto requeuer = MakeRequeuer(pop_from_backoff);
    QueueEntry& entry = Make("a");
    places_.Move(entry, kActive);
    places_.Move(entry, kInFlight);
    policy_.pre_enqueue_calls.clear();
    requeuer->Requeue(entry, Requeueing::kAfterBackoff);
    // A pod that can be popped from the backoff queue must have passed PreEnqueue before.
    EXPECT_EQ(policy_.pre_enqueue_calls.size(), pop_from_backoff ? 1U : 0U);
    clock_.Advance(2 * kSecond);
    requeuer->EndBackoffs(kBackoff, clock_.NowNs());
    EXPECT_EQ(entry.entity.place, kActive);
    EXPECT_THAT(policy_.pre_enqueue_calls, ElementsAre("a"));
    places_.Leave(entry);
  }
}

TEST_F(RequeuerTest, EndBackoffsMovesOnlyEntitiesWithExpiredBackoff) {
  const auto requeuer = MakeRequeuer(/*pop_from_backoff=*/true);
  QueueEntry& early = Make("early");
  QueueEntry& late = Make("late");
  late.entity.rejected_count = 3;  // 4 s.
  for (QueueEntry* entry : {&early, &late}) {
    places_.Move(*entry, kActive);
    places_.Move(*entry, kInFlight);
    requeuer->Requeue(*entry, Requeueing::kAfterBackoff, /*was_flushed=*/true);
    EXPECT_EQ(entry->entity.place, kBackoff);
  }
  clock_.Advance(2 * kSecond);
  requeuer->EndBackoffs(kErrorBackoff, clock_.NowNs());
  EXPECT_EQ(early.entity.place, kBackoff) << "the other queue was meant";
  requeuer->EndBackoffs(kBackoff, clock_.NowNs());
  EXPECT_EQ(early.entity.place, kActive);
  EXPECT_TRUE(early.entity.was_flushed) << "the end of a backoff is no reason of its own";
  EXPECT_EQ(late.entity.place, kBackoff);
}

TEST_F(RequeuerTest, GatedEntityRecordsPluginAskedFirstNextTime) {
  const auto requeuer = MakeRequeuer(/*pop_from_backoff=*/true);
  QueueEntry& entry = Make("a");
  EXPECT_FALSE(requeuer->GateIfPreEnqueueRejects(entry));
  EXPECT_FALSE(entry.is_placed);
  policy_.gated_by["a"] = 7;
  requeuer->Requeue(entry, Requeueing::kImmediately, /*was_flushed=*/true);
  EXPECT_EQ(entry.entity.place, kGated);
  EXPECT_THAT(entry.entity.rejection().plugins, ElementsAre(7U));
  EXPECT_THAT(entry.entity.rejection().pending, IsEmpty());
  EXPECT_FALSE(entry.entity.was_flushed);
  policy_.pre_enqueue_calls.clear();
  policy_.gated_by.clear();
  requeuer->Requeue(entry, Requeueing::kImmediately);
  EXPECT_THAT(policy_.pre_enqueue_calls, ElementsAre("a first 7"));
  EXPECT_EQ(entry.entity.place, kActive);
}

TEST_F(RequeuerTest, EachMoveIsCountedWithItsCause) {
  MetricTable table;
  QueueMetrics metrics(table);
  QueueMeter meter(metrics, clock_, kNewestKubeVersion);
  const auto requeuer = MakeRequeuer(/*pop_from_backoff=*/true);
  EXPECT_FALSE(requeuer->has_meter());
  requeuer->SetMeter(&meter);
  EXPECT_TRUE(requeuer->has_meter());
  QueueEntry& entry = Make("a");
  requeuer->SetCauseAdded();
  requeuer->Requeue(entry, Requeueing::kImmediately);
  places_.Move(entry, kInFlight);
  requeuer->SetCause(QueueEvent{.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD});
  requeuer->Requeue(entry, Requeueing::kAfterBackoff);
  clock_.Advance(2 * kSecond);
  requeuer->EndBackoffs(kBackoff, clock_.NowNs());
  std::vector<std::string> counted;
  metrics.incoming_pods.ForEach([&](auto values, const Counter& counter) {
    counted.push_back(std::string(values[0]) + " " + std::string(values[1]) + " " +
                      std::to_string(counter.value()));
  });
  EXPECT_THAT(counted, ElementsAre("active BackoffComplete 1", "active UnscheduledPodAdd 1",
                                   "backoff NodeAdd 1"));
}

}  // namespace
}  // namespace berth::host
