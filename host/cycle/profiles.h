// The profiles of a scheduler: built, installed, replaced, retired.
#ifndef BERTH_HOST_CYCLE_PROFILES_H_
#define BERTH_HOST_CYCLE_PROFILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/api/objects.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cycle/binding_cycle.h"
#include "host/cycle/cycle_context.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/schedule_one.h"
#include "host/plan/plan.h"
#include "host/runtime/points/run_changes.h"
#include "host/runtime/points/run_pre_enqueue.h"
#include "host/runtime/points/run_queue_sort.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// A profile in which nothing changed stays as it is, with what it keeps for later attempts. One
// that was replaced is retired: it stays until the last pod that its plugins are binding has ended
// its binding cycle. The new profile has those of its instances that need not be created anew.
//
// Threading: the scheduling thread, between scheduling cycles.
// Lifetime:  the arguments of the constructor must outlive it. Every binding cycle must have ended
//            before it is destroyed.
class Profiles {
 public:
  struct Profile {
    std::unique_ptr<Plan> plan;
    Id name;  // schedulerName.
    std::unique_ptr<SchedulingCycle> cycle;
  };
  struct Options {
    uint64_t seed = 0;  // See SchedulingCycle.
    // Pod fields that count as handled although no installed plugin handles them.
    std::set<std::string> ignored_pod_fields = {};
  };

  // `policy` and `order` are those of the queue; Load() gives them their plugins.
  Profiles(const CycleContext& context, HostServices& services, PluginQueuePolicy& policy,
           PluginQueueOrder& order, Options options);
  ~Profiles();
  Profiles(const Profiles&) = delete;
  Profiles& operator=(const Profiles&) = delete;

  // Builds a plan for each profile that is new or has changed, and replaces the present profiles
  // with them; see Plan::Build(). A new instance gets the state of the active one that it replaces:
  // see RunHandOver(). Starts the watches of the kinds that their plugins use. Pods that are being
  // bound continue with the plugins that they began with; all other pods are tried again. A pod
  // that waits on Permit for a plugin that does not run at Permit any more is rejected at once.
  // Errors: those of Plan::Build, of all profiles; InvalidArgument for two profiles of one
  //         schedulerName, or with different QueueSort plugins. Then nothing has changed.
  // REQUIRES: there is at least one profile.
  Status Load(const PluginCatalog& catalog, std::span<const PlanSpec> specs);

  // Returns the profile that the pod names in spec.schedulerName, or null if there is none.
  Profile* Find(const Pod& pod) const;
  Profile& front() const { return *active_.front(); }
  // Calls `each(const Plan&)` for every active profile.
  template <class F>
  void ForEachPlan(F&& each) const {
    for (const std::unique_ptr<Profile>& profile : active_) each(*profile->plan);
  }

  // Destroys a binding cycle that has ended. A pod of a retired profile that comes back to the
  // queue is tried again after its backoff, with the new plugins; if no profile has its
  // schedulerName any more, it leaves the queue.
  void Release(std::unique_ptr<BindingCycle> ended);
  // Drops the retired profiles that no binding cycle uses any more, with the watches of kinds that
  // only their plugins use.
  // Called: after Release() was called for all binding cycles that have ended.
  void DropUnusedRetired();
  // The number of retired profiles.
  size_t draining() const { return retired_.size(); }

 private:
  // One profile after the reload.
  struct Next {
    Profile* kept = nullptr;      // The active profile, if nothing in it has changed.
    std::unique_ptr<Plan> built;  // The new plan otherwise.

    const Plan& plan() const { return kept != nullptr ? *kept->plan : *built; }
  };
  using NextProfiles = std::vector<Next>;

  Result<NextProfiles> Build(const PluginCatalog& catalog, std::span<const PlanSpec> specs) const;
  Result<Next> BuildOne(const PluginCatalog& catalog, const PlanSpec& spec) const;
  // Returns the active profile of this schedulerName, or null.
  Profile* FindActive(std::string_view scheduler_name) const;
  // Passes the states of the active instances to those that replace them.
  void HandOver(const NextProfiles& next) const;
  void ConfigureQueue(const NextProfiles& next);
  // Makes them the active profiles, and retires those that are not among them.
  void Replace(NextProfiles next);
  std::unique_ptr<Profile> Activate(std::unique_ptr<Plan> plan);
  bool SetHandledFields(const PluginCatalog& catalog);
  // Returns the kinds that plugins of active and retired profiles use.
  std::vector<std::string> WatchedKinds() const;
  // Returns whether an active profile runs the plugin at Permit.
  bool RunsAtPermit(PluginId plugin) const;
  void RejectPodsOfDisabledPlugins();
  bool IsRetired(const Plan& plan) const;
  void Drop(Profile& profile);

  const CycleContext& context_;
  HostServices& services_;
  PluginQueuePolicy& policy_;
  PluginQueueOrder& order_;
  const Options options_;
  const HostRejectors rejectors_;
  HandledFields fields_;
  ChangeHub changes_;
  uint64_t attempts_ = 0;  // The number of attempts, also those of replaced profiles.
  std::vector<std::unique_ptr<Profile>> active_;
  std::vector<std::unique_ptr<Profile>> retired_;
  bool may_drop_ = false;  // Since the last drop, a profile was retired or a binding of one ended.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_PROFILES_H_
