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
#include "host/queue/queue_meter.h"
#include "host/queue/queued_entity.h"
#include "host/runtime/attempt/point_meter.h"

namespace berth::host {

// --- cycle metrics -------------------------------------------------------------------------------
//
// The metrics of the scheduling and binding cycles. The names, labels and buckets are those of
// kube-scheduler.

// Threading: the scheduling thread observes; any thread reads the table.
struct CycleMetrics {
  explicit CycleMetrics(MetricTable& table);

  CounterFamily& attempts;  // scheduler_schedule_attempts_total{result,profile}
  // scheduler_scheduling_attempt_duration_seconds{result,profile}
  HistogramFamily& attempt_seconds;
  HistogramFamily& algorithm_seconds;  // scheduler_scheduling_algorithm_duration_seconds
  HistogramFamily& sli_seconds;        // scheduler_pod_scheduling_sli_duration_seconds{attempts}
  HistogramFamily& attempts_per_pod;   // scheduler_pod_scheduling_attempts
  HistogramFamily& event_seconds;      // scheduler_event_handling_duration_seconds{event}
  GaugeFamily& cache_size;             // scheduler_cache_size{type}
  GaugeFamily& goroutines;             // scheduler_goroutines{operation}: binding cycles under way.
};

// The largest number of attempts that has a label of its own.
inline constexpr uint64_t kMostListedAttempts = 14;
// Returns the label "attempts" of sli_seconds: "1" to "14", and "15+" for more attempts.
std::string SliAttemptsLabel(uint64_t attempts);

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
