#include <memory>
#include <mutex>
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

berth_id Ids::Intern(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  const auto id = static_cast<berth_id>(texts_.size());
  ids_.emplace(texts_.back(), id);
  return id;
}

berth_id Ids::Find(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  const auto found = ids_.find(text);
  return found == ids_.end() ? 0 : found->second;
}

std::string_view Ids::Text(berth_id id) const {
  const std::lock_guard lock(mutex_);
  return id == 0 || id > texts_.size() ? std::string_view() : std::string_view(texts_[id - 1]);
}

bool Ids::Knows(berth_id id) const {
  const std::lock_guard lock(mutex_);
  return id != 0 && id <= texts_.size();
}

}  // namespace berth::testing
