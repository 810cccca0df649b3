#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/ids.h>

namespace berth::testing {

std::string_view FromAbi(berth_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

void LiveViews::Add(const berth_tagged& view, std::weak_ptr<const void> owner) {
  const std::lock_guard lock(mutex_);
  views_[view.object] = {view.kind, std::move(owner)};
}

void LiveViews::Remove(const void* view) {
  const std::lock_guard lock(mutex_);
  views_.erase(view);
}

std::shared_ptr<const void> LiveViews::Find(const berth_tagged& view) const {
  const std::lock_guard lock(mutex_);
  const auto found = views_.find(view.object);
  if (found == views_.end() || found->second.kind != view.kind) return nullptr;
  return found->second.owner.lock();
}

uint64_t LiveViews::NextVersion() {
  const std::lock_guard lock(mutex_);
  return ++last_version_;
}

berth_id Ids::Intern(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_text_.find(text); found != by_text_.end()) {
    ++live_.find(found->second)->second.uses;
    return found->second;
  }
  const auto entry = live_.emplace(++last_, Entry{std::string(text), 1}).first;
  by_text_.emplace(entry->second.text, last_);
  return last_;
}

void Ids::Release(std::span<const berth_id> ids) {
  if (ids.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const berth_id id : ids) {
    const auto entry = live_.find(id);
    if (entry != live_.end() && --entry->second.uses == 0) Drop(entry);
  }
}

// REQUIRES: mutex_ is held.
void Ids::Drop(Entries::iterator entry) {
  by_text_.erase(entry->second.text);
  if (!keeps_dropped_) {
    live_.erase(entry);
    return;
  }
  dropped_order_.push_back(entry->first);
  dropped_.insert(live_.extract(entry));
  if (dropped_order_.size() <= kMostDropped) return;
  dropped_.erase(dropped_order_.front());
  dropped_order_.pop_front();
}

berth_id Ids::Find(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? 0 : found->second;
}

std::string_view Ids::Text(berth_id id) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  return found == live_.end() ? std::string_view() : std::string_view(found->second.text);
}

bool Ids::Knows(berth_id id) const {
  const std::lock_guard lock(mutex_);
  return live_.count(id) != 0;
}

std::optional<std::string> Ids::DroppedText(berth_id id) const {
  const std::lock_guard lock(mutex_);
  const auto found = dropped_.find(id);
  return found == dropped_.end() ? std::nullopt : std::optional(found->second.text);
}

size_t Ids::size() const {
  const std::lock_guard lock(mutex_);
  return live_.size();
}

}  // namespace berth::testing
