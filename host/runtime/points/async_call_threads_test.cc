// PreBind and Bind on threads of the pool and on threads of plugins.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/guard/bind_pool.h"
#include "host/guard/call_watchdog.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/points/run_bind.h"
#include "host/runtime/points/run_pre_bind.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::Each;

// A gate that opens once.
class Gate {
 public:
  void Open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    condition_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool is_open_ = false;
};

class AsyncCallThreadsTest : public ::testing::Test {
 protected:
  // Drains the inbox, as the scheduling thread does, until `count` runs have finished.
  void AwaitEnds(size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ends_.size() < count && std::chrono::steady_clock::now() < end) {
      if (stage_.inbox().Drain() == 0) std::this_thread::yield();
    }
    ASSERT_EQ(ends_.size(), count);
  }
  auto End() {
    return [this](const PluginStatus& status) { ends_.push_back(TextOf(status)); };
  }

  Stage stage_;
  std::vector<std::string> ends_;
};

// The completion races with the return of the call, and with a second completion.
TEST_F(AsyncCallThreadsTest, CompletedByThreadsOfThePlugin) {
  std::vector<std::thread> threads;
  Puppet& puppet = stage_.Add("puppet.A", {Point::kBind});
  puppet.has_slot = true;
  puppet.bind = [&](const berth_binding& binding, berth_done done, berth_status*) {
    threads.emplace_back([&binding, done] {
      *static_cast<int64_t*>(binding.slots[0]) += 1;
      Stage::Complete(done, {BERTH_ERROR, {"the network is unreachable"}});
    });
    threads.emplace_back([done] {
      Stage::Complete(done, {BERTH_ERROR, {"the network is unreachable"}});
    });
    return BERTH_PENDING;
  };
  stage_.Build();
  constexpr size_t kPods = 200;
  std::vector<std::unique_ptr<Binding>> bindings;
  std::vector<std::unique_ptr<BindRun>> runs;
  for (size_t i = 0; i < kPods; ++i) {
    bindings.push_back(stage_.MakeBinding());
    runs.push_back(std::make_unique<BindRun>(*bindings.back(), stage_.calls(), End()));
    runs.back()->Start();
    stage_.inbox().Drain();
  }
  AwaitEnds(kPods);
  EXPECT_THAT(ends_, Each("Error: running Bind plugin \"puppet.A\": the network is unreachable"));
  for (std::thread& thread : threads) thread.join();
  runs.clear();
  bindings.clear();
  stage_.Drain();
  EXPECT_EQ(Stage::slots(), 0);
}

// A plugin may return an answer and also complete its promise.
TEST_F(AsyncCallThreadsTest, ReturnedAndCompleted) {
  std::vector<std::thread> threads;
  stage_.Add("puppet.A", {Point::kPreBind}).pre_bind = [&](const berth_binding&, berth_done done,
                                                           berth_status*) {
    threads.emplace_back([done] { Stage::Complete(done, {BERTH_SUCCESS}); });
    return BERTH_SUCCESS;
  };
  stage_.Build();
  constexpr size_t kPods = 200;
  for (size_t i = 0; i < kPods; ++i) {
    const auto binding = stage_.MakeBinding();
    PreBindRun run(*binding, stage_.calls(), {}, End());
    run.Start();
    AwaitEnds(i + 1);
  }
  for (std::thread& thread : threads) thread.join();
  stage_.Drain();
  EXPECT_EQ(ends_.size(), kPods);
  EXPECT_THAT(ends_, Each("Success"));
}

TEST_F(AsyncCallThreadsTest, BlockingPluginsRunInParallel) {
  std::atomic<int> inside = 0;
  const auto scheduling_thread = std::this_thread::get_id();
  for (const char* name : {"puppet.Slow", "puppet.Slower"}) {
    Puppet& puppet = stage_.Add(name, {Point::kPreBind});
    puppet.has_slot = true;
    puppet.is_parallel = true;
    puppet.pre_bind = [&](const berth_binding& binding, berth_done, berth_status*) {
      EXPECT_NE(std::this_thread::get_id(), scheduling_thread);
      *static_cast<int64_t*>(binding.slots[0]) = 8;
      // Each waits until the other has started.
      ++inside;
      while (inside < 2) std::this_thread::yield();
      return BERTH_SUCCESS;
    };
  }
  stage_.Build();
  BindPool pool(2);
  stage_.calls().pool = &pool;
  auto binding = stage_.MakeBinding();
  PreBindRun run(*binding, stage_.calls(), {}, End());
  run.Start();
  AwaitEnds(1);
  EXPECT_THAT(ends_, Each("Success"));
  EXPECT_NE(binding->TakeState(), nullptr);
}

