#include "host/base/log.h"

#include <algorithm>
#include <cstddef>

namespace berth::host {

std::string_view LogLevelName(uint32_t level) {
  return kLogLevels[std::min<size_t>(level, kLogLevels.size() - 1)].first;
}

std::optional<uint32_t> FindLogLevel(std::string_view name) {
  for (const auto& [known, level] : kLogLevels) {
    if (known == name) return level;
  }
  return std::nullopt;
}

uint32_t LowestLevel(const LogSink* sink) {
  if (sink == nullptr) return BERTH_LOG_OFF;
  for (const auto& [name, level] : kLogLevels) {
    if (sink->IsOn(level)) return level;
  }
  return BERTH_LOG_OFF;
}

}  // namespace berth::host
