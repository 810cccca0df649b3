#include "host/runtime/attempt/cycle_state.h"

#include <cstring>

#include "host/plan/invoke.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

constexpr size_t kSlotAlignment = 64;

size_t RoundUp(size_t size) {
  return (size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

bool Clone(const PlannedPlugin& plugin, const berth_slot& slot, void* to, const void* from) {
  const berth_code code = Invoke(*plugin.host, kCycleState, [&] { return slot.clone(to, from); });
  if (code != BERTH_SUCCESS) NoteBadCode(plugin, kCycleState, code, "clone");
  return code == BERTH_SUCCESS;
}

}  // namespace

void SlotSet::Reserve(const PlannedPlugin& plugin) {
  const auto slots = plugin.instance->slots();
  size_t size = kSlotAlignment;
  for (const berth_slot& slot : slots) size += RoundUp(slot.size);
  if (size > memory_size_) {
    memory_ = std::make_unique<std::byte[]>(size);
    memory_size_ = size;
  }
  slots_.clear();
  auto address = RoundUp(reinterpret_cast<uintptr_t>(memory_.get()));
  for (const berth_slot& slot : slots) {
    slots_.push_back(reinterpret_cast<void*>(address));
    address += RoundUp(slot.size);
  }
  plugin_ = &plugin;
}

void SlotSet::Construct(const PlannedPlugin& plugin) {
  Destroy();
  if (plugin.instance->slots().empty()) return;
  Reserve(plugin);
  for (const berth_slot& slot : plugin.instance->slots()) {
    void* at = slots_[constructed_++];
    if (slot.construct != nullptr) {
      Invoke(*plugin.host, kCycleState, [&] { slot.construct(at); });
    } else {
      std::memset(at, 0, slot.size);
    }
  }
}

Status SlotSet::CloneFrom(const SlotSet& other) {
  Destroy();
  if (other.plugin_ == nullptr) return {};
  Reserve(*other.plugin_);
  for (const berth_slot& slot : plugin_->instance->slots()) {
    void* to = slots_[constructed_];
    const void* from = other.slots_[constructed_];
    if (slot.clone == nullptr) {
      std::memcpy(to, from, slot.size);
    } else if (!Clone(*plugin_, slot, to, from)) {
      return Status::Internal("plugin " + plugin_->name + " could not clone its cycle state");
    }
    ++constructed_;
  }
  return {};
}

void SlotSet::Destroy() {
  if (plugin_ == nullptr) return;
  const auto slots = plugin_->instance->slots();
  while (constructed_ > 0) {
    --constructed_;
    const berth_slot& slot = slots[constructed_];
    if (slot.destroy == nullptr) continue;
    Invoke(*plugin_->host, kCycleState, [&] { slot.destroy(slots_[constructed_]); });
  }
  plugin_ = nullptr;
}

CycleState::CycleState(const Plan& plan)
    : plan_(plan), live_slots_(plan.slots()), slots_(plan.plugins().size()) {
  live_slots_->insert(this);
}

CycleState::~CycleState() { live_slots_->erase(this); }

void CycleState::Construct() {
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].Construct(plan_.plugins()[i]);
}

void CycleState::Destroy() {
  for (SlotSet& slots : slots_) slots.Destroy();
}

void CycleState::Destroy(const std::vector<bool>& abandoned) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (abandoned[i]) slots_[i].Abandon();
  }
  Destroy();
}

}  // namespace berth::host
