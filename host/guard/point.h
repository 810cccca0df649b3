// The extension points, as the host counts them.
#ifndef BERTH_HOST_GUARD_POINT_H_
#define BERTH_HOST_GUARD_POINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>

namespace berth::host {

// In the order in which a pod meets them.
enum class Point : uint8_t {
  kPreEnqueue,
  kEnqueueExtensions,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kChanges,
};
inline constexpr size_t kPointCount = 14;

struct PointInfo {
  Point point;
  std::string_view name;  // "Filter": in profiles, messages and metrics.
  const char* id;         // "berth.filter/1": at the boundary.
};

inline constexpr std::array<PointInfo, kPointCount> kPoints{{
    {Point::kPreEnqueue, "PreEnqueue", BERTH_POINT_PRE_ENQUEUE},
    {Point::kEnqueueExtensions, "EnqueueExtensions", BERTH_POINT_ENQUEUE_EXTENSIONS},
    {Point::kQueueSort, "QueueSort", BERTH_POINT_QUEUE_SORT},
    {Point::kPreFilter, "PreFilter", BERTH_POINT_PRE_FILTER},
    {Point::kFilter, "Filter", BERTH_POINT_FILTER},
    {Point::kPostFilter, "PostFilter", BERTH_POINT_POST_FILTER},
    {Point::kPreScore, "PreScore", BERTH_POINT_PRE_SCORE},
    {Point::kScore, "Score", BERTH_POINT_SCORE},
    {Point::kReserve, "Reserve", BERTH_POINT_RESERVE},
    {Point::kPermit, "Permit", BERTH_POINT_PERMIT},
    {Point::kPreBind, "PreBind", BERTH_POINT_PRE_BIND},
    {Point::kBind, "Bind", BERTH_POINT_BIND},
    {Point::kPostBind, "PostBind", BERTH_POINT_POST_BIND},
    {Point::kChanges, "Changes", BERTH_POINT_CHANGES},
}};

constexpr const PointInfo& InfoOf(Point point) { return kPoints[static_cast<size_t>(point)]; }

// Whether profiles name it: the others come with a plugin.
constexpr bool IsNamed(Point point) {
  return point != Point::kEnqueueExtensions && point != Point::kChanges;
}

// Not points: where else a plugin is called, and no call at all.
inline constexpr Point kCallback = static_cast<Point>(kPointCount);  // What it gave to a service.
inline constexpr Point kCycleState = static_cast<Point>(kPointCount + 1);  // Its slots' functions.
inline constexpr Point kLoad = static_cast<Point>(kPointCount + 2);        // create() to destroy().
inline constexpr Point kNowhere = static_cast<Point>(UINT8_MAX);

// "Filter", or "callback" and the like.
constexpr std::string_view NameOf(Point point) {
  if (point == kCallback) return "callback";
  if (point == kCycleState) return "cycle state";
  if (point == kLoad) return "load";
  return point == kNowhere ? "nowhere" : InfoOf(point).name;
}

// By the boundary's id; nullptr for an id that this host does not know.
const PointInfo* FindPoint(std::string_view id);

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_POINT_H_
