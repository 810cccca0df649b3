// CycleState: owned by the attempt, passed to the binding, and recycled.
#include <gtest/gtest.h>

#include "host/runtime/attempt/plugin_cycle.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

class CycleStateTest : public ::testing::Test {
 protected:
  CycleStateTest() {
    for (const char* name : {"puppet.A", "puppet.B"}) stage_.Add(name, {Point::kReserve});
    stage_.Add("puppet.A", {}).has_slot = true;
    stage_.Add("puppet.B", {}).has_slot = true;
    stage_.Build();
  }

  static int64_t& SlotOf(const berth_binding& binding) {
    return *static_cast<int64_t*>(binding.slots[0]);
  }

  Stage stage_;
};

TEST_F(CycleStateTest, IsDestroyedWithTheAttempt) {
  Attempt& attempt = stage_.Begin();
  EXPECT_EQ(Stage::slots(), 2);
  EXPECT_EQ(*static_cast<int64_t*>(attempt.cycle(0).abi()->slots[0]), 7);
  attempt.End();
  EXPECT_EQ(Stage::slots(), 0);
  attempt.End();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(CycleStateTest, IsNewForEveryAttempt) {
  Attempt& attempt = stage_.Begin();
  *static_cast<int64_t*>(attempt.cycle(0).abi()->slots[0]) = 8;
  stage_.Begin();  // Begins another attempt without End().
  EXPECT_EQ(Stage::slots(), 2);
  EXPECT_EQ(*static_cast<int64_t*>(attempt.cycle(0).abi()->slots[0]), 7);
}

TEST_F(CycleStateTest, BelongsToBindingWhileTheNextAttemptRuns) {
  const auto first = stage_.MakeBinding();
  SlotOf(*first->AbiFor(0, BindingCall::kEnd)) = 11;
  EXPECT_EQ(Stage::slots(), 2);
  const auto second = stage_.MakeBinding();
  EXPECT_EQ(Stage::slots(), 4);
  EXPECT_EQ(SlotOf(*second->AbiFor(0, BindingCall::kEnd)), 7);
  stage_.Begin();
  EXPECT_EQ(Stage::slots(), 6);
  EXPECT_EQ(SlotOf(*first->AbiFor(0, BindingCall::kEnd)), 11);
}

TEST_F(CycleStateTest, TheAttemptStillUsesStateThatWasTaken) {
  Attempt& attempt = stage_.Begin();
  const auto taken = attempt.TakeState();
  EXPECT_EQ(attempt.cycle(1).abi()->slots, taken->of(1).data());
  EXPECT_EQ(*static_cast<int64_t*>(attempt.cycle(1).abi()->slots[0]), 7);
  attempt.End();
  EXPECT_EQ(Stage::slots(), 2);
}

TEST_F(CycleStateTest, RecyclingDestroysTheStateAndReusesTheMemory) {
  auto binding = stage_.MakeBinding();
  void* const* slots = binding->AbiFor(0, BindingCall::kEnd)->slots;
  Attempt& attempt = stage_.Begin();
  attempt.Recycle(binding->TakeState());
  EXPECT_EQ(Stage::slots(), 2);  // The slots of the attempt.
  attempt.Recycle(nullptr);
  attempt.End();
  bool used_again = false;
  for (int i = 0; i < 2; ++i) {
    binding = stage_.MakeBinding();
    used_again = used_again || binding->AbiFor(0, BindingCall::kEnd)->slots == slots;
    stage_.Begin();
  }
  EXPECT_TRUE(used_again);
}

TEST_F(CycleStateTest, IsDestroyedWithTheBinding) {
  stage_.MakeBinding().reset();
  EXPECT_EQ(Stage::slots(), 0);
}

TEST_F(CycleStateTest, CannotBeTakenWhileACallKeepsIt) {
  auto binding = stage_.MakeBinding();
  auto kept = binding->Keep();
  EXPECT_EQ(binding->TakeState(), nullptr);
  const berth_binding& abi = *binding->AbiFor(1, BindingCall::kEnd);
  binding.reset();
  EXPECT_EQ(Stage::slots(), 2);
  EXPECT_EQ(SlotOf(abi), 7);
  EXPECT_EQ(Text(abi.pod->meta->name), "p");
  kept.reset();
  EXPECT_EQ(Stage::slots(), 0);
}

// --- Binding -------------------------------------------------------------------------------------

TEST_F(CycleStateTest, BindingShowsPodAndNodeToEveryPlugin) {
  const auto binding = stage_.MakeBinding();
  ASSERT_EQ(stage_.plan().plugins().size(), 3U);
  for (uint32_t plugin = 0; plugin < 2; ++plugin) {
    const berth_binding& abi = *binding->AbiFor(plugin, BindingCall::kEnd);
    EXPECT_EQ(abi.struct_size, sizeof(berth_binding));
    EXPECT_EQ(abi.pod, &binding->pod()->view());
    EXPECT_EQ(Text(abi.node_name), "n1");
    EXPECT_EQ(Text(abi.node_uid), "uid-n1");
    EXPECT_EQ(abi.call_deadline_ns, 0);
    EXPECT_EQ(abi.completion_deadline_ns, 0);
    EXPECT_FALSE(BERTH_IS_CANCELLED(&abi));
  }
  EXPECT_NE(binding->AbiFor(0, BindingCall::kEnd)->slots,
            binding->AbiFor(1, BindingCall::kEnd)->slots);
}

TEST_F(CycleStateTest, EveryCallHasItsOwnDeadlinesAndCancellation) {
  stage_.Add("puppet.A", {Point::kPreBind, Point::kBind, Point::kPostBind});
  stage_.Build();
  const auto binding = stage_.MakeBinding();
  const berth_binding& pre_bind = *binding->AbiFor(0, BindingCall::kPreBind);
  const berth_binding& bind = *binding->AbiFor(0, BindingCall::kBind);
  const berth_binding& end = *binding->AbiFor(0, BindingCall::kEnd);
  const berth_binding& other = *binding->AbiFor(1, BindingCall::kEnd);
  EXPECT_EQ(pre_bind.slots, bind.slots);
  EXPECT_NE(end.slots, other.slots);
  binding->AbiFor(0, BindingCall::kPreBind)->call_deadline_ns = 5;
  EXPECT_EQ(bind.call_deadline_ns, 0);
  binding->CancelCall(0, BindingCall::kPreBind);
  EXPECT_TRUE(BERTH_IS_CANCELLED(&pre_bind));
  EXPECT_FALSE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kPreFlight)));
  EXPECT_FALSE(BERTH_IS_CANCELLED(&bind));
  EXPECT_FALSE(BERTH_IS_CANCELLED(&end));
  EXPECT_FALSE(binding->cancelled());
  binding->Cancel();
  EXPECT_TRUE(binding->cancelled());
  EXPECT_TRUE(BERTH_IS_CANCELLED(&bind));
  EXPECT_FALSE(BERTH_IS_CANCELLED(&end)) << "Unreserve and PostBind are never cancelled";
  EXPECT_FALSE(BERTH_IS_CANCELLED(&other));
}

}  // namespace
}  // namespace berth::host
