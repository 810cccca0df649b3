// Answers what plugins request of the scheduler.
#ifndef BERTH_HOST_CYCLE_PLUGIN_REQUESTS_H_
#define BERTH_HOST_CYCLE_PLUGIN_REQUESTS_H_

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/cache/node_table.h"
#include "host/cluster/client.h"
#include "host/cycle/binding_cycle.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// Plugins make requests in the middle of a cycle, when queue and bindings must not change. So each
// request is recorded here, and CarryOut() performs it between cycles. The decision about
// a waiting pod (Allow, Reject) counts at once.
//
// Threading: the scheduling thread.
// Lifetime:  the arguments of the constructor must outlive it; the sink of the log must outlive the
//            writer.
class PluginRequests final : public SchedulerRequests {
 public:
  PluginRequests(const NodeTable& table, SchedulingQueue& queue, WaitingPods& waiting_pods,
                 DecisionWriter& writer, const Clock& clock, Log log = {})
      : table_(table),
        queue_(queue),
        waiting_pods_(waiting_pods),
        writer_(writer),
        clock_(clock),
        log_(log) {}
  PluginRequests(const PluginRequests&) = delete;
  PluginRequests& operator=(const PluginRequests&) = delete;

  // Performs the requests recorded so far. Requests that they lead to wait for the next call, so
  // that a plugin that always requests something cannot stop the scheduler. Returns false if there
  // was none.
  bool CarryOut();
  bool empty() const { return deferred_.empty(); }
  // Returns the number of evictions that were requested since the last call.
  size_t TakeEvictionCount() { return std::exchange(evictions_, 0); }
  // Drops the requests without performing them.
  void Clear() { deferred_.clear(); }

  // ---- SchedulerRequests ------------------------------------------------------------------------

  Row FindNode(std::string_view name) const override { return table_.FindNode(name); }
  const Nominator& nominator() const override { return queue_.nominator(); }
  bool ClearNomination(std::string_view uid) override;
  void Activate(std::string_view uid) override;
  std::vector<PodRef> Waiting(PluginId plugin) const override {
    return waiting_pods_.Waiting(plugin);
  }
  bool Allow(std::string_view uid, PluginId plugin) override;
  bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) override;
  void Evict(const PodName& pod, std::string_view message, StatusCallback done) override;

 private:
  struct Victim;

  void Defer(std::function<void()> request) { deferred_.push_back(std::move(request)); }
  void ApplyVerdictLater(std::string_view uid);
  void EvictNow(const Victim& victim, const StatusCallback& done);
  // Threading: any.
  static void LogEviction(Log log, const Victim& victim, const Status& status);

  const NodeTable& table_;
  SchedulingQueue& queue_;
  WaitingPods& waiting_pods_;
  DecisionWriter& writer_;
  const Clock& clock_;
  const Log log_;
  std::vector<std::function<void()>> deferred_;
  size_t evictions_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_PLUGIN_REQUESTS_H_
