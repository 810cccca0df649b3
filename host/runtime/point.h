// The extension points, as the host counts them.
#ifndef BERTH_HOST_RUNTIME_POINT_H_
#define BERTH_HOST_RUNTIME_POINT_H_

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
  bool served;            // False: a plugin may have it, this host does not call it.
};

inline constexpr std::array<PointInfo, kPointCount> kPoints{{
    {Point::kPreEnqueue, "PreEnqueue", BERTH_POINT_PRE_ENQUEUE, false},
    {Point::kEnqueueExtensions, "EnqueueExtensions", BERTH_POINT_ENQUEUE_EXTENSIONS, false},
    {Point::kQueueSort, "QueueSort", BERTH_POINT_QUEUE_SORT, true},
    {Point::kPreFilter, "PreFilter", BERTH_POINT_PRE_FILTER, true},
    {Point::kFilter, "Filter", BERTH_POINT_FILTER, true},
    {Point::kPostFilter, "PostFilter", BERTH_POINT_POST_FILTER, false},
    {Point::kPreScore, "PreScore", BERTH_POINT_PRE_SCORE, true},
    {Point::kScore, "Score", BERTH_POINT_SCORE, true},
    {Point::kReserve, "Reserve", BERTH_POINT_RESERVE, false},
    {Point::kPermit, "Permit", BERTH_POINT_PERMIT, false},
    {Point::kPreBind, "PreBind", BERTH_POINT_PRE_BIND, false},
    {Point::kBind, "Bind", BERTH_POINT_BIND, true},
    {Point::kPostBind, "PostBind", BERTH_POINT_POST_BIND, false},
    {Point::kChanges, "Changes", BERTH_POINT_CHANGES, false},
}};

constexpr const PointInfo& InfoOf(Point point) { return kPoints[static_cast<size_t>(point)]; }

// By the boundary's id; nullptr for an id that this host does not know.
const PointInfo* FindPoint(std::string_view id);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINT_H_
