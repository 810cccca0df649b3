// The extension points, in the order in which they are called for a pod.
#ifndef BERTH_INTERNAL_POINTS_H_
#define BERTH_INTERNAL_POINTS_H_

#include <array>
#include <cstddef>
#include <type_traits>

#include <berth/attempt_failed.h>
#include <berth/bind.h>
#include <berth/changes.h>
#include <berth/enqueue_extensions.h>
#include <berth/entity.h>
#include <berth/filter.h>
#include <berth/hand_over.h>
#include <berth/permit.h>
#include <berth/post_bind.h>
#include <berth/post_filter.h>
#include <berth/pre_bind.h>
#include <berth/pre_enqueue.h>
#include <berth/pre_filter.h>
#include <berth/pre_score.h>
#include <berth/queue_sort.h>
#include <berth/reserve.h>
#include <berth/score.h>

namespace berth::internal {

template <class... Point>
struct PointList {
  static constexpr std::size_t kCount = sizeof...(Point);
  // The ids, followed by a null pointer.
  static constexpr std::array<const char*, kCount + 1> kIds = {Point::kId..., nullptr};

  template <class P>
  static constexpr void Check() {
    (Point::template Check<P>(), ...);
  }
};

template <class... Lists>
struct Join;
template <class... A>
struct Join<PointList<A...>> {
  using Type = PointList<A...>;
};
template <class... A, class... B, class... Rest>
struct Join<PointList<A...>, PointList<B...>, Rest...> : Join<PointList<A..., B...>, Rest...> {};

template <class P, class List>
struct Named;
template <class P, class... Point>
struct Named<P, PointList<Point...>>
    : Join<PointList<>,
           std::conditional_t<Point::template kNamed<P>, PointList<Point>, PointList<>>...> {};

using AllPoints =
    PointList<PreEnqueuePoint, EnqueueExtensionsPoint, QueueSortPoint, QueueSortLanesPoint,
              EntityPoint, PreFilterPoint, FilterPoint, PostFilterPoint, PreScorePoint, ScorePoint,
              ReservePoint, PermitPoint, PreBindPoint, BindPoint, PostBindPoint, AttemptFailedPoint,
              ChangesPoint, HandOverPoint>;

// The points for which class P has a method.
template <class P>
using PointsOf = typename Named<P, AllPoints>::Type;

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_POINTS_H_
