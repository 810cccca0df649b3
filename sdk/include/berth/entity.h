// Entity: names the pods that are one entity of the queue, so that two groups of pods do not
// interleave.
//
//   std::string_view Entity(const berth::Pod& pod) const;   // or std::string
//
//   std::string_view Entity(const berth::Pod& pod) const {
//     return pod.Annotation("example.com/job").value_or("");
//   }
//
// Profiles do not name this point. At most one plugin of a profile may implement it.
//
// Order:     when a pod is taken from the active queue, the active pods of the same entity are
//            taken next, in the order of QueueSort and whatever the priority of others, also those
//            that become active meanwhile, until none of them is active. A pod that is tried again
//            meanwhile waits for its turn. With lanes, an entity is followed within each lane for
//            itself.
// Limits:    pods that are gated, parked or in backoff are not waited for. Each pod has its own
//            attempts and backoff, and a failure of one changes nothing for the others; use Permit
//            and Host::activate for that.
// Called:    when a pod enters the active queue, and when it gets a new version there; not for the
//            members of a PodGroup, which are one entity already.
// Threading: [queue].
// Returns:   a text that names the entity in the pod's namespace; empty: the pod stands alone. A
//            text that is not the pod's own must live as long as the instance.
// Must not:  depend on anything but the pod. Block. A pod stands alone if Entity throws.
#ifndef BERTH_ENTITY_H_
#define BERTH_ENTITY_H_

#include <concepts>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/pod.h>
BERTH_INTERNAL_DETECT(Entity);

namespace berth::internal {

struct EntityPoint {
  static constexpr const char* kId = BERTH_POINT_ENTITY;
  template <class P>
  static constexpr bool kNamed = kHasEntity<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kGivesView = requires(const P& plugin, const Pod& pod) {
      { plugin.Entity(pod) } -> std::same_as<std::string_view>;
    };
    constexpr bool kGivesString = requires(const P& plugin, const Pod& pod) {
      { plugin.Entity(pod) } -> std::same_as<std::string>;
    };
    BERTH_INTERNAL_CHECK_METHOD(Entity, P, (kGivesView || kGivesString),
                                "expected one of\n"
                                "  std::string_view Entity(const berth::Pod& pod) const\n"
                                "  std::string Entity(const berth::Pod& pod) const");
  }

  template <class I>
  struct Table {
    berth_entity abi = {sizeof(berth_entity), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static void Call(void* self, const berth_pod* pod, berth_put_text put, void* to) noexcept {
      const I& instance = *static_cast<I*>(self);
      GuardHint(instance.services, "Entity", [&] {
        const auto& text = instance.plugin().Entity(Pod(*pod));
        put(to, {text.data(), text.size()});
      });
    }
  };
};

}  // namespace berth::internal

#endif  // BERTH_ENTITY_H_
