#include "host/cycle/scheduling_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::host {
namespace {

const std::string& QueueSortOf(const Plan& plan) {
  return plan.plugins()[plan.At(Point::kQueueSort).front().plugin].name;
}

std::set<std::string> Union(std::set<std::string> all, const std::set<std::string>& more) {
  all.insert(more.begin(), more.end());
  return all;
}

}  // namespace

// --- construction -------------------------------------------------------------------------------

Result<std::unique_ptr<SchedulingLoop>> SchedulingLoop::Create(Interner& interner, Client& client,
                                                               const PluginCatalog& catalog,
                                                               std::span<const PlanSpec> profiles,
                                                               Options options) {
  BERTH_ASSERT(!profiles.empty() && options.clock != nullptr);
  std::unique_ptr<SchedulingLoop> loop(new SchedulingLoop(interner, client, std::move(options)));
  auto plans = loop->BuildPlans(catalog, profiles);
  if (!plans.ok()) return std::move(plans).status();
  loop->options_.queue.groups = loop->SetHandledFields(catalog);
  loop->Start(std::move(plans).value());
  return loop;
}

SchedulingLoop::SchedulingLoop(Interner& interner, Client& client, Options options)
    : interner_(interner),
      client_(client),
      options_(std::move(options)),
      sink_(options_.sink != nullptr ? *options_.sink : no_sink_),
      inbox_(options_.waker),
      calls_{.on_pool = options_.on_pool,
             .give_up = options_.give_up,
             .post = [this](Inbox::Task task) { inbox_.Push(std::move(task)); },
             .timers = &timers_,
             .now_ns = [this] { return options_.clock->NowNs(); },
             .deadline_ns = options_.bind_deadline_ns},
      cache_(interner),
      faults_({.quarantine = options_.quarantine, .log = options_.log, .clock = options_.clock}),
      services_(MakeServices()),
      fields_({}),
      changes_(cache_),
      policy_(ids_) {}

SchedulingLoop::~SchedulingLoop() {
  if (router_ != nullptr) router_->StopWatches();
  // What a binding gives back goes to cache and queue. Out of the map first: who gives back may ask
  // who is in it.
  while (!bindings_.empty()) bindings_.extract(bindings_.begin());
  for (const auto& profile : profiles_) Drop(*profile);
  for (const auto& profile : retired_) Drop(*profile);
}

HostServices SchedulingLoop::MakeServices() {
  return {.interner = interner_,
          .objects = objects_,
          .log = options_.log,
          .log_level = options_.log_level,
          .post = calls_.post,
          .monitor = options_.monitor,
          .faults = &faults_,
          .scheduler = this,
          .client = &client_,
          .timers = &timers_,
          .clock = options_.clock,
          .plugin_ids = &ids_,
          .metrics = &metrics_};
}

Result<std::vector<std::unique_ptr<Plan>>> SchedulingLoop::BuildPlans(
    const PluginCatalog& catalog, std::span<const PlanSpec> profiles) {
  std::vector<std::unique_ptr<Plan>> plans;
  std::string errors;
  const auto note = [&errors](std::string_view message) {
    if (!errors.empty()) errors += '\n';
    errors += message;
  };
  for (const PlanSpec& spec : profiles) {
    auto plan = Plan::Build(spec, catalog, services_, cache_.table());
    if (!plan.ok()) {
      note(plan.status().message());
      continue;
    }
    for (const auto& other : plans) {
      if (other->scheduler_name() != spec.scheduler_name) continue;
      note("profile " + spec.scheduler_name + ": there are two profiles of this schedulerName");
    }
    plans.push_back(std::move(plan).value());
  }
  for (const auto& plan : plans) {
    const std::string& first = QueueSortOf(*plans.front());
    const std::string& sort = QueueSortOf(*plan);
    if (sort == first) continue;
    note(std::string("profile ")
             .append(plan->scheduler_name())
             .append(": QueueSort: expected \"")
             .append(first)
             .append("\", as in profile ")
             .append(plans.front()->scheduler_name())
             .append(", for all profiles share one queue; found \"")
             .append(sort)
             .append("\""));
  }
  if (!errors.empty()) return Status::InvalidArgument(std::move(errors));
  return plans;
}

