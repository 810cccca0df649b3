// The loop: cluster events in, one attempt after the other, bindings out.
//
//   event -> queue -> [filter -> score -> assume -> reserve -> permit] -> bind
//
// A group is tried as one: the brackets for each member, then all binds, or none.
//
// The same loop serves simulation and production; only the client behind it, the clock, and who
// drives it, differ.
#ifndef BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
#define BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/cycle/binding_cycle.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/schedule_one.h"
#include "host/event/event_router.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/async_call.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plan.h"
#include "host/runtime/plugin_ids.h"
#include "host/runtime/run_changes.h"
#include "host/runtime/run_pre_enqueue.h"
#include "host/runtime/run_queue_sort.h"
#include "host/runtime/scheduler_requests.h"

namespace berth::host {

// Who drives it calls, for ever:
//
//   the client's delivery, where the client needs one
//   Step(), while it returns true
//   a wait until NextStepNs(), or until the waker says that something came in
//
// Threading: one thread, the scheduling thread. The client must deliver on it, or through a
//            WatchRelay and OnInbox of inbox().
// Lifetime:  interner, client, catalogue, clock and sink must outlive it.
class SchedulingLoop final : private SchedulerRequests {
 public:
  struct Options {
    uint64_t seed = 0;
    const Clock* clock = nullptr;  // Must be set.
    DecisionSink* sink = nullptr;  // Who is told of decisions; null: nobody.
    Waker* waker = nullptr;        // Woken when something comes in from another thread.
    // Where plugins' log lines go, and our own, without a plugin's name. May be empty.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    uint32_t log_level = BERTH_LOG_WARN;
    // Runs what blocks on another thread, and gives up waiting for it: see AsyncCalls. Empty: it
    // runs on this one.
    std::function<uint64_t(std::function<void()> task)> on_pool;
    std::function<void(uint64_t task)> give_up;
    int64_t bind_deadline_ns = 0;  // See AsyncCalls.
    CallMonitor* monitor = nullptr;
    QuarantinePolicy quarantine;
    SchedulingQueue::Options queue;  // `groups`: as a plugin answers for /spec/schedulingGroup.
    // Fields of pods that count as handled although no installed plugin says so: JSON pointers, as
    // HandledFields has them.
    std::set<std::string> ignored_pod_fields;
    // What columns may hold that no plugin asked for when it was created: those for one resource or
    // one label that some pod wanted. Host ports, for one, are as many as pods like.
    size_t idle_column_bytes = size_t{64} << 20;
    // And how many they may be: each costs something with every pod that comes or goes.
    size_t idle_columns = 256;
  };

  // Builds a plan for each profile and starts the watches; the first delivery of the client fills
  // cache and queue.
  // Errors: those of Plan::Build, of all profiles; InvalidArgument for two profiles of one
  //         schedulerName, or with different QueueSort plugins.
  static Result<std::unique_ptr<SchedulingLoop>> Create(Interner& interner, Client& client,
                                                        const PluginCatalog& catalog,
                                                        std::span<const PlanSpec> profiles,
                                                        Options options);
  ~SchedulingLoop() override;
  SchedulingLoop(const SchedulingLoop&) = delete;
  SchedulingLoop& operator=(const SchedulingLoop&) = delete;

  // ---- Driving it -------------------------------------------------------------------------------

  // Carries out what has come in and what is due, then takes a pod through its attempt; before the
  // attempt, in calls of its own, what that has led plugins to ask for. False: there was nothing to
  // do.
  // Must not: be called by who holds an id without a reference to it; the interner may be swept.
  bool Step();
  // When Step() next has something to do if nothing comes in; none: never.
  std::optional<int64_t> NextStepNs() const;
  // The first half of Step(): no attempt. False: there was nothing to do. Must not: as Step().
  bool Settle();

  // Nobody is ready to be tried, nobody backs off from a rejection, nothing is in flight. Pods may
  // be parked, gated, or back off from an error.
  bool AtRest() const;
  // Begins no attempt any more; pods that wait on Permit go back to the queue; bindings under way
  // end by themselves: go on with Step() until there is none.
  void Stop();
  // Other profiles take over, or the same with other plugins, arguments or libraries: all is built
  // beside what is there, and takes its place at once. Pods that are on their way to a node go on
  // with the plugins that they began with, which then go; one of them that fails, and everything
  // that waits, is tried with the new ones.
  // Errors: those of Create; then nothing has changed.
  // Must not: be called within Step().
  Status Reload(const PluginCatalog& catalog, std::span<const PlanSpec> profiles);
  // Plans that have been replaced, and are still needed.
  size_t draining() const { return retired_.size(); }
  // The loop is about to go: plugins that are called for bindings are told that nobody waits.
  void CancelBindings();
  size_t in_flight() const { return bindings_.size(); }

  // ---- Looking at it ----------------------------------------------------------------------------

  Inbox& inbox() { return inbox_; }
  const SchedulingQueue& queue() const { return *queue_; }
  Cache& cache() { return cache_; }
  const Cache& cache() const { return cache_; }
  const EventRouter& router() const { return *router_; }
  const PluginIds& plugin_ids() const { return ids_; }
  PluginFaults& faults() { return faults_; }
  const PluginFaults& faults() const { return faults_; }
  const MetricStore& metrics() const { return metrics_; }
  // Of the first profile; of the pod's, null where no profile has its schedulerName.
  Scheduler& scheduler() { return *profiles_.front()->scheduler; }
  Scheduler* SchedulerFor(const Pod& pod);
  // Pods that wait on Permit, or are on their way to their node, by uid.
  const std::map<std::string, std::unique_ptr<BindingCycle>, std::less<>>& bindings() const {
    return bindings_;
  }

