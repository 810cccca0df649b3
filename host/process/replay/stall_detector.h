// Detects that a scheduler repeats attempts that will never succeed.
#ifndef BERTH_HOST_PROCESS_REPLAY_STALL_DETECTOR_H_
#define BERTH_HOST_PROCESS_REPLAY_STALL_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/api/objects.h"
#include "host/base/string_map.h"
#include "host/cycle/decision_sink.h"
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
// The detector stands between the scheduler and the sink of its owner, to which it passes every
// decision.
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
  // Returns whether the scheduler with this queue is stalled. The cost is constant on average.
  bool IsStalled(const SchedulingQueue& queue);

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;

 private:
  uint32_t FailuresOf(const Pod& pod) const;

  DecisionSink no_sink_;
  DecisionSink& sink_;
  // The counts below begin at the last progress.
  StringMap<uint32_t> failures_;  // Keyed by uid.
  size_t exhausted_ = 0;          // Pods with at least kMaxFailures failures.
  uint32_t most_failures_ = 0;    // The highest value in failures_.
  size_t failure_count_ = 0;      // The sum of failures_.
  size_t next_check_ = 0;         // The next full check is due at this failure_count_.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_STALL_DETECTOR_H_
