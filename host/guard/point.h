// The extension points.
#ifndef BERTH_HOST_GUARD_POINT_H_
#define BERTH_HOST_GUARD_POINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

// The extension points, in the order in which they run for a pod.
enum class Point : uint8_t {
  kPreEnqueue,
  kEnqueueExtensions,
  kQueueSort,
  kEntity,
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
  kAttemptFailed,
  kChanges,
  kHandOver,
};
inline constexpr size_t kPointCount = static_cast<size_t>(Point::kHandOver) + 1;

struct PointInfo {
  Point point;
  std::string_view name;           // The name in profiles, messages and metrics: "Filter".
  const char* id;                  // The id at the boundary: "berth.filter/1".
  const char* newer_id = nullptr;  // The id of its second revision; null if it has none.
};

inline constexpr std::array<PointInfo, kPointCount> kPoints{{
    {Point::kPreEnqueue, "PreEnqueue", BERTH_POINT_PRE_ENQUEUE},
    {Point::kEnqueueExtensions, "EnqueueExtensions", BERTH_POINT_ENQUEUE_EXTENSIONS},
    {Point::kQueueSort, "QueueSort", BERTH_POINT_QUEUE_SORT, BERTH_POINT_QUEUE_SORT_2},
    {Point::kEntity, "Entity", BERTH_POINT_ENTITY},
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
    {Point::kAttemptFailed, "AttemptFailed", BERTH_POINT_ATTEMPT_FAILED},
    {Point::kChanges, "Changes", BERTH_POINT_CHANGES},
    {Point::kHandOver, "HandOver", BERTH_POINT_HAND_OVER},
}};

constexpr const PointInfo& InfoOf(Point point) { return kPoints[static_cast<size_t>(point)]; }

// Returns whether profiles name the point. The others are used whenever a plugin implements them.
constexpr bool IsNamed(Point point) {
  return point != Point::kEnqueueExtensions && point != Point::kEntity &&
         point != Point::kAttemptFailed && point != Point::kChanges && point != Point::kHandOver;
}

// Values of Point for calls outside extension points, and for no call (kNoCall).
// kCallback: a callback that a plugin passed to a service. kCycleState: a function of a slot.
// kLoad: create(), quiesce() and destroy().
inline constexpr Point kCallback = static_cast<Point>(kPointCount);
inline constexpr Point kCycleState = static_cast<Point>(kPointCount + 1);
inline constexpr Point kLoad = static_cast<Point>(kPointCount + 2);
inline constexpr Point kNoCall = static_cast<Point>(UINT8_MAX);

// Returns the name of the point ("Filter"), or "callback", "cycle state", "load" or "nowhere".
constexpr std::string_view NameOf(Point point) {
  if (point == kCallback) return "callback";
  if (point == kCycleState) return "cycle state";
  if (point == kLoad) return "load";
  return point == kNoCall ? "nowhere" : InfoOf(point).name;
}

// Returns the point with this id at the boundary, of any revision; null for an id that does not
// exist in this host.
const PointInfo* FindPoint(std::string_view id);

// Returns those of the ids whose functions this host calls: of several revisions of a point, only
// the newest.
std::vector<std::string> CalledPoints(std::span<const std::string> ids);

// Returns the names of the points with these ids, each once, in the order of the ids. An id that
// does not exist in this host is its own name.
std::vector<std::string> PointNames(std::span<const std::string> ids);

// Returns whether one of the ids, those of a plugin's points, is an id of the point.
bool HasPoint(std::span<const std::string> ids, Point point);

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_POINT_H_
