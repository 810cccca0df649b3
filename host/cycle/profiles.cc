#include "host/cycle/profiles.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "host/base/assert.h"
#include "host/runtime/points/run_hand_over.h"

namespace berth::host {
namespace {

const std::string& QueueSortOf(const Plan& plan) {
  return plan.plugins()[plan.At(Point::kQueueSort).front().plugin].name;
}

// Error texts, one per line.
class Errors {
 public:
  void Add(std::string_view message) {
    if (!text_.empty()) text_ += '\n';
    text_ += message;
  }
  Status ToStatus() && {
    return text_.empty() ? Status() : Status::InvalidArgument(std::move(text_));
  }

 private:
  std::string text_;
};

// All profiles share one queue, which needs one order.
void CheckQueueSort(const Plan& first, const Plan& plan, Errors& errors) {
  const std::string& expected = QueueSortOf(first);
  const std::string& found = QueueSortOf(plan);
  if (found == expected) return;
  errors.Add(std::string("profile ")
                 .append(plan.scheduler_name())
                 .append(": QueueSort: expected \"")
                 .append(expected)
                 .append("\", as in profile ")
                 .append(first.scheduler_name())
                 .append(", because all profiles share one queue, found \"")
                 .append(found)
                 .append("\""));
}

}  // namespace

Profiles::Profiles(const CycleContext& context, HostServices& services, PluginQueuePolicy& policy,
                   PluginQueueOrder& order, Options options)
    : context_(context),
      services_(services),
      policy_(policy),
      order_(order),
      options_(std::move(options)),
      rejectors_(services.plugin_ids),
      fields_({}),
      changes_(context.cache, &context.queue) {}

Profiles::~Profiles() {
  for (const auto& profile : active_) Drop(*profile);
  for (const auto& profile : retired_) Drop(*profile);
}

// --- loading ------------------------------------------------------------------------------------

Status Profiles::Load(const PluginCatalog& catalog, std::span<const PlanSpec> specs) {
  BERTH_ASSERT(!specs.empty());
  auto next = Build(catalog, specs);
  if (!next.ok()) return std::move(next).status();
  HandOver(*next);
  ConfigureQueue(*next);
  Replace(std::move(next).value());
  may_drop_ = true;
  context_.queue.PolicyChanged();
  context_.queue.SetGroups(SetHandledFields(catalog));
  std::vector<Id> names;
  for (const auto& profile : active_) names.push_back(profile->name);
  context_.router.SetProfiles(std::move(names));
  RejectPodsOfDisabledPlugins();
  DropUnusedRetired();
  context_.queue.RequeueAll();
  return {};
}

Result<Profiles::NextProfiles> Profiles::Build(const PluginCatalog& catalog,
                                               std::span<const PlanSpec> specs) const {
  NextProfiles all;
  Errors errors;
  for (const PlanSpec& spec : specs) {
    auto next = BuildOne(catalog, spec);
    if (!next.ok()) {
      errors.Add(next.status().message());
      continue;
    }
    for (const Next& other : all) {
      if (other.plan().scheduler_name() != spec.scheduler_name) continue;
      errors.Add("profile " + spec.scheduler_name +
                 ": there are two profiles of this schedulerName");
    }
    all.push_back(std::move(next).value());
  }
  for (const Next& next : all) CheckQueueSort(all.front().plan(), next.plan(), errors);
  if (Status status = std::move(errors).ToStatus(); !status.ok()) return status;
  return all;
}

Result<Profiles::Next> Profiles::BuildOne(const PluginCatalog& catalog,
                                          const PlanSpec& spec) const {
  Profile* const active = FindActive(spec.scheduler_name);
  const Plan* previous = active != nullptr ? active->plan.get() : nullptr;
  if (previous != nullptr && previous->IsUpToDate(spec, catalog)) {
    return Next{.kept = active, .built = nullptr};
  }
  auto plan = Plan::Build(spec, catalog, services_, context_.cache.table(), previous);
  if (!plan.ok()) return std::move(plan).status();
  return Next{.kept = nullptr, .built = std::move(plan).value()};
}

Profiles::Profile* Profiles::FindActive(std::string_view scheduler_name) const {
  const auto found = std::ranges::find_if(active_, [scheduler_name](const auto& profile) {
    return profile->plan->scheduler_name() == scheduler_name;
  });
  return found != active_.end() ? found->get() : nullptr;
}

// Each state lives only until its successor has it: states may be large.
void Profiles::HandOver(const NextProfiles& next) const {
  for (const Next& each : next) {
    if (each.kept != nullptr) continue;
    const Profile* previous = FindActive(each.built->scheduler_name());
    if (previous != nullptr) RunHandOver(*previous->plan, *each.built);
  }
}

void Profiles::ConfigureQueue(const NextProfiles& next) {
  std::vector<const Plan*> all;
  all.reserve(next.size());
  for (const Next& each : next) all.push_back(&each.plan());
  const auto host_interests = rejectors_.interests();
  policy_.SetPlans(all, {host_interests.begin(), host_interests.end()});
  order_.SetPlans(all);
}

void Profiles::Replace(NextProfiles next) {
  std::vector<std::unique_ptr<Profile>> before = std::exchange(active_, {});
  for (Next& each : next) {
    if (each.kept == nullptr) {
      active_.push_back(Activate(std::move(each.built)));
      continue;
    }
    const auto kept = std::ranges::find(before, each.kept, &std::unique_ptr<Profile>::get);
    active_.push_back(std::move(*kept));
    before.erase(kept);
  }
  std::ranges::move(before, std::back_inserter(retired_));
}

std::unique_ptr<Profiles::Profile> Profiles::Activate(std::unique_ptr<Plan> plan) {
  plan->Begin();
  changes_.AddPlan(*plan);
  const Id name = context_.interner.Intern(plan->scheduler_name());
  auto cycle = std::make_unique<SchedulingCycle>(*plan, context_, fields_, rejectors_,
                                                 options_.seed, attempts_);
  return std::unique_ptr<Profile>(
      new Profile{.plan = std::move(plan), .name = name, .cycle = std::move(cycle)});
}

// Returns true if a plugin handles groups.
bool Profiles::SetHandledFields(const PluginCatalog& catalog) {
  std::set<std::string> fields = HandledPodFields(catalog);
  const bool has_groups = fields.contains("/spec/schedulingGroup");
  fields.insert(options_.ignored_pod_fields.begin(), options_.ignored_pod_fields.end());
  fields_ = HandledFields(std::move(fields));
  return has_groups;
}

std::vector<std::string> Profiles::WatchedKinds() const {
  std::set<std::string> kinds;
  for (const auto* profiles : {&active_, &retired_}) {
    for (const auto& profile : *profiles) {
      for (const PlannedPlugin& plugin : profile->plan->plugins()) {
        kinds.insert(plugin.instance->info().kinds.begin(), plugin.instance->info().kinds.end());
      }
    }
  }
  return {kinds.begin(), kinds.end()};
}

bool Profiles::RunsAtPermit(PluginId plugin) const {
  return std::ranges::any_of(active_, [plugin](const auto& profile) {
    const Plan& plan = *profile->plan;
    return std::ranges::any_of(plan.At(Point::kPermit), [&](const PlannedUse& use) {
      return plan.plugins()[use.plugin].id == plugin;
    });
  });
}

// The other pods that such a pod waits for, and the plugin's answer, may never come: new pods do
// not reach the plugin any more.
void Profiles::RejectPodsOfDisabledPlugins() {
  for (const auto& [uid, binding] : context_.waiting_pods.all()) {
    const Plan& plan = binding->plan();
    for (const PlannedUse& use : plan.At(Point::kPermit)) {
      const PlannedPlugin& plugin = plan.plugins()[use.plugin];
      if (!binding->WaitsFor(plugin.id) || RunsAtPermit(plugin.id)) continue;
      binding->Reject(plugin.id, "rejected because a reload of the profile disabled plugin " +
                                     plugin.name + ", which the pod waited for");
    }
    if (binding->rejection() != nullptr) binding->ApplyVerdict();
  }
}

// --- look-up ------------------------------------------------------------------------------------

Profiles::Profile* Profiles::Find(const Pod& pod) const {
  const Id name = pod.view().scheduler_name;
  const auto found = std::ranges::find(active_, name, [](const auto& p) { return p->name; });
  return found != active_.end() ? found->get() : nullptr;
}

// --- retired profiles ---------------------------------------------------------------------------

bool Profiles::IsRetired(const Plan& plan) const {
  return std::ranges::any_of(retired_,
                             [&plan](const auto& profile) { return profile->plan.get() == &plan; });
}

void Profiles::Release(std::unique_ptr<BindingCycle> ended) {
  if (retired_.empty() || !IsRetired(ended->plan())) return;
  const PodRef pod = ended->pod();
  context_.queue.Activate(pod->uid());  // The plugins that rejected it may exist no more.
  ended.reset();
  const PodRef requeued = context_.queue.PodOf(pod->uid());
  if (requeued != nullptr && Find(*requeued) == nullptr) context_.router.ReleasePod(requeued);
  may_drop_ = true;
}

void Profiles::DropUnusedRetired() {
  if (!std::exchange(may_drop_, false)) return;
  std::erase_if(retired_, [this](const auto& profile) {
    if (context_.waiting_pods.Uses(*profile->plan)) return false;
    Drop(*profile);
    return true;
  });
  std::vector<Id> draining;
  for (const auto& profile : retired_) draining.push_back(profile->name);
  context_.router.SetDraining(std::move(draining));
  context_.router.StartWatches(context_.source, WatchedKinds());
}

void Profiles::Drop(Profile& profile) {
  changes_.RemovePlan(*profile.plan);
  context_.interner.Release(profile.name);
}

}  // namespace berth::host
