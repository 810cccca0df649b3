// A scheduler and its cluster in one process, and the detector of a scheduler that makes no
// progress.
#ifndef BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_
#define BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cycle/decision_sink.h"
#include "host/event/inbox.h"
#include "host/process/assemble/scheduler_host.h"
#include "host/process/replay/local_cluster.h"
#include "host/process/replay/plugin_wait.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// A scheduler of a live cluster tries a rejected pod again for ever, because the cluster may change
// at any time. A simulation must end. It ends when all pods are parked, but some plugins prevent
// that: for example, a plugin without EventsToRegister requeues its pods at every event, so two
// pods of a group that cannot be completed requeue each other whenever one of them times out on
// Permit.
//
// The rule: the scheduler is stalled when every pod that will be tried again has failed
// kMaxFailures times since the last progress, or when one pod has failed kMaxFailuresOfOnePod
// times. Progress is a pod that is bound, or that leaves the cluster, or a change from outside. A
// simulation has finitely many pods, so it makes finitely much progress and always ends.
//
// The detector also records what has changed since the last attempt of each pod, for the last try
// of parked pods. It stands between the scheduler and the sink of its owner, to which it passes
// every decision.
//
// Threading: the scheduling thread.
class StallDetector final : public DecisionSink {
 public:
  static constexpr uint32_t kMaxFailures = 5;
  // The limit for a pod that fails while others wait on Permit, or that has precedence over the
  // other pods whenever it is tried again.
  static constexpr uint32_t kMaxFailuresOfOnePod = 100;

  // `sink` may be null. It must outlive the detector.
  explicit StallDetector(DecisionSink* sink) : sink_(sink != nullptr ? *sink : no_sink_) {}

  // Records progress that is not a decision: a pod left the cluster, an event of a stream was
  // applied, or the plugins were replaced.
  void OnProgress();
  // Counts failures anew without progress: a plugin was called back by a timer or a thread of its
  // own, and may answer differently now.
  void ForgetFailures();
  // Returns how often there was progress.
  uint64_t progress() const { return progress_; }
  // Records that the cluster or the plugins have changed, which may help a pod that failed before.
  // The detector records decisions itself: pods that are bound, leave the cluster or lose a node.
  void OnChange() { ++changes_; }
  // Returns whether something has changed since the last attempt of the pod. Returns true for a pod
  // that was not tried.
  bool HasChangedSince(const Pod& pod) const;
  // Returns whether the scheduler with this queue is stalled. The cost is constant on average.
  bool IsStalled(const SchedulingQueue& queue);

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;

 private:
  // The last attempt of a pod that has no node.
  struct Attempt {
    // The counters when a node was chosen, or when the attempt failed without one.
    uint64_t changes = 0;
    uint64_t releases = 0;
    bool had_node = false;
    bool is_assumed = false;  // The pod was given a node, and has not failed since.
  };

  uint32_t FailuresOf(const Pod& pod) const;
  // Returns the last attempt of the pod; null if there is none.
  const Attempt* FindAttempt(std::string_view uid) const;
  void SetAttempt(std::string_view uid, const Attempt& attempt);
  void ForgetAttempt(std::string_view uid);

  DecisionSink no_sink_;
  DecisionSink& sink_;
  uint64_t progress_ = 0;
  uint64_t changes_ = 0;   // How often the cluster or the plugins have changed.
  uint64_t releases_ = 0;  // How often a pod has failed after it was given a node.
  // The newest attempt stands apart: most pods are bound before the next one is tried, and then
  // leave nothing in the map.
  std::string newest_uid_;  // Empty if there is none.
  Attempt newest_;
  StringMap<Attempt> attempts_;  // The others, keyed by uid.
  // The counts below begin at the last progress, or at the last ForgetFailures().
  StringMap<uint32_t> failures_;  // Keyed by uid.
  size_t exhausted_ = 0;          // Pods with at least kMaxFailures failures.
  uint32_t most_failures_ = 0;    // The highest value in failures_.
  size_t failure_count_ = 0;      // The sum of failures_.
  size_t next_check_ = 0;         // The next full check is due at this failure_count_.
};

// Owns a LocalCluster and a SchedulerHost over it, and drives both. Fill cluster(), call Start(),
// then Step(). The caller owns the clock.
//
// Threading: one thread, the scheduling thread.
class EmbeddedScheduler {
 public:
  enum class Stream : bool { kNone, kFollowed };

  // `stream`: kFollowed if events of a stream are applied to the cluster.
  explicit EmbeddedScheduler(SchedulerOptions options, Stream stream = Stream::kNone);

  LocalCluster& cluster() { return cluster_; }
  const LocalCluster& cluster() const { return cluster_; }

