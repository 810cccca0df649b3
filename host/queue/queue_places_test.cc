#include "host/queue/queue_places.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

class QueuePlacesTest : public ::testing::Test {
 protected:
  using enum QueuePlace;
  static constexpr QueuePlace kEveryPlace[] = {kActive,        kBackoff, kErrorBackoff,
                                               kUnschedulable, kGated,   kInFlight};

  QueueEntry& Make(const std::string& name, int32_t priority = 0) {
    QueueEntry& entry = *entries_.emplace_back(std::make_unique<QueueEntry>());
    entry.entity.pod = MakePod(name, priority);
    entry.entity.SetRejection({.plugins = {1}, .pending = {}});
    entry.entity.rejected_count = 1;
    entry.entity.queued_ns = clock_.NowNs();
    entry.sequence = entries_.size();
    return entry;
  }
  PodRef MakePod(const std::string& name, int32_t priority) {
    return objects_.Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  // Returns a new entity in the place: a group, which may enter anywhere.
  QueueEntry& MakeIn(QueuePlace place, const std::string& name = "a") {
    QueueEntry& entry = Make(name);
    entry.entity.group = std::make_unique<QueuedGroup>();
    Move(entry, place);
    return entry;
  }
  void Move(QueueEntry& entry, QueuePlace to) {
    if (to == kGated) entry.entity.gate = std::make_unique<Gate>(Gate{.plugin = 1});
    places_.Move(entry, to);
    Check();
  }
  // Checks all entries that are in a place.
  void Check() const {
    std::vector<const QueueEntry*> placed;
    for (const auto& entry : entries_) {
      if (entry->is_placed) placed.push_back(entry.get());
    }
    places_.CheckInvariants(placed);
  }

  TestObjects objects_;
  TestOrder order_;
  TestClock clock_;
  Backoff backoff_{kSecond, 10 * kSecond, /*has_windows=*/true};
  InterestTable interests_;
  std::vector<std::unique_ptr<QueueEntry>> entries_;
  QueuePlaces places_{order_, clock_, backoff_, interests_, /*max_logged_events=*/10};
};

TEST_F(QueuePlacesTest, AnEntityMovesOnlyWhereItMay) {
  const std::set<std::pair<QueuePlace, QueuePlace>> allowed = {
      {kActive, kGated},          {kActive, kInFlight},       {kBackoff, kActive},
      {kBackoff, kGated},         {kBackoff, kInFlight},      {kErrorBackoff, kActive},
      {kErrorBackoff, kGated},    {kUnschedulable, kActive},  {kUnschedulable, kGated},
      {kUnschedulable, kBackoff}, {kGated, kActive},          {kGated, kBackoff},
      {kGated, kErrorBackoff},    {kGated, kGated},           {kInFlight, kActive},
      {kInFlight, kBackoff},      {kInFlight, kErrorBackoff}, {kInFlight, kUnschedulable},
      {kInFlight, kGated},
  };
  for (const QueuePlace from : kEveryPlace) {
    for (const QueuePlace to : kEveryPlace) {
      SCOPED_TRACE(std::string(PlaceName(from)).append(" to ").append(PlaceName(to)));
      QueueEntry& entry = MakeIn(from);
      if (allowed.contains({from, to})) {
        Move(entry, to);
        EXPECT_EQ(entry.entity.place, to);
        EXPECT_EQ(places_.CountIn(to), 1U);
        EXPECT_EQ(places_.CountIn(from), from == to ? 1U : 0U);
      } else {
        EXPECT_DEATH(Move(entry, to), "from place");
      }
      places_.Leave(entry);
      Check();
    }
  }
}

TEST_F(QueuePlacesTest, ANewPodEntersActiveOrGated) {
  for (const QueuePlace place : kEveryPlace) {
    SCOPED_TRACE(PlaceName(place));
    QueueEntry& entry = Make("a");
    if (place == kActive || place == kGated) {
      Move(entry, place);
    } else {
      EXPECT_DEATH(Move(entry, place), "group != nullptr");
    }
  }
}

TEST_F(QueuePlacesTest, PlaceSetsTheFieldsThatDependOnIt) {
  QueueEntry& entry = Make("a");
  const int64_t start_ns = clock_.NowNs();
  Move(entry, kGated);
  EXPECT_EQ(entry.entity.first_attempt_ns, 0);
  EXPECT_EQ(entry.parked_ns, start_ns);
  clock_.Advance(kSecond);
  Move(entry, kActive);
  EXPECT_EQ(entry.entity.gate, nullptr);
  EXPECT_EQ(entry.entity.first_attempt_ns, start_ns + kSecond);
  clock_.Advance(kSecond);
  Move(entry, kInFlight);
  EXPECT_TRUE(entry.is_recording);
  Move(entry, kBackoff);
  EXPECT_FALSE(entry.is_recording);
  EXPECT_EQ(entry.entity.backoff_until_ns, backoff_.UntilNs(entry.entity));
  Move(entry, kActive);
  EXPECT_EQ(entry.entity.backoff_until_ns, 0);
  EXPECT_EQ(entry.entity.first_attempt_ns, start_ns + kSecond) << "set only once";
}

TEST_F(QueuePlacesTest, FirstIsNextByOrderOrBackoffEnd) {
  EXPECT_EQ(places_.NextActive(), nullptr);
  QueueEntry& low = Make("low", 1);
  QueueEntry& high = Make("high", 9);
  high.entity.rejected_count = 3;
  Move(low, kActive);
  Move(high, kActive);
  EXPECT_EQ(places_.NextActive(), &high);
  for (QueueEntry* entry : {&low, &high}) {
    Move(*entry, kInFlight);
    Move(*entry, kBackoff);
  }
  EXPECT_EQ(places_.NextActive(), nullptr);
  EXPECT_EQ(places_.FirstBackoff(kBackoff), &low) << "the backoff of the other one ends later";
  EXPECT_EQ(places_.FirstBackoff(kErrorBackoff), nullptr);
  EXPECT_DEATH(places_.FirstBackoff(kGated), "place == ");
  EXPECT_DEATH(places_.FirstBackoff(kActive), "place == ");
}

TEST_F(QueuePlacesTest, UpdateKeepsThePlaceAndMovesWithinIt) {
  for (const QueuePlace place : kEveryPlace) {
    SCOPED_TRACE(PlaceName(place));
    QueueEntry& first = MakeIn(place, "a");
    QueueEntry& second = MakeIn(place, "b");
    places_.Update(second, [&] { second.entity.pod = MakePod("b", 5); });
    Check();
    EXPECT_EQ(second.entity.place, place);
    if (place == kActive) {
      EXPECT_EQ(places_.NextActive(), &second);
    } else if (place == kBackoff || place == kErrorBackoff) {
      EXPECT_EQ(places_.FirstBackoff(place), &second);
    }
    places_.Leave(first);
    places_.Leave(second);
  }
}

TEST_F(QueuePlacesTest, RebuildAppliesTheNewOrder) {
  QueueEntry& low = Make("low", 1);
  QueueEntry& high = Make("high", 9);
  Move(low, kActive);
  Move(high, kActive);
  MakeIn(kUnschedulable, "parked");
  order_.lowest_first = true;
  places_.Rebuild();
  Check();
  EXPECT_EQ(places_.NextActive(), &low);
}

// Only active entities are in lanes.
TEST_F(QueuePlacesTest, EntityHasALaneWhileItIsActive) {
  order_.lane = [](const berth_queued& queued) { return static_cast<uint64_t>(queued.priority); };
  places_.Rebuild();
  QueueEntry& a = Make("a", 7);
  QueueEntry& b = Make("b", 8);
  Move(a, kActive);
  Move(b, kActive);
  EXPECT_EQ(places_.NextActive(), &a);
  EXPECT_THAT(order_.offered, ::testing::ElementsAre("7:1:a", "8:1:b"));
  places_.Update(a, [&] { a.entity.pod = MakePod("a", 9); });
  Check();
  places_.NextActive();
  EXPECT_THAT(order_.offered, ::testing::ElementsAre("7:1:a", "8:1:b")) << "the lane is fixed";
  Move(a, kInFlight);
  Move(a, kBackoff);
  EXPECT_EQ(places_.NextActive(), &b);
  EXPECT_THAT(order_.offered, ::testing::ElementsAre("8:1:b"));
  Move(a, kActive);
  places_.NextActive();
  EXPECT_THAT(order_.offered, ::testing::ElementsAre("8:1:b", "9:1:a")) << "the lane is new";
}

TEST_F(QueuePlacesTest, SplitEntryGetsTheEventsOfTheOther) {
  QueueEntry& group = MakeIn(kInFlight);
  places_.log().Append({.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD}, kAllPlugins);
  QueueEntry& split = Make("b");
  places_.EnterInFlightWith(group, split);
  Check();
  places_.Leave(group);
  Check();
  EXPECT_EQ(places_.CountIn(kInFlight), 1U);
  int events = 0;
  places_.log().Replay(split, kAllPlugins, [&events](const QueueEvent&) { return ++events > 0; });
  EXPECT_EQ(events, 1);
}

}  // namespace
}  // namespace berth::host
