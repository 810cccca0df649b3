#include "host/guard/point.h"

#include <algorithm>
#include <utility>

namespace berth::host {

const PointInfo* FindPoint(std::string_view id) {
  const auto found = std::ranges::find_if(kPoints, [id](const PointInfo& info) {
    return info.id == id || (info.newer_id != nullptr && info.newer_id == id);
  });
  return found == kPoints.end() ? nullptr : &*found;
}

std::vector<std::string> CalledPoints(std::span<const std::string> ids) {
  std::vector<std::string> called;
  for (const std::string& id : ids) {
    const PointInfo* info = FindPoint(id);
    if (info == nullptr) continue;
    const bool has_newer = info->newer_id != nullptr && id != info->newer_id &&
                           std::ranges::find(ids, info->newer_id) != ids.end();
    if (!has_newer) called.push_back(id);
  }
  return called;
}

std::vector<std::string> PointNames(std::span<const std::string> ids) {
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const PointInfo* info = FindPoint(id);
    std::string name = info == nullptr ? id : std::string(info->name);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

bool HasPoint(std::span<const std::string> ids, Point point) {
  return std::ranges::any_of(ids, [point](const std::string& id) {
    const PointInfo* info = FindPoint(id);
    return info != nullptr && info->point == point;
  });
}

}  // namespace berth::host
