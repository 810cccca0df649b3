// Values in the structs of extension points that this host does not have.
#include "host/loader/plugin_points.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Copies point `id` of a plugin, which is the struct at `point`.
std::optional<LoadError> Copy(const char* id, const void* point, PluginPoints& points) {
  berth_plugin plugin{};
  plugin.self = const_cast<void*>(point);
  plugin.get_point = [](const berth_plugin* self, const char*) noexcept -> const void* {
    return self->self;
  };
  return CopyPoint(plugin, id, &points);
}

// Returns the error of a point with these flags; empty if the point is copied.
template <class T>
std::string ErrorOf(const char* id, T point, uint32_t flags) {
  point.struct_size = sizeof(T);
  point.flags = flags;
  PluginPoints points;
  const auto error = Copy(id, &point, points);
  return error.has_value() ? error->ToString() : "";
}

// Functions of plugins, which no test calls.
template <class Function>
Function Some() {
  return reinterpret_cast<Function>(uintptr_t{8});
}
template <class T, class Member>
T With(Member T::*member) {
  T point{};
  point.*member = Some<Member>();
  return point;
}

struct PointRow {
  const char* id;
  uint32_t known;  // The flags that the point has.
  std::function<std::string(uint32_t flags)> error_of;
};

template <class T>
PointRow RowOf(const char* id, const T& point, uint32_t known = 0) {
  return {id, known, [id, point](uint32_t flags) { return ErrorOf(id, point, flags); }};
}

TEST(PluginPoints, FlagThatPointDoesNotHaveIsRefused) {
  auto filter = With(&berth_filter::filter);
  filter.filter_whole = Some<decltype(filter.filter_whole)>();
  auto reserve = With(&berth_reserve::reserve);
  reserve.unreserve = Some<decltype(reserve.unreserve)>();
  auto lanes = With(&berth_queue_sort_2::key);
  lanes.lane = Some<decltype(lanes.lane)>();
  lanes.next = Some<decltype(lanes.next)>();
  auto hand_over = With(&berth_hand_over::save);
  hand_over.restore = Some<decltype(hand_over.restore)>();
  const PointRow kTable[] = {
      RowOf(BERTH_POINT_PRE_ENQUEUE, With(&berth_pre_enqueue::pre_enqueue)),
      RowOf(BERTH_POINT_ENQUEUE_EXTENSIONS, berth_enqueue_extensions{}),
      RowOf(BERTH_POINT_QUEUE_SORT, With(&berth_queue_sort::key)),
      RowOf(BERTH_POINT_QUEUE_SORT_2, lanes),
      RowOf(BERTH_POINT_ENTITY, With(&berth_entity::entity)),
      RowOf(BERTH_POINT_PRE_FILTER, With(&berth_pre_filter::pre_filter)),
      RowOf(BERTH_POINT_FILTER, filter, BERTH_FILTER_SERIAL | BERTH_FILTER_WHOLE),
      RowOf(BERTH_POINT_POST_FILTER, With(&berth_post_filter::post_filter)),
      RowOf(BERTH_POINT_PRE_SCORE, With(&berth_pre_score::pre_score)),
      RowOf(BERTH_POINT_SCORE, With(&berth_score::score), BERTH_SCORE_SERIAL),
      RowOf(BERTH_POINT_RESERVE, reserve),
      RowOf(BERTH_POINT_PERMIT, With(&berth_permit::permit)),
      RowOf(BERTH_POINT_PRE_BIND, With(&berth_pre_bind::pre_bind), BERTH_PRE_BIND_PARALLEL),
      RowOf(BERTH_POINT_BIND, With(&berth_bind::bind)),
      RowOf(BERTH_POINT_POST_BIND, With(&berth_post_bind::post_bind)),
      RowOf(BERTH_POINT_ATTEMPT_FAILED, With(&berth_attempt_failed::attempt_failed)),
      RowOf(BERTH_POINT_CHANGES, With(&berth_changes::change), BERTH_CHANGES_FLAG_PENDING),
      RowOf(BERTH_POINT_HAND_OVER, hand_over),
  };
  for (const PointRow& row : kTable) {
    SCOPED_TRACE(row.id);
    EXPECT_EQ(row.error_of(0), "");
    EXPECT_EQ(row.error_of(row.known), "");
    for (const uint32_t unknown : {row.known + 1, 0x80000000U}) {
      const std::string flags = row.known == 0   ? "no flags"
                                : row.known == 1 ? "flags within 0x1"
                                                 : "flags within 0x3";
      const std::string found = unknown == 0x80000000U ? "80000000" : std::to_string(unknown);
      EXPECT_EQ(row.error_of(unknown), std::string("expected in ") + row.id + " " + flags +
                                           ", found 0x" + found + " [bad-point]");
    }
  }
}

// --- dependence ----------------------------------------------------------------------------------

struct DependenceRow {
  const char* description;
  uint32_t cluster;
  uint64_t pod_parts;
  bool is_kept;
};

