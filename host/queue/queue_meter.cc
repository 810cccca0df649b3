#include "host/queue/queue_meter.h"

#include <vector>

namespace berth::host {

// --- queue metrics -------------------------------------------------------------------------------

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

QueueMeter::QueueMeter(QueueMetrics& metrics, const Clock& clock, KubeVersion emulated)
    : metrics_(metrics),
      clock_(clock),
      emulated_(emulated),
      pod_added_(LabelOf({.resource = BERTH_RESOURCE_UNSCHEDULED_POD, .action = BERTH_ACTION_ADD})),
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
  const std::vector<PluginId> plugins = entity.rejection().All();
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
