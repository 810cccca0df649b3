#include "host/queue/queue_meter.h"

#include <cstdint>

namespace berth::host {

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

QueueMeter::QueueMeter(QueueMetrics& metrics)
    : metrics_(metrics),
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
