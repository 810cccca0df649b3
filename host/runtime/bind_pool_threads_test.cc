#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "host/runtime/bind_pool.h"

namespace berth::host {
namespace {

TEST(BindPool, RunsAsManyAtATimeAsItHasThreads) {
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

TEST(BindPool, WaitsForWhatHasBegunAndDropsTheRest) {
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

TEST(BindPool, MayEndWithoutATask) { const BindPool pool(2); }

}  // namespace
}  // namespace berth::host
