#include "host/runtime/attempt/point_meter.h"

#include "host/base/status_sink.h"

namespace berth::host {

// --- point metrics -------------------------------------------------------------------------------

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