 private:
  // One profile at work.
  struct Profile {
    std::unique_ptr<Plan> plan;
    Id name;  // schedulerName.
    std::unique_ptr<Scheduler> scheduler;
  };

  SchedulingLoop(Interner& interner, Client& client, Options options);

  HostServices MakeServices();
  // What the plugins of the catalogue answer for. True: groups are among that.
  bool SetHandledFields(const PluginCatalog& catalog);
  std::vector<Interest> HostInterests(std::span<const Plan* const> plans);
  Result<std::vector<std::unique_ptr<Plan>>> BuildPlans(const PluginCatalog& catalog,
                                                        std::span<const PlanSpec> profiles);
  void Start(std::vector<std::unique_ptr<Plan>> plans);
  // Their schedulerNames.
  std::vector<Id> Install(std::vector<std::unique_ptr<Plan>> plans);
  void Drop(Profile& profile);
  void DropRetired();
  void DropRetiredBinding(std::unique_ptr<BindingCycle> binding);
  std::vector<const Plan*> SetPolicy(const std::vector<std::unique_ptr<Plan>>& plans);
  bool IsRetired(const Plan& plan) const;
  std::vector<std::string> KindsWanted() const;
  Profile* ProfileOf(const Pod& pod) const;

  // How far a pod got.
  struct Trial {
    PodRef pod;
    std::optional<Failure> failure = {};  // None: it has a place, and Permit lets it go, or wait.
    std::unique_ptr<Reservation> reservation = nullptr;  // Until it is held, or withdrawn.
    std::string node = {};                               // That it was given, whatever came of it.
    std::vector<PermitWait> waits = {};
    std::string nominated = {};  // The nomination that it had until it was given a place.
    // Of a group's members.
    BindingCycle* held = nullptr;          // Not started.
    std::vector<PluginId> waits_for = {};  // Who asked it to wait.
  };

  void TryPod(const QueuedEntity& entity);
  Trial Try(Profile& profile, const PodRef& pod);
  void Reserve(Profile& profile, Row row, Trial& trial);
  void EndNomination(const Trial& trial, std::string_view node);
  BindingCycle& Hold(Trial& trial);
  void Skip(const PodRef& pod);

  // All members against one state of the cluster, each with those before it. Where none is let go,
  // all is given back and nobody but they hear of it.
  void TryGroup(const QueuedGroup& group);
  std::optional<Failure> WhyNoGroup(const std::vector<PodRef>& pods) const;
  std::vector<Trial> TryMembers(Profile& profile, const std::vector<PodRef>& pods);
  static std::optional<Failure> WhyNot(const std::vector<Trial>& trials);
  void WithdrawRejected(std::vector<Trial>& trials);
  void Withdraw(Trial& trial);
  void Commit(const Trial& trial);
  void ReturnGroup(const std::string& name, const std::vector<Trial>& trials,
                   const std::optional<Failure>& failure);

  Failure ToFailure(const Profile& profile, const Decision& decision);
  Failure ToFailure(const Profile& profile, const PluginStatus& status);
  PluginId IdOf(const Profile& profile, std::string_view plugin);
  bool RunLater();
  bool DropFinished();
  void TidyUp();
  void Log(uint32_t level, std::string_view message) const;

  // SchedulerRequests.
  const Nominator& nominator() const override { return queue_->nominator(); }
  bool ClearNomination(std::string_view uid) override;
  void Activate(std::string_view uid) override;
  void EachWaiting(const std::function<bool(const Pod& pod)>& each) const override;
  bool Allow(std::string_view uid, PluginId plugin) override;
  bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) override;
  void Evict(const PodName& pod, std::string_view message, Done done) override;
  // Carries out `task` before the next attempt, unless what it asks for has no end.
  void Later(std::function<void()> task) { later_.push_back(std::move(task)); }
  // What plugins have decided about a pod that waits.
  void CarryOutLater(std::string_view uid);
  BindingCycle* FindBinding(std::string_view uid) const;

  Interner& interner_;
  Client& client_;
  Options options_;
  DecisionSink no_sink_;
  DecisionSink& sink_;
  Inbox inbox_;
  TimerQueue timers_;
  AsyncCalls calls_;
  ObjectStore objects_;
  Cache cache_;
  PluginIds ids_;
  PluginFaults faults_;
  MetricStore metrics_;
  HostServices services_;
  HandledFields fields_;
  ChangeHub changes_;
  PluginQueuePolicy policy_;
  std::vector<std::unique_ptr<Profile>> profiles_;  // Before what calls their plugins.
  std::vector<std::unique_ptr<Profile>> retired_;   // Until their last binding has ended.
  std::unique_ptr<PluginQueueOrder> order_;
  std::unique_ptr<SchedulingQueue> queue_;
  std::unique_ptr<FailureHandler> failures_;
  std::unique_ptr<EventRouter> router_;
  std::vector<std::function<void()>> later_;
  // By uid. Those that have ended are in finished_ too, and dropped between attempts.
  std::map<std::string, std::unique_ptr<BindingCycle>, std::less<>> bindings_;
  std::vector<std::string> finished_;
  uint32_t rounds_ = 0;  // Of settling, since the last attempt.
  bool stopping_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
