#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/guard/bind_pool.h"

namespace berth::host {
namespace {

TEST(BindPool, RunsOneTaskPerThreadAtATime) {
  constexpr int kThreads = 3;
  BindPool pool(kThreads);
  std::atomic<int> inside = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < kThreads; ++i) {
    pool.Run([&] {
      ++inside;
      while (inside < kThreads) std::this_thread::yield();
      ++ended;
    });
  }
  while (ended < kThreads) std::this_thread::yield();
}

TEST(BindPool, RunsEachTaskOnceInOrder) {
  std::atomic<int> ran = 0;
  std::atomic<bool> is_in_order = true;
  BindPool pool(1);
  for (int i = 0; i < 1000; ++i) {
    pool.Run([&, i] {
      if (ran++ != i) is_in_order = false;
    });
  }
  while (ran < 1000) std::this_thread::yield();
  EXPECT_TRUE(is_in_order);
}

TEST(BindPool, WaitsForRunningTasksAndDropsTheRest) {
  std::atomic<bool> began = false;
  std::atomic<bool> ended = false;
  std::atomic<bool> dropped_ran = false;
  const auto held = std::make_shared<int>(0);
  {
    BindPool pool(1);
    pool.Run([&] {
      began = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ended = true;
    });
    while (!began) std::this_thread::yield();
    pool.Run([&dropped_ran, held] { dropped_ran = true; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_TRUE(ended);
  EXPECT_FALSE(dropped_ran);
  EXPECT_EQ(held.use_count(), 1);
}

// Set once by one thread, awaited by others.
class Signal {
 public:
  void Set() { is_set_ = true; }
  void Await() const {
    while (!is_set_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> is_set_ = false;
};

TEST(BindPool, ReplacesTheThreadOfAnAbandonedTask) {
  const auto may_end = std::make_shared<Signal>();
  const auto held = std::make_shared<int>(0);
  std::atomic<int> ran = 0;
  {
    BindPool pool(1);
    const auto stuck = pool.Run([may_end, held] { may_end->Await(); });
    pool.Run([&] { ++ran; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(ran, 0);
    pool.Abandon(stuck);
    while (ran < 1) std::this_thread::yield();
    pool.Abandon(stuck);  // A second time has no effect.
    pool.Run([&] { ++ran; });
    while (ran < 2) std::this_thread::yield();
  }
  EXPECT_EQ(held.use_count(), 2);  // The task still runs, without the pool.
  may_end->Set();
  while (held.use_count() > 1) std::this_thread::yield();
}

TEST(BindPool, DropsATaskAbandonedBeforeItBegins) {
  Signal may_end;
  std::atomic<int> ran = 0;
  const auto held = std::make_shared<int>(0);
  BindPool pool(1);
  pool.Run([&] { may_end.Await(); });
  const auto dropped = pool.Run([&, held] { ++ran; });
  EXPECT_EQ(held.use_count(), 2);
  pool.Abandon(dropped);
  EXPECT_EQ(held.use_count(), 1);
  may_end.Set();
  Signal last;
  const auto task = pool.Run([&] { last.Set(); });
  last.Await();
  EXPECT_EQ(ran, 0);
  pool.Abandon(task);
  pool.Abandon(12345);
}

TEST(BindPool, IsDestroyedWithoutWaitingForTaskThatHangs) {
  const auto may_end = std::make_shared<Signal>();
  const auto began = std::make_shared<Signal>();
  const auto held = std::make_shared<int>(0);
  {
    BindPool pool(2, std::chrono::milliseconds(10));
    pool.Run([may_end, began, held] {
      began->Set();
      may_end->Await();
    });
    began->Await();
  }
  EXPECT_EQ(held.use_count(), 2);
  may_end->Set();
  while (held.use_count() > 1) std::this_thread::yield();
}

// The pool replaces at most kMaxAbandoned threads of hanging tasks.
TEST(BindPool, ReplacesALimitedNumberOfThreads) {
  const auto may_end = std::make_shared<Signal>();
  const auto inside = std::make_shared<std::atomic<size_t>>(0);
  BindPool pool(1, std::chrono::milliseconds(10));
  std::vector<BindPool::TaskId> tasks;
  for (size_t i = 0; i < BindPool::kMaxAbandoned + 3; ++i) {
    tasks.push_back(pool.Run([may_end, inside] {
      ++*inside;
      may_end->Await();
    }));
  }
  for (size_t i = 0; i <= BindPool::kMaxAbandoned; ++i) {
    while (*inside < i + 1) std::this_thread::yield();
    pool.Abandon(tasks[i]);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(*inside, BindPool::kMaxAbandoned + 1);
  may_end->Set();
  while (*inside < tasks.size()) std::this_thread::yield();
}

TEST(BindPool, ReplacesAnotherThreadWhenAnAbandonedTaskEnds) {
  const auto first_may_end = std::make_shared<Signal>();
  const auto may_end = std::make_shared<Signal>();
  const auto inside = std::make_shared<std::atomic<size_t>>(0);
  Signal ran;
  BindPool pool(1, std::chrono::milliseconds(10));
  for (size_t i = 0; i <= BindPool::kMaxAbandoned; ++i) {
    const auto task = pool.Run([gate = i == 0 ? first_may_end : may_end, inside] {
      ++*inside;
      gate->Await();
    });
    while (*inside < i + 1) std::this_thread::yield();
    pool.Abandon(task);
  }
  pool.Run([&] { ran.Set(); });
  first_may_end->Set();
  ran.Await();
  may_end->Set();
}

TEST(BindPool, MayBeDestroyedWithoutATask) { const BindPool pool(2); }

}  // namespace
}  // namespace berth::host
