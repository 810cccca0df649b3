// QueueSort with lanes, as the C++ layer passes it to the host.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "small_host.h"

namespace berth {
namespace {

bool g_has_no_lane = false;  // Lane() throws.

// The largest lane is next.
class Laned : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Laned";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Orders pods in lanes.";

  bool Less(const Queued& a, const Queued& b) const { return a.priority > b.priority; }
  uint64_t Lane(const Queued& queued) const {
    if (g_has_no_lane) throw std::runtime_error("no lane");
    return queued.attempts;
  }
  std::size_t NextLane(const Lanes& lanes) {
    if (lanes.front().count == 7) throw std::runtime_error("an unlucky lane");
    if (lanes.size() == 1) return SIZE_MAX;  // Must not become a valid index.
    std::size_t next = 0;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      if (lanes[i].count > lanes[next].count) next = i;
    }
    return next;
  }
};

// Lanes are read by their stride, because those of a newer host may be larger.
TEST(QueueSortLanes, SelectsALane) {
  testing::SmallHost host;
  testing::SmallInstance laned{kEntryOf<Laned>, host};
  EXPECT_EQ(laned.Point<berth_queue_sort>(BERTH_POINT_QUEUE_SORT), nullptr);
  const auto* point = laned.Point<berth_queue_sort_2>(BERTH_POINT_QUEUE_SORT_2);
  ASSERT_NE(point, nullptr);
  EXPECT_EQ(point->key, nullptr);
  struct Larger {
    berth_lane lane;
    uint64_t more;
  };
  berth_queued queued = {};
  queued.attempts = 5;
  EXPECT_EQ(point->lane(laned.self(), &queued), 5U);
  EXPECT_EQ(point->less(laned.self(), &queued, &queued), 0);
  Larger lanes[] = {{{2, 4, &queued}, 99}, {{5, 9, &queued}, 99}, {{6, 8, &queued}, 99}};
  EXPECT_EQ(point->next(laned.self(), {lanes, 3, sizeof(Larger)}), 1U);
  EXPECT_EQ(point->next(laned.self(), {lanes, 1, sizeof(Larger)}), UINT32_MAX);
  EXPECT_EQ(host.faults, std::vector<std::string>{});
}

TEST(QueueSortLanes, AnExceptionIsReported) {
  testing::SmallHost host;
  testing::SmallInstance laned{kEntryOf<Laned>, host};
  const auto* point = laned.Point<berth_queue_sort_2>(BERTH_POINT_QUEUE_SORT_2);
  berth_queued queued = {};
  queued.attempts = 5;
  g_has_no_lane = true;
  EXPECT_EQ(point->lane(laned.self(), &queued), 0U);
  g_has_no_lane = false;
  const berth_lane unlucky = {2, 7, &queued};
  EXPECT_EQ(point->next(laned.self(), {&unlucky, 1, sizeof unlucky}), 0U);
  EXPECT_EQ(host.faults, (std::vector<std::string>{"Lane: no lane", "NextLane: an unlucky lane"}));
}

}  // namespace
}  // namespace berth
