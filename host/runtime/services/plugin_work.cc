#include "host/runtime/services/plugin_work.h"

#include "host/base/assert.h"

namespace berth::host {

void PluginWork::OnTimerStarted(PluginId plugin, int64_t at_ns) {
  due_ns_.insert(at_ns);
  ++timers_[plugin];
}

void PluginWork::OnTimerEnded(PluginId plugin, int64_t at_ns) {
  const auto due = due_ns_.find(at_ns);
  const auto count = timers_.find(plugin);
  BERTH_ASSERT(due != due_ns_.end() && count != timers_.end());
  due_ns_.erase(due);
  if (--count->second == 0) timers_.erase(count);
}

uint64_t PluginWork::Hold(PluginId plugin) {
  const std::scoped_lock lock(mutex_);
  holds_.emplace(++last_hold_, plugin);
  return last_hold_;
}

void PluginWork::Release(uint64_t hold) {
  {
    const std::scoped_lock lock(mutex_);
    const size_t released = holds_.erase(hold);
    BERTH_ASSERT(released == 1);
  }
  if (waker_ != nullptr) waker_->Wake();
}

std::optional<int64_t> PluginWork::NextTimerNs() const {
  if (due_ns_.empty()) return std::nullopt;
  return *due_ns_.begin();
}

uint64_t PluginWork::NewestHold() const {
  const std::scoped_lock lock(mutex_);
  return holds_.empty() ? 0 : holds_.rbegin()->first;
}

std::map<PluginId, PluginWork::Counts> PluginWork::CountByPlugin() const {
  std::map<PluginId, Counts> counts;
  for (const auto& [plugin, timers] : timers_) counts[plugin].timers = timers;
  const std::scoped_lock lock(mutex_);
  for (const auto& [hold, plugin] : holds_) ++counts[plugin].holds;
  return counts;
}

}  // namespace berth::host
