#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/event/inbox.h"

namespace berth::host {
namespace {

// Many senders push to one owner that sleeps whenever the inbox is empty. Each task runs once, the
// tasks of one sender run in order, and no wake-up is lost (otherwise the test would not end).
TEST(InboxThreads, DeliversTasksOnceAndInSendersOrder) {
  constexpr uint32_t kSenders = 4;
  constexpr uint32_t kTasks = 20'000;
  ThreadWaker waker;
  Inbox inbox(&waker);
  std::array<uint32_t, kSenders> next{};
  uint32_t out_of_order = 0;
  std::vector<std::thread> senders;
  for (uint32_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (uint32_t i = 0; i < kTasks; ++i) {
        inbox.Push([&, sender, i] {
          if (next[sender] != i) ++out_of_order;
          ++next[sender];
        });
      }
    });
  }
  size_t drained = 0;
  while (drained < size_t{kSenders} * kTasks) {
    drained += inbox.Drain();
    if (inbox.size() == 0 && drained < size_t{kSenders} * kTasks) waker.Wait(INT64_MAX);
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(out_of_order, 0u);
  for (const uint32_t count : next) EXPECT_EQ(count, kTasks);
  EXPECT_EQ(inbox.Drain(), 0u);
}

}  // namespace
}  // namespace berth::host
