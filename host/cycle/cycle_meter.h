// Observes attempts, and publishes the sizes of the scheduler's parts.
#ifndef BERTH_HOST_CYCLE_CYCLE_METER_H_
#define BERTH_HOST_CYCLE_CYCLE_METER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/base/metrics.h"
#include "host/cycle/cycle_metrics.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_metrics.h"
#include "host/queue/queued_entity.h"
#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/attempt/point_metrics.h"

namespace berth::host {

// Every metric of a scheduler. It is constructed before another thread reads the table.
struct SchedulerMetrics {
  explicit SchedulerMetrics(MetricTable& table) : queue(table), points(table), cycles(table) {}

  QueueMetrics queue;
  PointMetrics points;
  CycleMetrics cycles;
};

// Threading: the scheduling thread. Another thread reads only the instruments.
// Lifetime:  metrics and clock must outlive it.
class CycleMeter {
 public:
  CycleMeter(SchedulerMetrics& metrics, const Clock& clock);
  CycleMeter(const CycleMeter&) = delete;
  CycleMeter& operator=(const CycleMeter&) = delete;

  // Returns the meter of the profile's extension points. Lifetime: that of this object.
  PointMeter& PointsOf(std::string_view profile);
  QueueMeter& queue() { return queue_; }

  int64_t NowNs() const { return clock_.NowNs(); }
  // Observes an attempt that bound the pod. `entity`: in flight.
  void OnBound(const QueuedEntity& entity);
  // Observes an attempt that failed. `popped_ns`: QueuedEntity::popped_ns.
  void OnFailed(std::string_view profile, berth_code code, int64_t popped_ns);
  // Observes a choice of a node that began at `since_ns`.
  void OnSelected(int64_t since_ns) { algorithm_.ObserveNs(NowNs() - since_ns); }
  // Observes the end of a wait on Permit that began at `since_ns`.
  void OnPermitEnded(berth_code code, int64_t since_ns);
  // Counts a run of the PostFilter plugins.
  void OnPostFilter() { preemptions_.Add(); }
  // Observes the pods that one attempt evicted.
  void OnEvictions(size_t count) { victims_.Observe(static_cast<double>(count)); }

  struct Sizes {
    size_t nodes = 0;
    size_t pods = 0;
    size_t assumed_pods = 0;
    size_t bindings = 0;  // Pods that wait on Permit or are being bound.
  };
  // Publishes gauges, for the threads that read the table.
  void Publish(const Sizes& sizes, const std::function<size_t(QueuePlace place)>& count_in);

 private:
  enum Result : uint8_t { kScheduled, kUnschedulable, kError };

  // The instruments of a profile, so that an observation takes no lock.
  struct ProfileInstruments {
    std::array<Counter*, 3> attempts{};  // By Result.
    std::array<Histogram*, 3> seconds{};
    std::unique_ptr<PointMeter> points;
  };

  ProfileInstruments& InstrumentsOf(std::string_view profile);
  void OnAttempt(std::string_view profile, Result result, int64_t popped_ns);

  SchedulerMetrics& metrics_;
  const Clock& clock_;
  QueueMeter queue_;
  Histogram& algorithm_;
  Histogram& attempts_per_pod_;
  Histogram& victims_;
  Counter& preemptions_;
  Gauge& nodes_;
  Gauge& pods_;
  Gauge& assumed_pods_;
  Gauge& bindings_;
  // By the number of attempts; the last one is that of "15+". Null: not observed yet.
  std::array<Histogram*, kMostListedAttempts + 2> sli_seconds_{};
  std::map<std::string, ProfileInstruments, std::less<>> profiles_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_CYCLE_METER_H_
