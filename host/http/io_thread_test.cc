#include "host/http/io_thread.h"

#include <pthread.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

int64_t IoTestNowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The parameter is the gather time.
class IoThreadTest : public testing::TestWithParam<int64_t> {
 protected:
  IoThread io_{"berth-test", IoTestNowNs, [] { return GetParam(); }};
};

INSTANTIATE_TEST_SUITE_P(GatherTimes, IoThreadTest, testing::Values(0, kMillisecond));

TEST_P(IoThreadTest, RunsTasksInOrderOnItsThread) {
  std::vector<int> order;
  std::promise<void> ended;
  EXPECT_FALSE(io_.IsCurrent());
  for (int i = 0; i < 1000; ++i) {
    io_.Post([&, i] {
      EXPECT_TRUE(io_.IsCurrent());
      order.push_back(i);
    });
  }
  io_.RunAndWait([&] {
    std::array<char, 16> name{};
    EXPECT_EQ(::pthread_getname_np(::pthread_self(), name.data(), name.size()), 0);
    EXPECT_STREQ(name.data(), "berth-test");
  });
  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_P(IoThreadTest, ATaskRunsNeverWithinTheCall) {
  std::promise<void> ended;
  bool returned = false;
  io_.RunAndWait([&] {
    io_.Post([&] {
      EXPECT_TRUE(returned);
      ended.set_value();
    });
    returned = true;
  });
  ended.get_future().wait();
}

TEST_P(IoThreadTest, RunsTimersInTheOrderOfTheirTimes) {
  std::vector<int> order;
  std::promise<void> ended;
  int64_t late_ns = 0;
  io_.RunAndWait([&] {
    const int64_t now_ns = io_.NowNs();
    const auto record = [&](int number) { return [&, number] { order.push_back(number); }; };
    io_.StartTimer(now_ns + 20 * kMillisecond, [&, now_ns] {
      late_ns = io_.NowNs() - now_ns;
      order.push_back(4);
      ended.set_value();
    });
    io_.StartTimer(now_ns + 10 * kMillisecond, record(2));
    io_.StartTimer(now_ns + 10 * kMillisecond, record(3));
    io_.StartTimer(now_ns - kSecond, record(1));
    EXPECT_EQ(order, std::vector<int>()) << "a timer runs never within the call";
  });
  ended.get_future().wait();
  io_.RunAndWait([&] { EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4})); });
  EXPECT_GE(late_ns, 20 * kMillisecond) << "a timer is not early";
}

TEST_P(IoThreadTest, CancelsTimers) {
  std::promise<void> ended;
  std::vector<int> order;
  Executor::TimerId first = 0;
  Executor::TimerId second = 0;
  io_.RunAndWait([&] {
    const int64_t now_ns = io_.NowNs();
    first = io_.StartTimer(now_ns, [&] {
      order.push_back(1);
      // The time of the second timer has come, too.
      EXPECT_TRUE(io_.CancelTimer(second));
      EXPECT_FALSE(io_.CancelTimer(second));
      EXPECT_FALSE(io_.CancelTimer(first)) << "a timer that has run";
    });
    second = io_.StartTimer(now_ns, [&] { order.push_back(2); });
    io_.StartTimer(now_ns + kMillisecond, [&] { ended.set_value(); });
    EXPECT_NE(first, 0U);
    EXPECT_NE(first, second);
    EXPECT_FALSE(io_.CancelTimer(0));
    EXPECT_FALSE(io_.CancelTimer(second + 100));
  });
  ended.get_future().wait();
  io_.RunAndWait([&] { EXPECT_EQ(order, std::vector<int>{1}); });
}

TEST_P(IoThreadTest, AnOwnedTimerIsCancelledWithItsOwner) {
  std::promise<void> ended;
  int runs = 0;
  io_.RunAndWait([&] {
    auto timer = std::make_unique<OwnedTimer>(io_);
    timer->StartAfter(0, [&] { ++runs; });
    EXPECT_TRUE(timer->is_running());
    timer.reset();
    io_.StartTimer(io_.NowNs() + kMillisecond, [&] { ended.set_value(); });
  });
  ended.get_future().wait();
  EXPECT_EQ(runs, 0);
}

TEST_P(IoThreadTest, StopDestroysWhatHasNotRun) {
  const auto token = std::make_shared<int>(0);
  std::promise<void> started;
  std::promise<void> goes_on;
  io_.Post([&] {
    io_.StartTimer(io_.NowNs() + kHour, [token] { FAIL(); });
    started.set_value();
    goes_on.get_future().wait();
  });
  started.get_future().wait();
  // This task waits behind the one that is running, and is never run.
  io_.Post([&, token] { FAIL() << "the thread was stopped"; });
  EXPECT_EQ(token.use_count(), 3);
  std::thread stopper([&] { io_.Stop(); });
  // Once Stop() has begun, a task that is posted is destroyed at once.
  const auto probe = std::make_shared<int>(0);
  for (long count = 0; count != probe.use_count();) {
    count = probe.use_count();
    io_.Post([probe] {});
    std::this_thread::yield();
  }
  goes_on.set_value();
  stopper.join();
  EXPECT_EQ(token.use_count(), 1);
  io_.Post([token] { FAIL(); });
  EXPECT_EQ(token.use_count(), 1) << "a later task is destroyed at once";
  io_.Stop();
}

TEST_P(IoThreadTest, ManyThreadsMayPost) {
  int runs = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) io_.Post([&] { ++runs; });
      });
    }
  }
  io_.RunAndWait([&] { EXPECT_EQ(runs, 4000); });
}

TEST_P(IoThreadTest, RunsTasksThatArriveOneByOne) {
  for (int i = 0; i < 50; ++i) {
    bool has_run = false;
    io_.RunAndWait([&] { has_run = true; });
    ASSERT_TRUE(has_run) << i;
  }
}

}  // namespace
}  // namespace berth::host
