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
  explicit CycleMetrics(MetricTable& the_table) : table(the_table) {}

  MetricTable& table;

  CounterFamily& attempts = table.AddCounter(
      "scheduler_schedule_attempts_total",
      "The number of attempts to schedule a pod, by the result: scheduled, unschedulable, or "
      "error for a problem inside the scheduler.",
      {"result", "profile"});
  HistogramFamily& attempt_seconds =
      table.AddHistogram("scheduler_scheduling_attempt_duration_seconds",
                         "The duration of an attempt: the scheduling cycle and the binding cycle.",
                         {"result", "profile"}, ExponentialBounds(0.001, 2, 15));
  HistogramFamily& algorithm_seconds =
      table.AddHistogram("scheduler_scheduling_algorithm_duration_seconds",
                         "The duration of the choice of a node in the scheduling cycle.", {},
                         ExponentialBounds(0.001, 2, 15));
  HistogramFamily& sli_seconds = table.AddHistogram(
      "scheduler_pod_scheduling_sli_duration_seconds",
      "The time from the first arrival of a pod in the scheduling queue until it is scheduled, "
      "without the time in which it was gated, by the number of attempts.",
      {"attempts"}, ExponentialBounds(0.01, 2, 20));
  HistogramFamily& attempts_per_pod = table.AddHistogram(
      "scheduler_pod_scheduling_attempts", "The number of attempts until a pod was scheduled.", {},
      ExponentialBounds(1, 2, 5));
  HistogramFamily& permit_seconds = table.AddHistogram("scheduler_permit_wait_duration_seconds",
                                                       "The time that a pod waited on Permit.",
                                                       {"result"}, ExponentialBounds(0.001, 2, 15));
  HistogramFamily& victims =
      table.AddHistogram("scheduler_preemption_victims",
                         "The number of pods that one preemption selected for eviction.", {},
                         ExponentialBounds(1, 2, 7));
  CounterFamily& preemptions = table.AddCounter("scheduler_preemption_attempts_total",
                                                "The number of attempts to preempt pods.", {});
  HistogramFamily& event_seconds = table.AddHistogram("scheduler_event_handling_duration_seconds",
                                                      "The duration of the handling of an event.",
                                                      {"event"}, ExponentialBounds(0.0001, 2, 12));
  GaugeFamily& cache_size = table.AddGauge(
      "scheduler_cache_size", "The number of nodes, pods and assumed pods in the cache.", {"type"});
  GaugeFamily& goroutines =
      table.AddGauge("scheduler_goroutines", "The number of operations under way, such as binding.",
                     {"operation"});
};

// The largest number of attempts that has a label of its own.
inline constexpr uint64_t kMostListedAttempts = 14;
// Returns the label "attempts" of sli_seconds: "1" to "14", and "15+" for more attempts.
std::string SliAttemptsLabel(uint64_t attempts);

// --- cycle meter ---------------------------------------------------------------------------------

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
  // `emulated`: see QueueMeter.
  CycleMeter(SchedulerMetrics& metrics, const Clock& clock,
             KubeVersion emulated = kNewestKubeVersion);
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
