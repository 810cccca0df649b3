#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/plan/instance_host.h"

namespace berth::host {
namespace {

// Several threads complete and close one promise: exactly one of them succeeds.
TEST(PromisesThreads, EachIsAnsweredOnceOrClosed) {
  constexpr int kRounds = 2000;
  Promises promises;
  std::atomic<int> answers = 0;
  int closed = 0;
  std::atomic<Promises::Id> current = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over) promises.Complete(current, BERTH_SUCCESS, {"done"});
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    const Promises::Id done = promises.Open([&](berth_code, const auto&) { ++answers; });
    current = done;
    if (round % 2 == 0) std::this_thread::yield();
    if (promises.Close(done)) ++closed;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers + closed, kRounds);
  EXPECT_EQ(promises.open_count(), 0U);
}

}  // namespace
}  // namespace berth::host
