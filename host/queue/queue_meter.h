// Counts what happens in the scheduling queue.
#ifndef BERTH_HOST_QUEUE_QUEUE_METER_H_
#define BERTH_HOST_QUEUE_QUEUE_METER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <berth/kube_version.h>

#include "host/base/clock.h"
#include "host/base/metrics.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// --- queue metrics -------------------------------------------------------------------------------
//
// The metrics of the scheduling queue. The names, labels and buckets are kube-scheduler's
// (pkg/scheduler/metrics/metrics.go).

// Threading: the scheduling thread observes; any thread reads the table.
struct QueueMetrics {
  explicit QueueMetrics(MetricTable& the_table) : table(the_table) {}

  MetricTable& table;

  CounterFamily& incoming_pods = table.AddCounter(
      "scheduler_queue_incoming_pods_total",
      "The number of pods that entered a place of the scheduling queue, by the event.",
      {"queue", "event"});
  GaugeFamily& pending_pods =
      table.AddGauge("scheduler_pending_pods",
                     "The number of pods in each place of the scheduling queue: active, backoff, "
                     "unschedulable, gated.",
                     {"queue"});
  GaugeFamily& unschedulable_pods = table.AddGauge(
      "scheduler_unschedulable_pods",
      "The number of unschedulable pods that a plugin rejected. A pod counts once for each "
      "plugin that rejected it.",
      {"plugin", "profile"});
  CounterFamily& after_flush = table.AddCounter(
      "scheduler_pod_scheduled_after_flush_total",
      "The number of pods that were scheduled after the scheduling queue tried them again "
      "because they had waited too long. It grows if a plugin does not register an event or if "
      "its hint skips one.",
      {});
  HistogramFamily& hint_seconds =
      table.AddHistogram("scheduler_queueing_hint_execution_duration_seconds",
                         "The duration of a call of a queueing hint.", {"plugin", "event", "hint"},
                         ExponentialBounds(0.00001, 1.5, 20));
  GaugeFamily& inflight_events = table.AddGauge(
      "scheduler_inflight_events",
      "The number of events that the scheduling queue keeps for attempts under way.", {"event"});
};

// --- queue meter ---------------------------------------------------------------------------------

// Returns the label "queue" of a place: "active", "backoff", "unschedulable", "gated". A place that
// is none of them has no label.
std::string_view QueueLabelOf(QueuePlace place);

// Threading: the scheduling thread.
// Lifetime:  metrics and clock must outlive it.
class QueueMeter {
 public:
  // The reasons other than events for which an entity enters a place.
  // (kube-scheduler: pkg/scheduler/framework/events.go)
  static constexpr std::string_view kFailure = "ScheduleAttemptFailure";
  static constexpr std::string_view kBackoffEnd = "BackoffComplete";
  static constexpr std::string_view kFlush = "UnschedulableTimeout";
  static constexpr std::string_view kActivate = "ForceActivate";
  // The label of a pod in flight among the events that are kept for such pods.
  static constexpr std::string_view kPodPopped = "PodPopped";

  // Returns the name of a plugin, without its profile.
  using PluginNames = std::function<std::string_view(PluginId plugin)>;
  // The histograms of the hints of one plugin for one event: of those that skip the event, and of
  // those that requeue the pod.
  using HintSeries = std::array<Histogram*, 2>;

  // `emulated`: the version of kube-scheduler whose labels the series have.
  QueueMeter(QueueMetrics& metrics, const Clock& clock, KubeVersion emulated);
  QueueMeter(const QueueMeter&) = delete;
  QueueMeter& operator=(const QueueMeter&) = delete;

  // Returns the label of an event in all series.
  std::string LabelOf(const QueueEvent& event) const { return EventLabel(event, emulated_); }
  // The label of the arrival of a pod without a node. Lifetime: that of this object.
  std::string_view pod_added() const { return pod_added_; }
  // Counts an entity that enters `to` because of `event`: the label of an event, or one of
  // kube-scheduler's names for other reasons, such as "BackoffComplete".
  void CountIncoming(QueuePlace to, std::string_view event);
  // Adds `by` to the unschedulable pods of each plugin that rejected the entity, once for each pod
  // of it.
  void CountRejected(const QueuedEntity& entity, int64_t by);
  // Publishes the number of entities in each place. `count_in`: returns that of a place.
  void Publish(const std::function<size_t(QueuePlace place)>& count_in);
  // Sets the names of plugins in labels. Without it, the label is the number of the plugin.
  void SetPluginNames(PluginNames name_of) { name_of_ = std::move(name_of); }
  // Returns the series of a plugin's hints for the event with this label.
  // Lifetime: that of this object.
  const HintSeries& HintSeriesOf(PluginId plugin, std::string_view event);
  int64_t NowNs() const { return clock_.NowNs(); }
  // Observes a hint that began at `since_ns`.
  void ObserveHint(const HintSeries& series, bool requeues, int64_t since_ns) const {
    series[requeues ? 1 : 0]->ObserveNs(NowNs() - since_ns);
  }
  // Returns the number of kept events with this label.
  // Lifetime: that of the metrics.
  Gauge& InflightEventsOf(std::string_view event);
  // Counts a pod that was bound after the periodic flush alone had requeued it.
  void CountBoundAfterFlush() { after_flush_.Add(); }

 private:
  std::string NameOf(PluginId plugin) const;
  // Returns the number of pods of the profile that the plugin rejected.
  Gauge& UnschedulableOf(PluginId plugin, std::string_view profile);

  QueueMetrics& metrics_;
  const Clock& clock_;
  const KubeVersion emulated_;
  const std::string pod_added_;
  PluginNames name_of_;
  Counter& after_flush_;
  Gauge& active_;
  Gauge& backoff_;
  Gauge& unschedulable_;
  Gauge& gated_;
  // The counters that were found, by place and event, so that counting takes no lock.
  std::map<QueuePlace, std::map<std::string, Counter*, std::less<>>> incoming_;
  // By profile: the host's own rejectors belong to none.
  std::map<PluginId, std::map<std::string, Gauge*, std::less<>>> rejected_;
  std::map<std::string, Gauge*, std::less<>> inflight_;                       // By event.
  std::map<PluginId, std::map<std::string, HintSeries, std::less<>>> hints_;  // By event.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUE_METER_H_