constexpr DependenceRow kDependences[] = {
    {"nothing", 0, 0, true},
    {"the last bit of cluster", BERTH_DEPENDS_OTHER, 0, true},
    {"the first unknown bit of cluster", BERTH_DEPENDS_OTHER * 2, 0, false},
    {"every bit of cluster", UINT32_MAX, 0, false},
    {"the last part", 0, uint64_t{1} << (BERTH_PART_COUNT - 1), true},
    {"every part", 0, (uint64_t{1} << BERTH_PART_COUNT) - 1, true},
    {"the first unknown part", BERTH_DEPENDS_NODE, uint64_t{1} << BERTH_PART_COUNT, false},
    {"the last bit of pod_parts", 0, uint64_t{1} << 63, false},
};

TEST(PluginPoints, AnUnknownDependenceIsLeftOut) {
  for (const DependenceRow& row : kDependences) {
    SCOPED_TRACE(row.description);
    berth_dependence dependence{};
    dependence.struct_size = sizeof dependence;
    dependence.cluster = row.cluster;
    dependence.pod_parts = row.pod_parts;
    auto filter = With(&berth_filter::filter);
    filter.struct_size = sizeof filter;
    filter.dependence = &dependence;
    auto score = With(&berth_score::score);
    score.struct_size = sizeof score;
    score.dependence = &dependence;
    PluginPoints points;
    ASSERT_FALSE(Copy(BERTH_POINT_FILTER, &filter, points).has_value());
    ASSERT_FALSE(Copy(BERTH_POINT_SCORE, &score, points).has_value());
    EXPECT_EQ(points.filter->dependence != nullptr, row.is_kept);
    EXPECT_EQ(points.score->dependence != nullptr, row.is_kept);
    ASSERT_EQ(points.notes.size(), row.is_kept ? 0U : 2U);
    if (row.is_kept) continue;
    EXPECT_EQ(points.notes[0].level, uint32_t{BERTH_LOG_DEBUG});
    EXPECT_EQ(points.notes[0].text.find("the answers of Filter are never reused"), 0U);
    EXPECT_EQ(points.notes[1].text.find("the answers of Score are never reused"), 0U);
  }
}

// --- interests -----------------------------------------------------------------------------------

TEST(PluginPoints, UnknownActionsOfAnInterestAreIgnored) {
  constexpr uint32_t kNewUpdate = BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM << 1;
  const struct {
    const char* description;
    uint32_t given;
    uint32_t kept;
  } kTable[] = {
      {"none", 0, 0},
      {"the last action", BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM,
       BERTH_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM},
      {"the first unknown action", kNewUpdate | BERTH_ACTION_ADD, BERTH_ACTION_ADD},
      {"every update includes those of later versions", BERTH_ACTION_UPDATE, BERTH_ACTION_UPDATE},
      {"every action", BERTH_ACTION_ALL, BERTH_ACTION_ALL},
      {"the highest bit is no action", 0x80000000U | BERTH_ACTION_UPDATE_NODE_LABEL,
       BERTH_ACTION_UPDATE_NODE_LABEL},
      {"every bit", UINT32_MAX, BERTH_ACTION_ALL},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.description);
    const berth_event_interest interest{BERTH_RESOURCE_NODE, row.given, nullptr, 0, 0, 0};
    berth_enqueue_extensions point{};
    point.struct_size = sizeof point;
    point.interests = {&interest, 1, sizeof interest};
    PluginPoints points;
    ASSERT_FALSE(Copy(BERTH_POINT_ENQUEUE_EXTENSIONS, &point, points).has_value());
    EXPECT_EQ(points.interests[0].actions, row.kept);
    EXPECT_THAT(points.notes, IsEmpty());
  }
}

TEST(PluginPoints, UnknownResourceOfAnInterestIsAWarning) {
  std::vector<berth_event_interest> interests;
  for (const uint32_t resource :
       {uint32_t{0}, uint32_t{BERTH_RESOURCE_POD_ANY}, uint32_t{BERTH_RESOURCE_TARGET_POD},
        uint32_t{BERTH_RESOURCE_TARGET_POD} + 1}) {
    interests.push_back({resource, BERTH_ACTION_ALL, nullptr, 0, 0, 0});
  }
  berth_enqueue_extensions point{};
  point.struct_size = sizeof point;
  point.interests = {interests.data(), static_cast<uint32_t>(interests.size()),
                     sizeof(berth_event_interest)};
  PluginPoints points;
  ASSERT_FALSE(Copy(BERTH_POINT_ENQUEUE_EXTENSIONS, &point, points).has_value());
  EXPECT_EQ(points.interests.size(), 4U) << "the indices of the other interests stay the same";
  std::vector<std::string> texts;
  for (const LoadNote& note : points.notes) {
    EXPECT_EQ(note.level, uint32_t{BERTH_LOG_WARN});
    texts.push_back(note.text);
  }
  EXPECT_THAT(texts, ElementsAre("no event occurs for interest 0, because this host does not have "
                                 "resource 0",
                                 "no event occurs for interest 3, because this host does not have "
                                 "resource 19"));
}

}  // namespace
}  // namespace berth::host