// A pod that was refused because there is no node waits for one; one that nobody understands, for a
// change of its own.
std::vector<Interest> SchedulingLoop::HostInterests(std::span<const Plan* const> plans) {
  std::vector<Interest> interests;
  const auto wait_for = [&](const Plan& plan, std::string_view name, uint32_t resource,
                            uint32_t actions) {
    interests.push_back({.plugin = ids_.IdOf(plan.scheduler_name(), name),
                         .index = 0,
                         .resource = resource,
                         .actions = actions,
                         .kind = "",
                         .has_hint = false,
                         .pod_parts = 0});
  };
  for (const Plan* plan : plans) {
    wait_for(*plan, kNoNodes, BERTH_RESOURCE_NODE, BERTH_ACTION_ADD);
    wait_for(*plan, kUnhandledField, BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE);
  }
  return interests;
}

bool SchedulingLoop::SetHandledFields(const PluginCatalog& catalog) {
  const std::set<std::string> handled = HandledPodFields(catalog);
  fields_ = HandledFields(Union(handled, options_.ignored_pod_fields));
  return handled.contains("/spec/schedulingGroup");
}

void SchedulingLoop::Start(std::vector<std::unique_ptr<Plan>> plans) {
  const std::vector<const Plan*> all = SetPolicy(plans);
  order_ = std::make_unique<PluginQueueOrder>(*all.front());
  queue_ = std::make_unique<SchedulingQueue>(policy_, *order_, calls_.now_ns, options_.queue);
  failures_ = std::make_unique<FailureHandler>(*queue_, client_, *options_.clock, sink_);
  EventRouter::Options routes;
  routes.profiles = Install(std::move(plans));
  routes.on_assumed_pod_going = [this](std::string_view uid) {
    if (BindingCycle* binding = FindBinding(uid)) binding->OnPodGoing();
  };
  routes.on_pod_bound = [this](std::string_view uid) {
    if (BindingCycle* binding = FindBinding(uid)) binding->OnPodBound();
  };
  routes.on_contradiction = [this](std::string_view message) { Log(BERTH_LOG_ERROR, message); };
  router_ = std::make_unique<EventRouter>(cache_, objects_, *queue_, std::move(routes));
  router_->StartWatches(client_, KindsWanted());
}

std::vector<const Plan*> SchedulingLoop::SetPolicy(
    const std::vector<std::unique_ptr<Plan>>& plans) {
  std::vector<const Plan*> all;
  all.reserve(plans.size());
  for (const auto& plan : plans) all.push_back(plan.get());
  policy_.SetPlans(all, HostInterests(all));
  return all;
}

std::vector<Id> SchedulingLoop::Install(std::vector<std::unique_ptr<Plan>> plans) {
  std::vector<Id> names;
  for (auto& plan : plans) {
    plan->Begin();
    changes_.AddPlan(*plan);
    const Id name = names.emplace_back(interner_.Intern(plan->scheduler_name()));
    auto scheduler =
        std::make_unique<Scheduler>(*plan, cache_, fields_, queue_->nominator(), options_.seed);
    profiles_.push_back(std::unique_ptr<Profile>(
        new Profile{.plan = std::move(plan), .name = name, .scheduler = std::move(scheduler)}));
  }
  return names;
}

std::vector<std::string> SchedulingLoop::KindsWanted() const {
  std::set<std::string> kinds;
  for (const auto& profile : profiles_) {
    for (const PlannedPlugin& plugin : profile->plan->plugins()) {
      kinds.insert(plugin.instance->info().kinds.begin(), plugin.instance->info().kinds.end());
    }
  }
  kinds.erase(std::string(kNodeKind));
  kinds.erase(std::string(kPodKind));
  return {kinds.begin(), kinds.end()};
}

// --- other profiles -----------------------------------------------------------------------------

Status SchedulingLoop::Reload(const PluginCatalog& catalog, std::span<const PlanSpec> profiles) {
  BERTH_ASSERT(!profiles.empty());
  auto plans = BuildPlans(catalog, profiles);
  if (!plans.ok()) return std::move(plans).status();
  std::ranges::move(profiles_, std::back_inserter(retired_));
  profiles_.clear();
  const std::vector<const Plan*> all = SetPolicy(*plans);
  order_->SetPlan(*all.front());
  std::vector<Id> names = Install(std::move(plans).value());
  queue_->PolicyChanged();
  queue_->SetGroups(SetHandledFields(catalog));
  router_->SetProfiles(std::move(names));
  DropRetired();
  router_->StartWatches(client_, KindsWanted());
  queue_->TryAllAgain();
  return {};
}

bool SchedulingLoop::IsRetired(const Plan& plan) const {
  return std::ranges::any_of(retired_,
                             [&plan](const auto& profile) { return profile->plan.get() == &plan; });
}

