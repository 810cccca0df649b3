#include "host/cycle/schedule_group.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/text.h"
#include "host/cycle/binding_cycle.h"
#include "host/cycle/failure_handler.h"

namespace berth::host {
namespace {

// The messages of kube-scheduler. (pkg/scheduler/schedule_one_podgroup.go)
constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";
constexpr std::string_view kGroupPreempts = "pod group is waiting for preemption to complete";

void Append(std::vector<PluginId>& plugins, const std::vector<PluginId>& more) {
  plugins.insert(plugins.end(), more.begin(), more.end());
}

}  // namespace

void GroupCycle::ScheduleGroup(const QueuedGroup& group) {
  const std::string name = group.name;
  std::vector<PodRef> pods;
  for (const QueuedGroup::Member& member : group.members) pods.push_back(member.pod);
  Members members;
  if (const std::optional<Failure> failure = CheckProfile(pods)) {
    for (const PodRef& pod : pods) members.push_back({.result = {.pod = pod, .failure = failure}});
  } else {
    members = ScheduleMembers(*profiles_.Find(*pods.front()), pods);
  }
  const std::optional<Failure> group_failure = GroupFailure(members);
  if (group_failure.has_value()) {
    for (auto member = members.rbegin(); member != members.rend(); ++member) RollBack(*member);
  } else {
    for (const Member& member : members) Commit(member);
  }
  ReturnToQueue(name, members, group_failure);
}

std::optional<Failure> GroupCycle::CheckProfile(const std::vector<PodRef>& pods) const {
  const std::string_view first = context_.interner.Text(pods.front()->view().scheduler_name);
  for (const PodRef& pod : pods) {
    const std::string_view other = context_.interner.Text(pod->view().scheduler_name);
    if (other == first) continue;
    return Failure{.message =
                       "all pods in a single pod group should have the same "
                       ".spec.schedulerName set, got: " +
                       Quoted(first, first.size()) + " and " + Quoted(other, other.size())};
  }
  if (profiles_.Find(*pods.front()) != nullptr) return std::nullopt;
  return Failure{.message = "no profile has the schedulerName " + Quoted(first, first.size()) +
                            " any more"};
}

// After a rejection the next member is tried nevertheless: the Permit plugins decide how many
// members are enough. After an error the other members are not tried.
GroupCycle::Members GroupCycle::ScheduleMembers(const Profiles::Profile& profile,
                                                const std::vector<PodRef>& pods) {
  Members members;
  bool has_error = false;
  for (const PodRef& pod : pods) {
    if (has_error) {
      members.push_back({.result = {.pod = pod}});
      continue;
    }
    Member& member = members.emplace_back(Member{.result = profile.cycle->Run(pod)});
    CycleResult& result = member.result;
    for (const PermitWait& wait : result.waits) {
      member.permit_plugins.push_back(profile.plan->plugins()[wait.plugin].id);
    }
    if (!result.failure.has_value()) {
      // The binding is added at once, because the Permit plugins of the next member may list the
      // waiting pods.
      member.binding = &context_.waiting_pods.Add(std::move(result.reservation), result.waits);
      continue;
    }
    RollBack(member);
    has_error = result.failure->code == BERTH_ERROR;
  }
  RollBackRejected(members);
  return members;
}

// A Permit plugin may have rejected members that wait, and the undoing of a reservation may make
// Unreserve reject further ones.
void GroupCycle::RollBackRejected(Members& members) {
  const auto is_rejected = [](const Member& member) {
    return member.binding != nullptr && member.binding->rejection() != nullptr;
  };
  for (auto member = std::ranges::find_if(members, is_rejected); member != members.end();
       member = std::ranges::find_if(members, is_rejected)) {
    member->result.failure = *member->binding->rejection();
    RollBack(*member);
  }
}

std::optional<Failure> GroupCycle::GroupFailure(const Members& members) {
  Failure group_failure{.code = BERTH_UNSCHEDULABLE,
                        .message = std::string(kGroupUnschedulable),
                        .overrides_nomination = false};
  bool is_permitted = false;
  for (const Member& member : members) {
    is_permitted |= member.binding != nullptr && !member.binding->is_waiting();
    const std::optional<Failure>& failure = member.result.failure;
    if (!failure.has_value()) continue;
    if (failure->code == BERTH_ERROR) {
      return Failure{
          .message = "failed to schedule other pod from a pod group: " + failure->message,
          .overrides_nomination = false};
    }
    if (!failure->nominated_node.empty()) group_failure.message = kGroupPreempts;
  }
  if (is_permitted && group_failure.message != kGroupPreempts) return std::nullopt;
  return group_failure;
}

void GroupCycle::RollBack(Member& member) {
  if (member.binding != nullptr) {
    context_.waiting_pods.RollBack(member.result.pod->uid());
    member.binding = nullptr;
  }
  host::RollBack(context_.queue, member.result);
}

void GroupCycle::Commit(const Member& member) {
  if (member.binding == nullptr) return;
  context_.queue.SplitFromGroup(member.result.pod->uid());
  EndFormerNomination(context_.queue, member.result);
  context_.sink.OnAssumed(member.result.pod, member.result.node);
  member.binding->Start();
}

// The group waits for the events of all plugins that rejected a member, and of those that made a
// member wait which then lost its node.
void GroupCycle::ReturnToQueue(const std::string& name, const Members& members,
                               const std::optional<Failure>& group_failure) {
  const auto has_node = [](const Member& member) { return member.binding != nullptr; };
  if (std::ranges::all_of(members, has_node)) return;
  Rejection rejection;
  bool is_error = false;
  bool is_slow = false;
  for (const Member& member : members) {
    if (has_node(member)) continue;
    Append(rejection.plugins, member.permit_plugins);
    const std::optional<Failure>& failure = member.result.failure;
    if (!failure.has_value()) continue;
    is_error |= failure->code == BERTH_ERROR;
    is_slow |= failure->is_slow;
    Append(rejection.plugins, failure->rejection.plugins);
    Append(rejection.pending, failure->rejection.pending);
    Append(rejection.awaited, failure->rejection.awaited);
  }
  context_.queue.ReturnGroup(name, is_error ? Rejection() : std::move(rejection), is_slow);
  for (const Member& member : members) {
    if (has_node(member)) continue;
    const CycleResult& result = member.result;
    context_.failures.Report(result.pod, result.node,
                             result.failure.has_value() ? *result.failure : *group_failure);
  }
}

}  // namespace berth::host
