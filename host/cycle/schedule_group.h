// The scheduling cycle of a group: all members are decided against one state of the cluster, and
// the group is committed or rolled back as a whole.
//
// kube-scheduler: pkg/scheduler/schedule_one_podgroup.go; KEP-4671
#ifndef BERTH_HOST_CYCLE_SCHEDULE_GROUP_H_
#define BERTH_HOST_CYCLE_SCHEDULE_GROUP_H_

#include <optional>
#include <string>
#include <vector>

#include "host/cycle/cycle_context.h"
#include "host/cycle/profiles.h"
#include "host/cycle/schedule_one.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Threading: the scheduling thread.
// Lifetime:  context and profiles must outlive it.
class GroupCycle {
 public:
  GroupCycle(const CycleContext& context, const Profiles& profiles)
      : context_(context), profiles_(profiles) {}

  // Runs the scheduling cycle of each member in turn; a member counts with the members before it.
  // If at least one member is permitted, and none failed with an error or waits for a preemption,
  // the members that have a node go to their binding cycles. Otherwise all reservations are undone
  // without any effect on the queue and on other pods. The members without a node go
  // back to the queue as the group.
  // REQUIRES: the group is in flight.
  void ScheduleGroup(const QueuedGroup& group);

 private:
  // One member in the group's cycle.
  struct Member {
    CycleResult result;
    BindingCycle* binding = nullptr;            // Not started; null if the member has no node.
    std::vector<PluginId> permit_plugins = {};  // The plugins that make the member wait on Permit.
  };
  using Members = std::vector<Member>;

  // Returns why the group cannot be tried at all, or nullopt if all members name one profile.
  std::optional<Failure> CheckProfile(const std::vector<PodRef>& pods) const;
  Members ScheduleMembers(const Profiles::Profile& profile, const std::vector<PodRef>& pods);
  // Returns why the group as a whole gets no nodes, or nullopt if the members that have a node keep
  // it.
  static std::optional<Failure> GroupFailure(const Members& members);
  void RollBackRejected(Members& members);
  void RollBack(Member& member);
  void Commit(const Member& member);
  void ReturnToQueue(const std::string& name, const Members& members,
                     const std::optional<Failure>& group_failure);

  const CycleContext& context_;
  const Profiles& profiles_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULE_GROUP_H_