TEST_F(AsyncCallThreadsTest, ManyCallsOnFewThreads) {
  std::atomic<int> calls = 0;
  stage_.Add("puppet.Slow", {Point::kBind}).bind = [&](const berth_binding&, berth_done done,
                                                       berth_status* status) {
    // Every third call completes its answer instead of returning it, every fifth does both.
    const int call = ++calls;
    const ScriptedAnswer given{call % 2 == 0 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE, {"no"}};
    if (call % 3 == 0 || call % 5 == 0) Stage::Complete(done, given);
    return call % 3 == 0 ? BERTH_PENDING : Report(given, status);
  };
  stage_.Build();
  BindPool pool(4);
  stage_.calls().pool = &pool;
  constexpr size_t kPods = 300;
  std::vector<std::unique_ptr<Binding>> bindings;
  std::vector<std::unique_ptr<BindRun>> runs;
  for (size_t i = 0; i < kPods; ++i) {
    bindings.push_back(stage_.MakeBinding());
    runs.push_back(std::make_unique<BindRun>(*bindings.back(), stage_.calls(), End()));
    runs.back()->Start();
  }
  AwaitEnds(kPods);
  EXPECT_EQ(std::ranges::count(ends_, "Success: no"), static_cast<ptrdiff_t>(kPods / 2));
  EXPECT_EQ(std::ranges::count(ends_, "Unschedulable: no"), static_cast<ptrdiff_t>(kPods / 2));
}

// A call that outlasts the binding, the deadline and the run keeps its binding alive, and the
// scheduling thread destroys its slots.
TEST_F(AsyncCallThreadsTest, AnAbandonedBlockedCall) {
  Gate began;
  Gate may_end;
  std::string seen;
  Puppet& puppet = stage_.Add("puppet.Slow", {Point::kPreBind});
  puppet.has_slot = true;
  puppet.pre_bind = [&](const berth_binding& binding, berth_done, berth_status*) {
    began.Open();
    may_end.Wait();
    while (!BERTH_IS_CANCELLED(&binding)) std::this_thread::yield();
    seen = std::string(Text(binding.pod->meta->name)) + ">" + std::string(Text(binding.node_name));
    *static_cast<int64_t*>(binding.slots[0]) = 9;
    return BERTH_SUCCESS;
  };
  stage_.Build();
  auto pool = std::make_unique<BindPool>(1);
  stage_.calls().pool = pool.get();
  stage_.calls().deadline_ns = kSecond;
  auto binding = stage_.MakeBinding();
  auto run = std::make_unique<PreBindRun>(*binding, stage_.calls(), std::vector<uint32_t>(), End());
  run->Start();
  began.Wait();
  stage_.AdvanceTime(5 * kSecond);
  AwaitEnds(1);
  EXPECT_THAT(ends_[0], ::testing::StartsWith(
                            "Error: running PreBind plugin \"puppet.Slow\": no answer within "));
  EXPECT_THAT(stage_.Faults(), ::testing::ElementsAre("puppet.Slow PreBind deadline"));
  run.reset();
  EXPECT_EQ(binding->TakeState(), nullptr);
  binding.reset();
  EXPECT_EQ(Stage::slots(), 1);
  EXPECT_EQ(stage_.monitor().abandoned(), 1U);
  may_end.Open();
  while (stage_.monitor().abandoned() > 0) std::this_thread::yield();
  pool.reset();
  EXPECT_EQ(seen, "p>n1");
  EXPECT_EQ(Stage::slots(), 1);
  stage_.Drain();
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(ends_.size(), 1U);
}

