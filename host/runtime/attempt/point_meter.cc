#include "host/runtime/attempt/point_meter.h"

#include "host/base/status_sink.h"

namespace berth::host {

// --- point metrics -------------------------------------------------------------------------------

PointMetrics::PointMetrics(MetricTable& table)
    : point_seconds(table.AddHistogram("scheduler_framework_extension_point_duration_seconds",
                                       "The duration of all plugins of an extension point.",
                                       {"extension_point", "status", "profile"},
                                       ExponentialBounds(0.0001, 2, 12))),
      plugin_seconds(table.AddHistogram(
          "scheduler_plugin_execution_duration_seconds",
          "The duration of a plugin at an extension point, measured in one cycle of ten.",
          {"plugin", "extension_point", "status"}, ExponentialBounds(0.00001, 1.5, 20))),
      evaluations(table.AddCounter(
          "scheduler_plugin_evaluation_total",
          "The number of attempts in which a plugin was called at PreFilter, Filter, PreScore or "
          "Score.",
          {"plugin", "extension_point", "profile"})),
      permit_seconds(table.AddHistogram("scheduler_permit_wait_duration_seconds",
                                        "The time that a pod waited on Permit.", {"result"},
                                        ExponentialBounds(0.001, 2, 15))),
      victims(table.AddHistogram("scheduler_preemption_victims",
                                 "The number of pods that one preemption selected for eviction.",
                                 {}, ExponentialBounds(1, 2, 7))),
      preemptions(table.AddCounter("scheduler_preemption_attempts_total",
                                   "The number of attempts to preempt pods.", {})) {}

namespace {

constexpr std::array kEvaluations = {Point::kPreFilter, Point::kFilter, Point::kPreScore,
                                     Point::kScore};

uint64_t KeyOf(PluginId id, Point point, berth_code code) {
  return static_cast<uint64_t>(id) << 16 | static_cast<uint64_t>(point) << 8 |
         (static_cast<uint64_t>(code) & 0xFF);
}

}  // namespace

std::string_view LabelOf(MeteredPoint point) {
  if (point == MeteredPoint::kUnreserve) return "Unreserve";
  if (point == MeteredPoint::kPreBindPreFlight) return "PreBindPreFlight";
  return NameOf(static_cast<Point>(point));
}

void PointMeter::ObservePoint(MeteredPoint point, berth_code code, int64_t since_ns) {
  const int64_t took_ns = NowNs() - since_ns;
  const auto find = [&] {
    return &metrics_.point_seconds.With({LabelOf(point), CodeName(code), profile_});
  };
  if (static_cast<size_t>(code) >= kCodes) return find()->ObserveNs(took_ns);
  Histogram*& kept = points_[static_cast<size_t>(point)][static_cast<size_t>(code)];
  if (kept == nullptr) kept = find();
  kept->ObserveNs(took_ns);
}

void PointMeter::ObserveCall(PluginId id, std::string_view plugin, Point point, berth_code code,
                             int64_t since_ns) {
  const int64_t took_ns = NowNs() - since_ns;
  Histogram*& kept = calls_[KeyOf(id, point, code)];
  if (kept == nullptr) {
    kept = &metrics_.plugin_seconds.With({plugin, NameOf(point), CodeName(code)});
  }
  kept->ObserveNs(took_ns);
}

void PointMeter::CountCalls(PluginId id, std::string_view plugin, uint32_t called) {
  for (const Point point : kEvaluations) {
    if ((called & 1U << static_cast<uint32_t>(point)) == 0) continue;
    Counter*& kept = evaluations_[KeyOf(id, point, BERTH_SUCCESS)];
    if (kept == nullptr) kept = &metrics_.evaluations.With({plugin, NameOf(point), profile_});
    kept->Add();
  }
}

}  // namespace berth::host
