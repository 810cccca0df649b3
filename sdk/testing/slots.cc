#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/slots.h>

namespace berth::testing {

Slot::Slot(const berth_slot& slot) : slot_(slot) {
  const size_t align = std::max<size_t>(slot.align, 1);
  memory_ = std::make_unique<std::byte[]>(slot.size + 2 * kGuard + 2 * align);
  const auto start = reinterpret_cast<uintptr_t>(memory_.get()) + kGuard;
  uintptr_t at = (start + 2 * align - 1) / (2 * align) * (2 * align);
  at = at >= start + align ? at - align : at + align;
  data_ = memory_.get() + (at - reinterpret_cast<uintptr_t>(memory_.get()));
  std::memset(data_ - kGuard, kPoison, kGuard + slot.size + kGuard);
}

Slot::~Slot() {
  if (alive_ && slot_.destroy != nullptr) slot_.destroy(data_);
}

void Slot::Construct() {
  if (slot_.construct != nullptr) {
    slot_.construct(data_);
  } else {
    std::memset(data_, 0, slot_.size);
  }
  alive_ = true;
}

berth_code Slot::CloneFrom(const Slot& other) {
  if (slot_.clone == nullptr) {
    std::memcpy(data_, other.data_, slot_.size);
    return alive_ = true, BERTH_SUCCESS;
  }
  const berth_code code = slot_.clone(data_, other.data_);
  alive_ = code == BERTH_SUCCESS;
  return code;
}

bool Slot::GuardsIntact() const {
  const auto intact = [](std::byte b) { return b == std::byte{kPoison}; };
  return std::all_of(data_ - kGuard, data_, intact) &&
         std::all_of(data_ + slot_.size, data_ + slot_.size + kGuard, intact);
}

Slots::Slots(Instance* instance) : instance_(instance), reporter_(instance->reporter()) {
  instance->AddSlots(this);
  const berth_array& wanted = instance->plugin().slots;
  for (uint32_t i = 0; i < wanted.count; ++i) {
    slots_.push_back(std::make_unique<Slot>(*BERTH_AT(berth_slot, wanted, i)));
    pointers_.push_back(slots_.back()->data());
  }
}

Slots::~Slots() { Destroy(); }

void Slots::Destroy() {
  if (instance_ == nullptr) return;
  CheckGuards("the cycle");
  {
    const CallScope scope(&reporter_, "a slot's destroy", kCycle);
    while (!slots_.empty()) slots_.pop_back();
  }
  std::exchange(instance_, nullptr)->RemoveSlots(this);
}

void Slots::Construct() {
  const CallScope scope(&reporter_, "a slot's construct", kCycle);
  for (const auto& slot : slots_) slot->Construct();
}

bool Slots::CloneFrom(const Slots& other) {
  const CallScope scope(&reporter_, "a slot's clone", kCycle);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const berth_code code = slots_[i]->CloneFrom(*other.slots_[i]);
    if (code == BERTH_SUCCESS) continue;
    reporter_.Fail(Check::kSlots,
                   "slot \"" + slots_[i]->type() + "\": clone returns " + CodeName(code));
    return false;
  }
  return true;
}

void Slots::CheckGuards(const std::string& when) const {
  for (const auto& slot : slots_) {
    if (slot->GuardsIntact()) continue;
    reporter_.Fail(Check::kSlots, "slot \"" + slot->type() + "\": " + when +
                                      " writes outside its " +
                                      std::to_string(slot->Bytes().size()) + " bytes");
  }
}

std::vector<std::vector<std::byte>> Slots::Bytes() const {
  std::vector<std::vector<std::byte>> bytes;
  for (const auto& slot : slots_) bytes.push_back(slot->Bytes());
  return bytes;
}

void Slots::CheckUnchanged(const std::vector<std::vector<std::byte>>& before,
                           const std::string& when) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i]->Bytes() == before[i]) continue;
    reporter_.Fail(Check::kSlots, "slot \"" + slots_[i]->type() + "\": " + when +
                                      " changes it, but cycle state is read-only under [block]");
  }
}

}  // namespace berth::testing