// A process destroys bindings, pool and plan in this order.
TEST_F(AsyncCallThreadsTest, ShutdownDuringCalls) {
  Gate began;
  Puppet& slow = stage_.Add("puppet.Slow", {Point::kPreBind});
  slow.has_slot = true;
  slow.pre_bind = [&](const berth_binding& binding, berth_done, berth_status*) {
    began.Open();
    while (!BERTH_IS_CANCELLED(&binding)) std::this_thread::yield();
    return BERTH_CANCELLED;
  };
  stage_.Add("puppet.A", {Point::kBind}).bind = [](const berth_binding&, berth_done,
                                                   berth_status*) { return BERTH_PENDING; };
  stage_.Build();
  auto pool = std::make_unique<BindPool>(1);
  stage_.calls().pool = pool.get();
  std::vector<std::unique_ptr<Binding>> bindings;
  std::vector<std::unique_ptr<PreBindRun>> runs;
  for (int i = 0; i < 8; ++i) {
    bindings.push_back(stage_.MakeBinding());
    runs.push_back(std::make_unique<PreBindRun>(*bindings.back(), stage_.calls(),
                                                std::vector<uint32_t>(), End()));
    runs.back()->Start();
  }
  auto pending = stage_.MakeBinding();
  auto bind = std::make_unique<BindRun>(*pending, stage_.calls(), End());
  bind->Start();
  began.Wait();
  for (const auto& binding : bindings) binding->Cancel();
  bind.reset();
  runs.clear();
  pending.reset();
  bindings.clear();
  pool.reset();
  stage_.DestroyPlan();  // Answers still wait in the inbox.
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_TRUE(ends_.empty());
}

// A call that never ends occupies its thread, but blocks neither the next call nor the destruction
// of the pool and the plan.
TEST_F(AsyncCallThreadsTest, ACallThatNeverEndsBlocksNothingElse) {
  constexpr int64_t kDeadline = kSecond;
  // The thread may still use them when the test has ended.
  const auto began = std::make_shared<Gate>();
  const auto may_end = std::make_shared<Gate>();
  const auto ended = std::make_shared<Gate>();
  std::atomic<bool> was_quiesced = false;
  Puppet& stuck = stage_.Add("puppet.Slow", {Point::kPreBind});
  stuck.has_slot = true;
  stuck.quiesce = [&] { was_quiesced = true; };
  stuck.pre_bind = [=](const berth_binding& binding, berth_done done, berth_status* status) {
    began->Open();
    may_end->Wait();
    // The binding still exists.
    EXPECT_EQ(Text(binding.pod->meta->name), "p");
    EXPECT_EQ(*static_cast<int64_t*>(binding.slots[0]), 7);
    Stage::Complete(done, {BERTH_SUCCESS});
    Report({BERTH_ERROR, {"late"}}, status);
    ended->Open();
    return BERTH_ERROR;
  };
  stage_.Add("puppet.Slower", {Point::kBind});
  stage_.Build();
  auto pool = std::make_unique<BindPool>(1, std::chrono::milliseconds(10));
  stage_.calls().pool = pool.get();
  stage_.calls().deadline_ns = kDeadline;
  CallWatchdog watchdog(stage_.monitor(), stage_.faults(), CallDeadlines());

  auto first = stage_.MakeBinding();
  auto second = stage_.MakeBinding();
  auto pre_bind =
      std::make_unique<PreBindRun>(*first, stage_.calls(), std::vector<uint32_t>(), End());
  auto bind = std::make_unique<BindRun>(*second, stage_.calls(), End());
  pre_bind->Start();
  began->Wait();
  bind->Start();
  stage_.AdvanceTime(2 * kDeadline);
  AwaitEnds(2);
  EXPECT_THAT(ends_, ::testing::UnorderedElementsAre(
                         ::testing::HasSubstr("\"puppet.Slow\": no answer within "), "Success"));
  EXPECT_THAT(stage_.Faults(), ::testing::ElementsAre("puppet.Slow PreBind deadline"));
  watchdog.Poll(0);
  EXPECT_TRUE(watchdog.overdue());

  pre_bind.reset();
  bind.reset();
  first.reset();
  second.reset();
  pool.reset();
  stage_.DestroyPlan();
  EXPECT_FALSE(was_quiesced);
  EXPECT_EQ(Stage::slots(), 1);  // The call still uses it.
  EXPECT_EQ(stage_.monitor().abandoned(), 1U);
  may_end->Open();
  ended->Wait();
  while (stage_.monitor().abandoned() > 0) std::this_thread::yield();
  watchdog.Poll(0);
  EXPECT_FALSE(watchdog.overdue()) << "nothing is stuck any more";
  stage_.Drain();
}

