// The cycle state of one pod: the slots of all plugins, from the first point of the attempt to the
// end of the binding.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_CYCLE_STATE_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_CYCLE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/plan/plan.h"

namespace berth::host {

// The slots of one instance, and their memory.
// Lifetime: one attempt, including its binding. The instance must outlive it.
class SlotSet {
 public:
  SlotSet() = default;
  ~SlotSet() { Destroy(); }
  SlotSet(const SlotSet&) = delete;
  SlotSet& operator=(const SlotSet&) = delete;

  // Constructs every slot of the instance. The memory is reused from attempt to attempt.
  void Construct(const PlannedPlugin& plugin);
  // Constructs every slot as a clone of `other`'s. Errors: Internal when the plugin cannot clone.
  Status CloneFrom(const SlotSet& other);
  void Destroy();
  // Never destroys the slots, because a plugin still uses them.
  void Abandon() { plugin_ = nullptr; }

  // Returns the slots in the order of berth_plugin.slots.
  void* const* data() const { return slots_.data(); }

 private:
  void Reserve(const PlannedPlugin& plugin);

  const PlannedPlugin* plugin_ = nullptr;  // Null: nothing is constructed.
  size_t constructed_ = 0;
  std::vector<void*> slots_;
  std::unique_ptr<std::byte[]> memory_;
  size_t memory_size_ = 0;
};

// One SlotSet per plugin of a plan, in its order.
// Threading: constructed, cloned and destroyed on the scheduling thread.
// Lifetime:  the destruction of the plan destroys the slots; afterwards it must not be used.
class CycleState final : public InstanceSlots {
 public:
  explicit CycleState(const Plan& plan);
  ~CycleState();
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  // Constructs the slots of every plugin.
  void Construct();
  SlotSet& of(uint32_t plugin) { return slots_[plugin]; }
  const SlotSet& of(uint32_t plugin) const { return slots_[plugin]; }
  void Destroy();
  void Destroy(const std::vector<bool>& abandoned) override;

 private:
  const Plan& plan_;
  const std::shared_ptr<std::set<InstanceSlots*>> live_slots_;  // Plan::slots().
  std::vector<SlotSet> slots_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_CYCLE_STATE_H_
