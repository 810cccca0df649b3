// What a scheduler decides, as it happens.
#ifndef BERTH_HOST_PROCESS_DECISION_LOG_H_
#define BERTH_HOST_PROCESS_DECISION_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "host/process/decision_line.h"

namespace berth::host {

// Listens to the loop for attempts and bindings, and to the cluster for pods that are gated: a pod
// is said to be gated once, until the reason is another.
//
// Threading: the scheduling thread.
class DecisionLog final : public DecisionSink, private WatchSink {
 public:
  using Listener = std::function<void(const DecisionLine& line)>;

  // The clock outlives it. Times are counted from now.
  DecisionLog(const Clock& clock, Listener listener)
      : clock_(clock), start_ns_(clock.NowNs()), listener_(std::move(listener)) {}

  // Listens to the pods of `client`, which outlives the watch. Called: after the loop has begun to
  // watch them, so that it hears of a pod first. The loop outlives the watch.
  void Watch(Client& client, const SchedulingLoop& loop);
  void StopWatch() { watch_.reset(); }
  // Says which of the pods that were given a node wait. Called: after every step of the loop.
  void AfterStep();
  // Says which pods are gated that were not, or for another reason. Called: when PreEnqueue was
  // asked about all of them anew.
  void AfterReload();

  size_t bound() const { return bound_; }
  int64_t start_ns() const { return start_ns_; }

 private:
  // What was said of a pod.
  struct Said {
    std::string gate;   // Why it is gated; empty: it is not.
    uint64_t last = 0;  // Hash of the last line.
  };

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  void OnEvents(std::span<WatchEvent> events) override;
  void NoteGate(const Pod& pod);
  void Say(DecisionType type, const Pod& pod, std::string_view node, std::string_view message);

  const Clock& clock_;
  const int64_t start_ns_;
  const Listener listener_;
  const SchedulingLoop* loop_ = nullptr;
  std::vector<std::string> assumed_;  // uids, since the last step.
  StringMap<Said> said_;              // By uid; of pods that exist and are not bound.
  size_t bound_ = 0;
  std::unique_ptr<berth::host::Watch> watch_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DECISION_LOG_H_
