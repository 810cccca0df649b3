#include "hints.h"

#include <cstdint>
#include <vector>

#include <berth/amounts.h>

namespace fit {
namespace {

// The amount of one resource that an object has before and after a change.
struct Compared {
  int64_t before;
  int64_t after;
};

// Returns one entry for each resource that `wanted` requests.
std::vector<Compared> Compare(const berth_resources& wanted, const berth_resources& before,
                              const berth_resources& after) {
  std::vector<Compared> all;
  const auto add = [&all](int64_t want, int64_t old_amount, int64_t new_amount) {
    if (want > 0) all.push_back({old_amount, new_amount});
  };
  add(wanted.milli_cpu, before.milli_cpu, after.milli_cpu);
  add(wanted.memory, before.memory, after.memory);
  add(wanted.ephemeral_storage, before.ephemeral_storage, after.ephemeral_storage);
  for (const berth_quantity& scalar : berth::Span<const berth_quantity>(wanted.scalars)) {
    add(scalar.value, berth::FindAmount(before, scalar.name),
        berth::FindAmount(after, scalar.name));
  }
  return all;
}

// Returns whether the pod uses resources of a node: it is there, or nominated to it.
bool HoldsRoom(const berth_pod& pod) {
  return pod.node_name != BERTH_ID_NONE || pod.nominated_node != BERTH_ID_NONE;
}

// Returns whether the changed pod holds room and now requests less of a resource that `pod`
// requests.
bool Shrank(const berth_pod& pod, const berth_pod& before, const berth_pod& after) {
  if (!HoldsRoom(after)) return false;
  for (const Compared& amount : Compare(*pod.accounted, *before.accounted, *after.accounted)) {
    if (amount.after < amount.before) return true;
  }
  return false;
}

// Returns whether `pod` would fit the node if the node had no pods. kube-scheduler also compares
// ignored resources, so that an added node without an ignored resource does not requeue a pod that
// Filter would accept there. This function leaves ignored resources out.
bool FitsEmpty(berth::Pod pod, const berth_resources& node, const Ignored& ignored,
               const berth::Host& host) {
  const berth_resources& request = pod.request();
  if (node.pods < 1 || request.milli_cpu > node.milli_cpu || request.memory > node.memory ||
      request.ephemeral_storage > node.ephemeral_storage) {
    return false;
  }
  for (const berth_quantity& scalar : pod.scalar_requests()) {
    if (scalar.value > berth::FindAmount(node, scalar.name) &&
        !ignored.Has(host.Text(scalar.name))) {
      return false;
    }
  }
  return true;
}

// Returns whether the node now takes more pods or has more of a resource that `pod` requests.
bool Grew(berth::Pod pod, const berth_resources& before, const berth_resources& after) {
  if (after.pods > before.pods) return true;
  for (const Compared& amount : Compare(pod.request(), before, after)) {
    if (amount.after > amount.before) return true;
  }
  return false;
}

}  // namespace

bool Helps(berth::Pod pod, const berth_event& event, const Ignored& ignored,
           const berth::Host& host) {
  if (const berth_node* const node = berth::NodeIn(event.after)) {
    const berth_node* const old = berth::NodeIn(event.before);
    if (!FitsEmpty(pod, *node->allocatable, ignored, host)) return false;
    return old == nullptr || Grew(pod, *old->allocatable, *node->allocatable);
  }
  const berth_pod* const before = berth::PodIn(event.before);
  if (before == nullptr || event.resource == BERTH_RESOURCE_TARGET_POD) return true;
  const berth_pod* const after = berth::PodIn(event.after);
  if (after != nullptr) return Shrank(*pod, *before, *after);
  return HoldsRoom(*before);
}

}  // namespace fit
