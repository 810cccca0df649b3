// A scheduler and its cluster in one process.
#ifndef BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_
#define BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/event/inbox.h"
#include "host/process/assemble/scheduler_host.h"
#include "host/process/replay/local_cluster.h"
#include "host/process/replay/stall_detector.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {

// Owns a LocalCluster and a SchedulerHost over it, and drives both. Fill cluster(), call Start(),
// then Step(). The caller owns the clock.
//
// Threading: one thread, the scheduling thread.
class EmbeddedScheduler {
 public:
  enum class Stream : bool { kNone, kFollowed };

  // `stream`: kFollowed if events of a stream are applied to the cluster.
  explicit EmbeddedScheduler(SchedulerOptions options, Stream stream = Stream::kNone)
      : EmbeddedScheduler(stream, Checked(std::move(options))) {}
  EmbeddedScheduler(const EmbeddedScheduler&) = delete;
  EmbeddedScheduler& operator=(const EmbeddedScheduler&) = delete;

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
  // Makes the scheduler count failing attempts anew, because something outside has changed.
  void OnProgress() { stalls_.OnProgress(); }

  // Waits a moment until a plugin thread on which a binding may depend sends a task to the
  // scheduling thread. The owner of a virtual clock calls this method before it advances the clock.
  // Returns false if no binding depends on a thread, or if no task arrived.
  bool WaitForThreads(ThreadWaker& waker) const;

  SchedulerHost& host() { return host_; }
  SchedulingLoop& loop() { return host_.loop(); }
  const SchedulingLoop& loop() const { return host_.loop(); }

 private:
  EmbeddedScheduler(Stream stream, SchedulerOptions options);
  SchedulerOptions WithStallDetector(SchedulerOptions options);
  // Delivers what waits in the cluster before and after `step_loop`.
  bool StepWith(const std::function<bool()>& step_loop);

  // Each member outlives those after it, which use it.
  Interner interner_;
  LocalCluster cluster_;
  StallDetector stalls_;
  SchedulerHost host_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_EMBEDDED_SCHEDULER_H_