void SchedulingLoop::DropRetired() {
  std::erase_if(retired_, [this](const auto& profile) {
    const bool is_needed = std::ranges::any_of(bindings_, [&profile](const auto& binding) {
      return &binding.second->plan() == profile->plan.get();
    });
    if (!is_needed) Drop(*profile);
    return !is_needed;
  });
  std::vector<Id> draining;
  for (const auto& profile : retired_) draining.push_back(profile->name);
  router_->SetDraining(std::move(draining));
}

void SchedulingLoop::Drop(Profile& profile) {
  changes_.RemovePlan(*profile.plan);
  interner_.Release(profile.name);
}

// --- the loop -----------------------------------------------------------------------------------

bool SchedulingLoop::Step() {
  constexpr uint32_t kMaxRounds = 32;
  const bool did = Settle();
  if (stopping_ || !router_->synced()) return did;
  // What was given back or asked for while settling may be what the next pod needs.
  const bool is_settled = later_.empty() && finished_.empty();
  if (!is_settled && ++rounds_ < kMaxRounds) return true;
  rounds_ = 0;
  const QueuedEntity* entity = queue_->Pop();
  if (entity == nullptr) return did;
  if (entity->group != nullptr) {
    TryGroup(*entity->group);
  } else {
    TryPod(*entity);
  }
  return true;
}

bool SchedulingLoop::Settle() {
  const int64_t now = options_.clock->NowNs();
  bool did = inbox_.Drain() > 0;
  did |= timers_.RunDue(now) > 0;
  did |= RunLater();
  did |= DropFinished();
  queue_->Tick();
  TidyUp();
  return did;
}

std::optional<int64_t> SchedulingLoop::NextStepNs() const {
  const bool may_try = !stopping_ && router_->synced();
  if (!later_.empty() || !finished_.empty() || (may_try && queue_->has_ready())) {
    return options_.clock->NowNs();
  }
  std::optional<int64_t> next = timers_.NextNs();
  const std::optional<int64_t> tick = stopping_ ? std::nullopt : queue_->NextTickNs();
  if (!next.has_value() || (tick.has_value() && *tick < *next)) next = tick;
  return next;
}

bool SchedulingLoop::AtRest() const {
  return bindings_.empty() && later_.empty() && inbox_.size() == 0 && !queue_->has_ready() &&
         queue_->CountIn(QueuePlace::kBackoff) == 0;
}

void SchedulingLoop::Stop() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& [uid, binding] : bindings_) binding->Stop();
}

void SchedulingLoop::CancelBindings() {
  for (const auto& [uid, binding] : bindings_) binding->Cancel();
}

// What plugins asked for in the middle of a cycle; what that leads them to ask waits for the next
// round.
bool SchedulingLoop::RunLater() {
  std::vector<std::function<void()>> tasks;
  tasks.swap(later_);
  for (const auto& task : tasks) task();
  return !tasks.empty();
}

// Giving back may end other bindings: until there is none.
bool SchedulingLoop::DropFinished() {
  const bool any = !finished_.empty();
  bool any_retired = false;
  while (!finished_.empty()) {
    const auto ended = bindings_.find(finished_.back());
    finished_.pop_back();
    BERTH_ASSERT(ended != bindings_.end());
    // Out of the map first: what is given back may ask who is in it.
    std::unique_ptr<BindingCycle> binding = std::move(ended->second);
    bindings_.erase(ended);
    if (retired_.empty() || !IsRetired(binding->plan())) continue;
    DropRetiredBinding(std::move(binding));
    any_retired = true;
  }
  if (any_retired) DropRetired();
  return any;
}

// Who rejected it may be gone: it is tried again, if there is anybody who does.
void SchedulingLoop::DropRetiredBinding(std::unique_ptr<BindingCycle> binding) {
  const PodRef pod = binding->pod();
  queue_->Activate(pod->uid());
  binding.reset();
  const PodRef left = queue_->PodOf(pod->uid());
  if (left != nullptr && ProfileOf(*left) == nullptr) router_->GiveUp(left);
}

// What pods bring with them, columns and texts, would pile up. A sweep looks at every text: it
// waits until half of them are of no use, so that each pays for its own.
void SchedulingLoop::TidyUp() {
  constexpr size_t kWorthASweep = 4096;
  cache_.table().DropIdleColumns(options_.idle_column_bytes, options_.idle_columns);
  const size_t unused = interner_.unreferenced();
  if (unused >= kWorthASweep && unused >= interner_.size() / 2) interner_.Sweep();
}

