// One attempt: a pod, or a group, on its way to a node, as far as Permit.
#include <algorithm>
#include <utility>

#include "host/cycle/fit_error.h"
#include "host/cycle/pod_events.h"
#include "host/cycle/scheduling_loop.h"
#include "host/runtime/run_reserve.h"

namespace berth::host {
namespace {

// As upstream words it. (kube-scheduler: pkg/scheduler/schedule_one_podgroup.go)
constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";
constexpr std::string_view kGroupPreempts = "pod group is waiting for preemption to complete";

void Append(std::vector<PluginId>& plugins, const std::vector<PluginId>& more) {
  plugins.insert(plugins.end(), more.begin(), more.end());
}

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace

// --- a pod --------------------------------------------------------------------------------------

void SchedulingLoop::TryPod(const QueuedEntity& entity) {
  const PodRef pod = entity.pod;
  Profile* profile = ProfileOf(*pod);
  if (profile == nullptr) {
    router_->GiveUp(pod);
    return queue_->Done(pod->uid());
  }
  if (pod->terminating()) return Skip(pod);
  Trial trial = Try(*profile, pod);
  if (trial.reservation == nullptr) return failures_->Handle(pod->uid(), "", *trial.failure);
  EndNomination(trial, trial.reservation->node_name());
  if (trial.failure.has_value()) return trial.reservation->Fail(*std::move(trial.failure));
  sink_.OnAssumed(pod, trial.reservation->node_name());
  Hold(trial).Start();
}

// Nobody keeps room for it any more, and others are told.
void SchedulingLoop::Skip(const PodRef& pod) {
  const std::string why = "skip schedule deleting pod: " + pod->Key();
  queue_->Remove(pod->uid());
  queue_->Done(pod->uid());
  sink_.OnSkipped(pod, why);
  client_.CreateEvent(FailedSchedulingEvent(*pod, why, options_.clock->NowNs()), nullptr);
}

SchedulingLoop::Trial SchedulingLoop::Try(Profile& profile, const PodRef& pod) {
  Trial trial{.pod = pod};
  const Decision decision = profile.scheduler->Decide(pod);
  if (decision.row == kNoRow) {
    trial.failure = ToFailure(profile, decision);
  } else {
    Reserve(profile, decision.row, trial);
  }
  profile.scheduler->attempt().End();
  return trial;
}

void SchedulingLoop::Reserve(Profile& profile, Row row, Trial& trial) {
  Attempt& attempt = profile.scheduler->attempt();
  auto binding = std::make_unique<Binding>(*profile.plan, trial.pod, cache_.table().node(row),
                                           attempt.TakeState());
  auto reservation =
      Reservation::Make({cache_, *queue_, *router_, *failures_, attempt}, row, std::move(binding));
  if (!reservation.ok()) {
    trial.failure = {.message = std::string(reservation.status().message())};
    return;
  }
  trial.reservation = std::move(reservation).value();
  trial.node = trial.reservation->node_name();
  trial.nominated = queue_->nominator().NodeOf(trial.pod->uid());
  queue_->nominator().Remove(trial.pod->uid());
  PluginStatus status = RunReserve(attempt, row);
  if (status.ok()) {
    PermitResult permit = RunPermit(attempt, row);
    status = std::move(permit.status);
    trial.waits = std::move(permit.waits);
  }
  if (!status.ok() && status.code != BERTH_WAIT) trial.failure = ToFailure(profile, status);
}

// Where it was nominated and does not go, that is free.
void SchedulingLoop::EndNomination(const Trial& trial, std::string_view node) {
  if (trial.nominated.empty() || trial.nominated == node) return;
  queue_->nominator().Add(trial.pod, trial.nominated);
  queue_->Nominate(trial.pod, "");
}

BindingCycle& SchedulingLoop::Hold(Trial& trial) {
  const BindingCycle::Env env{*queue_,
                              client_,
                              *options_.clock,
                              timers_,
                              calls_,
                              ids_,
                              sink_,
                              [this](const BindingCycle& ended) {
                                finished_.emplace_back(ended.pod()->uid()); }};
  const auto [place, is_new] = bindings_.emplace(
      trial.pod->uid(),
      std::make_unique<BindingCycle>(env, std::move(trial.reservation), trial.waits));
  BERTH_ASSERT(is_new);
  return *place->second;
}

// --- a group ------------------------------------------------------------------------------------

// (kube-scheduler: pkg/scheduler/schedule_one_podgroup.go; KEP-4671)
void SchedulingLoop::TryGroup(const QueuedGroup& group) {
  const std::string name = group.name;
  std::vector<PodRef> pods;
  for (const QueuedGroup::Member& member : group.members) pods.push_back(member.pod);
  std::vector<Trial> trials;
  if (std::optional<Failure> wrong = WhyNoGroup(pods)) {
    for (const PodRef& pod : pods) trials.push_back({.pod = pod, .failure = wrong});
  } else {
    trials = TryMembers(*ProfileOf(*pods.front()), pods);
  }
  const std::optional<Failure> failure = WhyNot(trials);
  if (failure.has_value()) {
    for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) Withdraw(*trial);
  } else {
    for (const Trial& trial : trials) Commit(trial);
  }
  ReturnGroup(name, trials, failure);
}

std::optional<Failure> SchedulingLoop::WhyNoGroup(const std::vector<PodRef>& pods) const {
  const std::string_view first = interner_.Text(pods.front()->view().scheduler_name);
  for (const PodRef& pod : pods) {
    const std::string_view other = interner_.Text(pod->view().scheduler_name);
    if (other == first) continue;
    return Failure{.message =
                       "all pods in a single pod group should have the same "
                       ".spec.schedulerName set, got: " +
                       Quoted(first) + " and " + Quoted(other)};
  }
  if (ProfileOf(*pods.front()) != nullptr) return std::nullopt;
  return Failure{.message = "no profile has the schedulerName " + Quoted(first) + " any more"};
}

// Each counts with those before it. One that is rejected leaves the others their chance: how many
// it takes is for Permit to say. After an error nobody else is tried.
std::vector<SchedulingLoop::Trial> SchedulingLoop::TryMembers(Profile& profile,
                                                              const std::vector<PodRef>& pods) {
  std::vector<Trial> trials;
  bool goes_on = true;
  for (const PodRef& pod : pods) {
    Trial& trial = trials.emplace_back(goes_on ? Try(profile, pod) : Trial{.pod = pod});
    if (!goes_on) continue;
    for (const PermitWait& wait : trial.waits) {
      trial.waits_for.push_back(IdOf(profile, profile.plan->plugins()[wait.plugin].name));
    }
    if (!trial.failure.has_value()) {
      trial.held = &Hold(trial);  // At once: the Permit of the next may look for those that wait.
      continue;
    }
    Withdraw(trial);
    goes_on = trial.failure->code != BERTH_ERROR;
  }
  WithdrawRejected(trials);
  return trials;
}

// Those that wait may have been rejected by the Permit of another, or because another had to give
// its place back; and this may go on.
void SchedulingLoop::WithdrawRejected(std::vector<Trial>& trials) {
  const auto is_rejected = [](const Trial& trial) {
    return trial.held != nullptr && trial.held->rejection() != nullptr;
  };
  for (auto trial = std::ranges::find_if(trials, is_rejected); trial != trials.end();
       trial = std::ranges::find_if(trials, is_rejected)) {
    trial->failure = *trial->held->rejection();
    Withdraw(*trial);
  }
}

// None: those that have a place go to it.
std::optional<Failure> SchedulingLoop::WhyNot(const std::vector<Trial>& trials) {
  Failure failure{.code = BERTH_UNSCHEDULABLE,
                  .message = std::string(kGroupUnschedulable),
                  .overrides_nomination = false};
  bool is_permitted = false;
  for (const Trial& trial : trials) {
    is_permitted |= trial.held != nullptr && !trial.held->is_waiting();
    if (!trial.failure.has_value()) continue;
    if (trial.failure->code == BERTH_ERROR) {
      return Failure{
          .message = "failed to schedule other pod from a pod group: " + trial.failure->message,
          .overrides_nomination = false};
    }
    if (!trial.failure->nominated_node.empty()) failure.message = kGroupPreempts;
  }
  if (is_permitted && failure.message != kGroupPreempts) return std::nullopt;
  return failure;
}

void SchedulingLoop::Withdraw(Trial& trial) {
  if (trial.held != nullptr) {
    // Out of the map first: what is given back may ask who is in it.
    const auto binding = bindings_.extract(bindings_.find(trial.pod->uid()));
    binding.mapped()->Withdraw();
    trial.held = nullptr;
  } else if (trial.reservation != nullptr) {
    trial.reservation->Withdraw();
    trial.reservation.reset();
  }
  if (!trial.nominated.empty()) queue_->nominator().Add(trial.pod, trial.nominated);
}

void SchedulingLoop::Commit(const Trial& trial) {
  if (trial.held == nullptr) return;
  queue_->TakeFromGroup(trial.pod->uid());
  EndNomination(trial, trial.held->node_name());
  sink_.OnAssumed(trial.pod, trial.held->node_name());
  trial.held->Start();
}

// Those who have no place: with what rejected any of them, or made one that has a place wait.
void SchedulingLoop::ReturnGroup(const std::string& name, const std::vector<Trial>& trials,
                                 const std::optional<Failure>& failure) {
  const auto is_held = [](const Trial& trial) { return trial.held != nullptr; };
  if (std::ranges::all_of(trials, is_held)) return;
  Rejection rejection;
  bool is_error = false;
  for (const Trial& trial : trials) {
    if (is_held(trial)) continue;
    Append(rejection.plugins, trial.waits_for);
    if (!trial.failure.has_value()) continue;
    is_error |= trial.failure->code == BERTH_ERROR;
    Append(rejection.plugins, trial.failure->rejection.plugins);
    Append(rejection.pending, trial.failure->rejection.pending);
  }
  queue_->ReturnGroup(name, is_error ? Rejection() : std::move(rejection));
  for (const Trial& trial : trials) {
    if (is_held(trial)) continue;
    failures_->Tell(trial.pod, trial.node, trial.failure.has_value() ? *trial.failure : *failure);
  }
}

// --- what went wrong ----------------------------------------------------------------------------

Failure SchedulingLoop::ToFailure(const Profile& profile, const Decision& decision) {
  Failure failure{.code = decision.code,
                  .message = decision.message,
                  .rejection = {},
                  .overrides_nomination = decision.overrides_nomination,
                  .nominated_node = decision.nominated_node};
  for (const std::string& name : decision.rejectors.plugins) {
    failure.rejection.plugins.push_back(IdOf(profile, name));
  }
  for (const std::string& name : decision.rejectors.pending) {
    failure.rejection.pending.push_back(IdOf(profile, name));
  }
  std::ranges::sort(failure.rejection.plugins);
  std::ranges::sort(failure.rejection.pending);
  return failure;
}

// Of Reserve and Permit: a rejection is one by this one node.
Failure SchedulingLoop::ToFailure(const Profile& profile, const PluginStatus& status) {
  if (!status.rejected()) return {.message = status.Message()};
  Failure failure{.code = status.code, .message = OneNodeFitError(status.reasons)};
  const PluginId plugin = IdOf(profile, status.plugin);
  (status.code == BERTH_PENDING ? failure.rejection.pending : failure.rejection.plugins) = {plugin};
  return failure;
}

PluginId SchedulingLoop::IdOf(const Profile& profile, std::string_view plugin) {
  return ids_.IdOf(profile.plan->scheduler_name(), plugin);
}

}  // namespace berth::host
