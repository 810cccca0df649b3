#include "host/guard/point.h"

#include <algorithm>

namespace berth::host {

const PointInfo* FindPoint(std::string_view id) {
  const auto found = std::ranges::find(
      kPoints, id, [](const PointInfo& info) { return std::string_view(info.id); });
  return found == kPoints.end() ? nullptr : &*found;
}

}  // namespace berth::host