// --- profiles ---------------------------------------------------------------------------------

SchedulingLoop::Profile* SchedulingLoop::ProfileOf(const Pod& pod) const {
  const Id name = pod.view().scheduler_name;
  const auto found = std::ranges::find(profiles_, name, [](const auto& p) { return p->name; });
  return found != profiles_.end() ? found->get() : nullptr;
}

Scheduler* SchedulingLoop::SchedulerFor(const Pod& pod) {
  const Profile* profile = ProfileOf(pod);
  return profile != nullptr ? profile->scheduler.get() : nullptr;
}

void SchedulingLoop::Log(uint32_t level, std::string_view message) const {
  if (options_.log && level >= options_.log_level) options_.log(level, "", message);
}

// --- what plugins ask for -----------------------------------------------------------------------

BindingCycle* SchedulingLoop::FindBinding(std::string_view uid) const {
  const auto found = bindings_.find(uid);
  return found != bindings_.end() ? found->second.get() : nullptr;
}

bool SchedulingLoop::ClearNomination(std::string_view uid) {
  if (queue_->nominator().NodeOf(uid).empty()) return false;
  Later([this, uid = std::string(uid)] {
    const PodRef pod = queue_->PodOf(uid);
    if (pod == nullptr || queue_->nominator().NodeOf(uid).empty()) return;
    queue_->Nominate(pod, "");
    if (pod->nominated_node().empty()) return;
    PodStatusPatch patch;
    patch.nominated_node = "";
    client_.PatchPodStatus(NameOf(*pod), patch, nullptr);
  });
  return true;
}

// Members of a group that is being tried do not wait in the queue: to try them again at once,
// because one of them asked for it, would never end.
void SchedulingLoop::Activate(std::string_view uid) {
  const QueuedEntity* entity = queue_->Find(uid);
  const bool is_tried =
      entity != nullptr && entity->group != nullptr && entity->place == QueuePlace::kInFlight;
  if (is_tried) return;
  Later([this, uid = std::string(uid)] { queue_->Activate(uid); });
}

void SchedulingLoop::EachWaiting(const std::function<bool(const Pod& pod)>& each) const {
  for (const auto& [uid, binding] : bindings_) {
    if (binding->is_waiting() && !each(*binding->pod())) return;
  }
}

bool SchedulingLoop::Allow(std::string_view uid, PluginId plugin) {
  BindingCycle* waiting = FindBinding(uid);
  if (waiting == nullptr || !waiting->is_waiting()) return false;
  waiting->Allow(plugin);
  if (!waiting->is_waiting()) CarryOutLater(uid);
  return true;
}

bool SchedulingLoop::Reject(std::string_view uid, PluginId plugin, std::string_view reason) {
  BindingCycle* waiting = FindBinding(uid);
  if (waiting == nullptr || !waiting->is_waiting()) return false;
  waiting->Reject(plugin, reason);
  CarryOutLater(uid);
  return true;
}

void SchedulingLoop::CarryOutLater(std::string_view uid) {
  Later([this, uid = std::string(uid)] {
    if (BindingCycle* binding = FindBinding(uid)) binding->CarryOut();
  });
}

// A pod that still waits, or prepares, goes back to the queue; any other is deleted.
void SchedulingLoop::Evict(const PodName& pod, std::string_view message, Done done) {
  struct Victim {
    std::string ns, name, uid, message;
  };
  Victim victim{std::string(pod.ns), std::string(pod.name), std::string(pod.uid),
                std::string(message)};
  const bool was_placed = FindBinding(pod.uid) != nullptr;
  Later([this, was_placed, victim = std::move(victim), done = std::move(done)] {
    BindingCycle* binding = FindBinding(victim.uid);
    if (binding != nullptr && binding->Preempt(victim.message)) return done(Status());
    // It has given its place back meanwhile.
    if (binding == nullptr && was_placed && queue_->PodOf(victim.uid) != nullptr) {
      return done(Status());
    }
    const PodName name{victim.ns, victim.name, victim.uid};
    PodStatusPatch patch;
    patch.disruption_target = PodStatusPatch::Condition{.status = BERTH_CONDITION_TRUE,
                                                        .reason = "PreemptionByScheduler",
                                                        .message = victim.message,
                                                        .transition_ns = options_.clock->NowNs()};
    client_.PatchPodStatus(name, patch, nullptr);
    client_.DeletePod(name, std::nullopt, [done](const Status& status) {
      done(status.code() == ErrorCode::kNotFound ? Status() : status);
    });
  });
}

}  // namespace berth::host
