// What the queue holds.
#ifndef BERTH_HOST_QUEUE_QUEUED_ENTITY_H_
#define BERTH_HOST_QUEUE_QUEUED_ENTITY_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Who rejected a pod. None of both: an error.
struct Rejection {
  std::vector<PluginId> plugins = {};  // Unschedulable, UnschedulableAndUnresolvable; sorted.
  std::vector<PluginId> pending = {};  // Pending: its own hint skips the backoff; sorted.

  bool empty() const { return plugins.empty() && pending.empty(); }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 reads a 0 into it.
  friend auto operator<=>(const Rejection&, const Rejection&) = default;
};

// Where a pod is that the queue knows. In exactly one place at any time.
enum class QueuePlace : uint8_t {
  kActive,         // Ready to be tried.
  kBackoff,        // Rejected; ready when its time has come, or when nobody else is.
  kErrorBackoff,   // The attempt failed; ready when its time has come.
  kUnschedulable,  // Rejected: waits for an event that its rejectors registered for.
  kGated,          // Held back by PreEnqueue.
  kInFlight,       // Being tried, waiting on Permit, or being bound.
};

// The pods of one spec.schedulingGroup: they wait together, and are tried in one cycle.
struct QueuedGroup {
  struct Member {
    PodRef pod = nullptr;
    uint64_t reported = 0;  // As of an entity.
  };

  std::string name = {};             // "<namespace>/<name>".
  std::vector<Member> members = {};  // The highest priority first, then as they came.
};

// A pod or a group, with what the queue knows of it. The view that plugins get is made from it, so
// that object data and queue data never mix.
struct QueuedEntity {
  PodRef pod = nullptr;  // As the cluster last said it is, in flight too; of a group the first.
  std::unique_ptr<QueuedGroup> group = nullptr;  // Null: a pod.
  QueuePlace place = QueuePlace::kActive;
  uint32_t attempts = 0;
  uint32_t rejected_count = 0;    // Attempts that ended in a rejection: of backoff.
  uint32_t error_count = 0;       // Errors in a row: of error backoff.
  int64_t queued_ns = 0;          // When it last entered the queue.
  int64_t first_attempt_ns = 0;   // When it first became ready; 0: not yet.
  int64_t backoff_until_ns = 0;   // In a backoff; 0: none.
  Rejection rejection = {};       // Of the last attempt, or the plugin that holds it back.
  std::optional<Gate> gate = {};  // Set while gated.
  bool was_flushed = false;       // Nothing but time brought it back last.
  uint64_t reported = 0;          // Hash of what the pod's condition was last told; 0: nothing.

  // Calls each(pod) for the pod, or every member.
  template <class F>
  void ForEachPod(F each) const {
    if (group == nullptr) return each(pod);
    for (const QueuedGroup::Member& member : group->members) each(member.pod);
  }
  // Whether `is` holds for the pod, or for any member.
  template <class F>
  bool AnyPod(F is) const {
    if (group == nullptr) return is(pod);
    return std::ranges::any_of(group->members, is, &QueuedGroup::Member::pod);
  }
  bool Has(std::string_view uid) const {
    return AnyPod([uid](const PodRef& one) { return one->uid() == uid; });
  }

  // What QueueSort sees.
  berth_queued View() const;
  // What hints see, which are asked about each member by itself.
  berth_queued ViewOf(const PodRef& member) const;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUED_ENTITY_H_
