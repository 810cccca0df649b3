// Reports the decisions of a scheduler while it runs, one line for each.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_DECISION_REPORTER_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_DECISION_REPORTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "host/base/clock.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"

namespace berth::host {

enum class DecisionType : uint8_t {
  kBound,
  kRefused,  // No node fits.
  kError,    // The attempt or the binding failed with an error.
  kSkipped,  // The pod is being deleted.
  kWaiting,  // A node was found, and the pod waits on Permit.
  kGated,    // PreEnqueue holds the pod back; it was not tried.
};

// "Bound"
std::string_view DecisionTypeName(DecisionType type);

struct DecisionLine {
  int64_t time_ns = 0;  // The time since the start of the run.
  DecisionType type = DecisionType::kBound;
  std::string pod;      // "default/web-0"
  std::string node;     // Empty: none.
  std::string message;  // Why the pod is not bound; empty if the type is enough.
  // True if the last line about the pod had the same type, node and message: a later attempt had
  // the same result.
  bool is_repeated = false;
};

// Returns {"time": 1.5, "type": "Bound", "pod": "default/web-0", "node": "node-a"}. The time is in
// seconds. Keys of empty fields are absent.
nlohmann::ordered_json ToJson(const DecisionLine& line);

// Turns what the scheduling loop decides, and which pods are gated or wait on Permit, into
// DecisionLines. A gated pod is reported once, and again when the reason changes.
//
// Threading: the scheduling thread.
class DecisionReporter final : public DecisionSink, private WatchSink {
 public:
  using Listener = std::function<void(const DecisionLine& line)>;

  // The times of the lines are counted from now on `clock`, which must outlive the reporter.
  DecisionReporter(const Clock& clock, Listener listener);
  ~DecisionReporter() override;

  // Starts to watch the pods of `source`, to report gated pods. Both arguments must outlive the
  // watch.
  // Called: after the loop has started its own watch of pods, so that the loop gets each pod first.
  void StartWatch(ObjectSource& source, const SchedulingLoop& loop);
  void StopWatch() { watch_.reset(); }
  // Returns a source for the loop that takes the place of StartWatch(): it passes the events of
  // `source` on, and those of pods to the reporter, too, after the loop has received them. A second
  // watch would make an API server send every pod twice.
  // Called:   once, before the loop is created; then Attach(), before an event is delivered.
  // Lifetime: `source` and the reporter must outlive the watches of the result.
  ObjectSource& Follow(ObjectSource& source);
  void Attach(const SchedulingLoop& loop) { loop_ = &loop; }

  // REQUIRES: StartWatch() or Attach() was called. This applies to the next two methods.

  // Reports the pods that were given a node since the last call and wait on Permit.
  // Called: after every step of the loop.
  void ReportWaitingPods();
  // Reports the pods in the queue that are gated now and were not before, or for another reason.
  // Called: after a reload, which runs PreEnqueue for all pods in the queue.
  void ReportGatedPods();

  size_t bound() const { return bound_; }  // How many pods were bound.
  int64_t start_ns() const { return start_ns_; }

 private:
  class FollowedSource;

  // The last report about a pod.
  struct Reported {
    std::string gate;  // Why the pod is gated; empty if it is not gated.
    uint64_t last_line_hash = 0;
  };

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  void OnEvents(std::span<WatchEvent> events) override;
  void ReportIfGated(const Pod& pod);
  void Report(DecisionType type, const Pod& pod, std::string_view node, std::string_view message);

  const Clock& clock_;
  const int64_t start_ns_;
  const Listener listener_;
  const SchedulingLoop* loop_ = nullptr;
  std::vector<std::string> assumed_;  // The uids of pods that were assumed since the last step.
  StringMap<Reported> reported_;      // Keyed by uid; only pods that exist and are not bound.
  size_t bound_ = 0;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<ObjectSource> followed_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_DECISION_REPORTER_H_
