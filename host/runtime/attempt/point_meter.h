// Observes how long the extension points and plugins of one profile take.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_POINT_METER_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_POINT_METER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/base/metrics.h"
#include "host/guard/point.h"
#include "host/plan/instance_context.h"

namespace berth::host {

// --- point metrics -------------------------------------------------------------------------------
//
// The metrics of the extension points. The names, labels and buckets are kube-scheduler's.

// Threading: any.
struct PointMetrics {
  explicit PointMetrics(MetricTable& the_table) : table(the_table) {}

  MetricTable& table;
  HistogramFamily& point_seconds = table.AddHistogram(
      "scheduler_framework_extension_point_duration_seconds",
      "The duration of all plugins of an extension point.",
      {"extension_point", "status", "profile"}, ExponentialBounds(0.0001, 2, 12));
  // One cycle in ten is measured, chosen by its number, so that no random number is drawn.
  HistogramFamily& plugin_seconds = table.AddHistogram(
      "scheduler_plugin_execution_duration_seconds",
      "The duration of a plugin at an extension point, measured in one cycle of ten.",
      {"plugin", "extension_point", "status"}, ExponentialBounds(0.00001, 1.5, 20));
  CounterFamily& evaluations = table.AddCounter(
      "scheduler_plugin_evaluation_total",
      "The number of attempts in which a plugin was called at PreFilter, Filter, PreScore or "
      "Score.",
      {"plugin", "extension_point", "profile"});
};

// --- point meter ---------------------------------------------------------------------------------

// The functions that kube-scheduler lists as extension points of their own, besides those of Point.
enum class MeteredPoint : uint8_t {
  kPreFilter = static_cast<uint8_t>(Point::kPreFilter),
  kFilter = static_cast<uint8_t>(Point::kFilter),
  kPostFilter = static_cast<uint8_t>(Point::kPostFilter),
  kPreScore = static_cast<uint8_t>(Point::kPreScore),
  kScore = static_cast<uint8_t>(Point::kScore),
  kReserve = static_cast<uint8_t>(Point::kReserve),
  kPermit = static_cast<uint8_t>(Point::kPermit),
  kPreBind = static_cast<uint8_t>(Point::kPreBind),
  kBind = static_cast<uint8_t>(Point::kBind),
  kPostBind = static_cast<uint8_t>(Point::kPostBind),
  kUnreserve = kPointCount,
  kPreBindPreFlight = kPointCount + 1,
};

// Returns the label "extension_point": "Filter", "PreBindPreFlight".
std::string_view LabelOf(MeteredPoint point);

// Keeps the instruments that it has found, so that an observation takes no lock.
// Threading: the scheduling thread.
// Lifetime:  metrics and clock must outlive it.
class PointMeter {
 public:
  PointMeter(PointMetrics& metrics, const Clock& clock, std::string profile)
      : metrics_(metrics), clock_(clock), profile_(std::move(profile)) {}
  PointMeter(const PointMeter&) = delete;
  PointMeter& operator=(const PointMeter&) = delete;

  // The duration of every call of a plugin is observed in one attempt of ten.
  static bool IsSampled(uint64_t attempt) { return attempt % 10 == 0; }

  int64_t NowNs() const { return clock_.NowNs(); }
  // Observes all plugins of the point, from `since_ns` until now.
  void ObservePoint(MeteredPoint point, berth_code code, int64_t since_ns);
  // Observes one call of a plugin, from `since_ns` until now.
  void ObserveCall(PluginId id, std::string_view plugin, Point point, berth_code code,
                   int64_t since_ns);
  // Counts an attempt in which the plugin was called at PreFilter, Filter, PreScore or Score.
  // `called`: the bits 1 << Point of the points at which it was called.
  void CountCalls(PluginId id, std::string_view plugin, uint32_t called);

 private:
  // Points by code. The codes of attempts are below 8.
  static constexpr size_t kCodes = 8;
  static constexpr size_t kMeteredPoints = kPointCount + 2;

  PointMetrics& metrics_;
  const Clock& clock_;
  const std::string profile_;
  std::array<std::array<Histogram*, kCodes>, kMeteredPoints> points_{};
  // By plugin, point and code.
  std::unordered_map<uint64_t, Histogram*> calls_;
  // By plugin and point.
  std::unordered_map<uint64_t, Counter*> evaluations_;
};

// Calls `run`, which runs all plugins of the point and returns the code of the result, and observes
// it. `meter` may be null.
template <class F>
void Metered(PointMeter* meter, MeteredPoint point, F&& run) {
  const int64_t since_ns = meter != nullptr ? meter->NowNs() : 0;
  const berth_code code = run();
  if (meter != nullptr) meter->ObservePoint(point, code, since_ns);
}

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_POINT_METER_H_