  // Creates the plugins and delivers the cluster's objects to them.
  // Called: once.
  // Errors: those of SchedulerHost::Start.
  Status Start();

  // REQUIRES: Start() succeeded. This applies to every method below.

  // Replaces the plugins and profiles. Errors: those of SchedulerHost::Reload.
  Status Reload(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> profiles);

  // Applies an event of a stream to the cluster. Returns: as LocalCluster::Apply.
  // REQUIRES: the constructor received kFollowed.
  Result<bool> Apply(const StreamEvent& event);

  // Finishes deletions that are due, delivers what waits in the cluster, then runs one step of the
  // scheduling loop. Returns false if there was nothing to do.
  bool Step();
  // Does what Step() does, except that it tries no pod. Returns false if there was nothing to do.
  bool Settle();
  // Returns the time at which Step() next has work if no event or answer arrives before. Returns
  // nullopt if Step() will have no work.
  std::optional<int64_t> NextStepNs() const;
  // Returns the time at which Settle() next has work if no event or answer arrives before and if
  // there is none now. Returns nullopt if it will have none.
  std::optional<int64_t> NextTimerNs() const;
  // Returns true if the loop and the cluster are at rest; see SchedulingLoop::AtRest.
  bool AtRest() const;
  // Returns whether the scheduler only repeats attempts that fail; see StallDetector. The owner
  // ends the run then, or lets time pass until the cluster changes.
  bool IsStalled() { return stalls_.IsStalled(loop().queue()); }
  // Returns the names of the plugins that rejected pods which are still in the queue and that have
  // no EventsToRegister, sorted: a cause of a stall, because every event requeues these pods.
  std::vector<std::string> RejectorsWithoutEvents() const;
  // Moves the parked and gated pods to the active queue, so that each is tried once more before a
  // run ends: no event may have requeued a pod that fits now, because a plugin registered for too
  // few events. Leaves out a pod if nothing has changed since its last attempt (no object, no
  // plugin, and no other pod was bound or has left its node or the cluster), and a pod that only
  // waits for a plugin (Rejection::awaited). Returns false if no pod is left, or if there was no
  // progress since the last call that returned true: a run ends after finitely many calls.
  // Called: when the run would end otherwise.
  bool TryParkedAgain();
  // Returns whether TryParkedAgain() has returned true.
  bool has_tried_parked_again() const { return last_try_.has_value(); }
  // Makes the scheduler count failing attempts anew, because something outside has changed.
  void OnProgress() { stalls_.OnProgress(); }

  // ---- Timers and threads of plugins ------------------------------------------------------------

  // Replaces the limits, which are otherwise those of WaitLimits. Called: before the first step.
  void SetWaitLimits(const WaitLimits& limits) { wait_.SetLimits(limits); }
  // Returns what could still place a pending pod although the scheduler is at rest or stalled.
  PluginWait::Awaited Awaited() const;
  // Returns true if plugins were called back so often without progress that the run ends, even if
  // the scheduler is not at rest.
  bool IsRunaway() const { return wait_.IsRunaway(); }
  // Returns how far the owner of a virtual clock advances it although Step() still has work: 0,
  // unless plugins keep the scheduler busy at one time by calling themselves.
  int64_t BusyAdvanceNs() const { return wait_.BusyAdvanceNs(); }
  // Waits a moment, at most `most_ns`, for the work that threads of plugins have announced. The
  // owner of a virtual clock calls this method before it advances the clock. Returns false, and
  // does not wait, if there is no such work, or if the limit was reached.
  bool WaitForAnnouncedWork(ThreadWaker& waker, int64_t most_ns = INT64_MAX) {
    return wait_.WaitForThreads(loop().plugin_work(), waker, most_ns);
  }
  // Returns what waits now. Timers and threads are left out if no pod is pending, because nothing
  // waits for them.
  StillWaiting Waiting() const;

  // Waits a moment until a plugin thread on which a binding may depend sends a task to the
  // scheduling thread. The owner of a virtual clock calls this method before it advances the clock.
  // Returns false if no binding depends on a thread, or if no task arrived.
  bool WaitForThreads(ThreadWaker& waker) const;

  SchedulerHost& host() { return host_; }
  SchedulingLoop& loop() { return host_.loop(); }
  const SchedulingLoop& loop() const { return host_.loop(); }

 private:
  // Delivers what waits in the cluster before and after `step_loop`.
  bool StepWith(const std::function<bool()>& step_loop);

  // Each member outlives those after it, which use it.
  Interner interner_;
  LocalCluster cluster_;
  StallDetector stalls_;
  PluginWait wait_;
  SchedulerHost host_;
  std::optional<uint64_t> last_try_;  // The progress at the last call of TryParkedAgain().
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_