// The thread of the pool serves other plugins when the call has returned.
TEST_F(AsyncCallThreadsTest, CallBeyondItsPlanLeavesNoTrace) {
  const auto began = std::make_shared<Gate>();
  const auto may_end = std::make_shared<Gate>();
  stage_.Add("puppet.Slow", {Point::kPreBind}).pre_bind = [=](const berth_binding&, berth_done done,
                                                              berth_status*) {
    Stage::Complete(done, {BERTH_SUCCESS});
    began->Open();
    may_end->Wait();
    return BERTH_PENDING;
  };
  stage_.Build();
  BindPool pool(1);
  stage_.calls().pool = &pool;
  auto binding = stage_.MakeBinding();
  auto run = std::make_unique<PreBindRun>(*binding, stage_.calls(), std::vector<uint32_t>(), End());
  run->Start();
  began->Wait();
  AwaitEnds(1);
  run.reset();
  binding.reset();
  stage_.DestroyPlan();
  may_end->Open();
  std::array<char, 256> text{};
  size_t size = 0;
  Gate described;
  pool.Run([&] {
    size = stage_.monitor().Describe(text);
    described.Open();
  });
  described.Wait();
  EXPECT_EQ(std::string_view(text.data(), size), "outside any plugin call");
}

// The plugin reports a fault, or causes one, within a call on a thread of the pool.
TEST_F(AsyncCallThreadsTest, FaultOnThePoolCountsAtItsPoint) {
  Puppet& slow = stage_.Add("puppet.Slow", {Point::kPreBind});
  std::thread own;
  slow.pre_bind = [&](const berth_binding&, berth_done, berth_status*) {
    slow.host->fault(slow.host, AsStr("in the call"));
    own = std::thread([&] { slow.host->fault(slow.host, AsStr("on its own thread")); });
    return BERTH_SUCCESS;
  };
  stage_.Build();
  BindPool pool(1);
  stage_.calls().pool = &pool;
  const auto binding = stage_.MakeBinding();
  PreBindRun run(*binding, stage_.calls(), {}, End());
  run.Start();
  AwaitEnds(1);
  own.join();
  EXPECT_THAT(stage_.Faults(), ::testing::UnorderedElementsAre("puppet.Slow PreBind exception",
                                                               "puppet.Slow callback exception"));
}

// A call that was not abandoned returns while the pool and the plan are being destroyed.
TEST_F(AsyncCallThreadsTest, CallThatEndsDuringDestructionOfThePlan) {
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    auto stage = std::make_unique<Stage>();
    const auto began = std::make_shared<Gate>();
    const auto may_end = std::make_shared<Gate>();
    const auto ended = std::make_shared<Gate>();
    Puppet& puppet = stage->Add("puppet.Slow", {Point::kBind});
    puppet.has_slot = true;
    puppet.bind = [=](const berth_binding&, berth_done, berth_status*) {
      began->Open();
      may_end->Wait();
      ended->Open();
      return BERTH_SUCCESS;
    };
    stage->Build();
    auto pool = std::make_unique<BindPool>(2, std::chrono::milliseconds(0));
    stage->calls().pool = pool.get();
    auto binding = stage->MakeBinding();
    auto run = std::make_unique<BindRun>(*binding, stage->calls(), End());
    run->Start();
    began->Wait();
    run.reset();
    binding.reset();
    if (round % 2 == 0) may_end->Open();
    pool.reset();
    stage->DestroyPlan();
    may_end->Open();
    ended->Wait();
    stage->Drain();
    // The thread may not have left the puppet's function yet.
    static auto& kept = *new std::vector<std::unique_ptr<Stage>>;
    kept.push_back(std::move(stage));
  }
  EXPECT_TRUE(ends_.empty());
}

}  // namespace
}  // namespace berth::host
