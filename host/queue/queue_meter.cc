#include "host/queue/queue_meter.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace berth::host {

// --- queue metrics -------------------------------------------------------------------------------

QueueMetrics::QueueMetrics(MetricTable& table)
    : incoming_pods(table.AddCounter(
          "scheduler_queue_incoming_pods_total",
          "The number of pods that entered a place of the scheduling queue, by the event.",
          {"queue", "event"})),
      pending_pods(table.AddGauge(
          "scheduler_pending_pods",
          "The number of pods in each place of the scheduling queue: active, backoff, "
          "unschedulable, gated.",
          {"queue"})),
      unschedulable_pods(table.AddGauge(
          "scheduler_unschedulable_pods",
          "The number of unschedulable pods that a plugin rejected. A pod counts once for each "
          "plugin that rejected it.",
          {"plugin", "profile"})),
      after_flush(table.AddCounter(
          "scheduler_pod_scheduled_after_flush_total",
          "The number of pods that were scheduled after the scheduling queue tried them again "
          "because they had waited too long. It grows if a plugin does not register an event or if "
          "its hint skips one.",
          {})),
      hint_seconds(table.AddHistogram("scheduler_queueing_hint_execution_duration_seconds",
                                      "The duration of a call of a queueing hint.",
                                      {"plugin", "event", "hint"},
                                      ExponentialBounds(0.00001, 1.5, 20))),
      inflight_events(table.AddGauge(
          "scheduler_inflight_events",
          "The number of events that the scheduling queue keeps for attempts under way.",
          {"event"})) {}

std::string_view QueueLabelOf(QueuePlace place) {
  switch (place) {
    case QueuePlace::kActive: return "active";
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: return "backoff";
    case QueuePlace::kUnschedulable: return "unschedulable";
    case QueuePlace::kGated: return "gated";
    case QueuePlace::kInFlight: break;
  }
  return "";
}

QueueMeter::QueueMeter(QueueMetrics& metrics, const Clock& clock)
    : metrics_(metrics),
      clock_(clock),
      after_flush_(metrics.after_flush.With({})),
      active_(metrics.pending_pods.With({"active"})),
      backoff_(metrics.pending_pods.With({"backoff"})),
      unschedulable_(metrics.pending_pods.With({"unschedulable"})),
      gated_(metrics.pending_pods.With({"gated"})) {}

void QueueMeter::CountIncoming(QueuePlace to, std::string_view event) {
  const std::string_view queue = QueueLabelOf(to);
  if (queue.empty()) return;
  auto& counters = incoming_[to];
  auto found = counters.find(event);
  if (found == counters.end()) {
    found = counters.emplace(event, &metrics_.incoming_pods.With({queue, event})).first;
  }
  found->second->Add();
}

std::string QueueMeter::NameOf(PluginId plugin) const {
  return name_of_ ? std::string(name_of_(plugin)) : std::to_string(plugin);
}

Gauge& QueueMeter::UnschedulableOf(PluginId plugin, std::string_view profile) {
  auto& series = rejected_[plugin];
  const auto known = series.find(profile);
  if (known != series.end()) return *known->second;
  Gauge& made = metrics_.unschedulable_pods.With({NameOf(plugin), profile});
  return *series.emplace(profile, &made).first->second;
}

void QueueMeter::CountRejected(const QueuedEntity& entity, int64_t by) {
  if (entity.rejection().empty()) return;
  std::vector<PluginId> plugins;  // Those in both lists once.
  std::ranges::set_union(entity.rejection().plugins, entity.rejection().pending,
                         std::back_inserter(plugins));
  entity.ForEachPod([&](const PodRef& pod) {
    for (const PluginId plugin : plugins) UnschedulableOf(plugin, pod->scheduler_name()).Add(by);
  });
}

// A series is listed from its first hint on, also while it has no observation of the other result.
const QueueMeter::HintSeries& QueueMeter::HintSeriesOf(PluginId plugin, std::string_view event) {
  auto& series = hints_[plugin];
  const auto known = series.find(event);
  if (known != series.end()) return known->second;
  const std::string name = NameOf(plugin);
  const HintSeries made = {&metrics_.hint_seconds.With({name, event, "QueueSkip"}),
                           &metrics_.hint_seconds.With({name, event, "Queue"})};
  return series.emplace(event, made).first->second;
}

Gauge& QueueMeter::InflightEventsOf(std::string_view event) {
  const auto known = inflight_.find(event);
  if (known != inflight_.end()) return *known->second;
  return *inflight_.emplace(event, &metrics_.inflight_events.With({event})).first->second;
}

void QueueMeter::Publish(const std::function<size_t(QueuePlace place)>& count_in) {
  const auto count = [&count_in](QueuePlace place) {
    return static_cast<int64_t>(count_in(place));
  };
  active_.Set(count(QueuePlace::kActive));
  backoff_.Set(count(QueuePlace::kBackoff) + count(QueuePlace::kErrorBackoff));
  unschedulable_.Set(count(QueuePlace::kUnschedulable));
  gated_.Set(count(QueuePlace::kGated));
}

}  // namespace berth::host
