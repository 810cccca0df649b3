#include "host/guard/call_monitor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

class CallMonitorTest : public ::testing::Test {
 protected:
  CallMonitor::CalleeId Register(const std::string& name) {
    return monitor_.Register({name, "default", "/opt/" + name + ".so", nullptr});
  }
  MonitoredCall Call(CallMonitor::CalleeId callee, Point point, const berth_pod* pod = nullptr) {
    return MonitoredCall(&monitor_, callee, point, {.pod = pod});
  }
  std::string Describe() const {
    std::array<char, 512> text;
    return {text.data(), monitor_.Describe(text)};
  }

  TestObjects test_objects_;
  CallMonitor monitor_{test_objects_.interner()};
};

TEST_F(CallMonitorTest, DescribesPluginAndThePointOfACall) {
  const auto a = Register("test.A");
  EXPECT_EQ(Describe(), "outside any plugin call");
  {
    const auto call = Call(a, Point::kFilter);
    EXPECT_EQ(Describe(), "in plugin test.A (/opt/test.A.so) at Filter");
  }
  EXPECT_EQ(Describe(), "outside any plugin call");
}

TEST_F(CallMonitorTest, ANestedCallReturnsToTheOuterCall) {
  const auto a = Register("test.A");
  const auto b = Register("test.B");
  const auto outer = Call(a, Point::kPostFilter);
  {
    const auto inner = Call(b, Point::kFilter);
    EXPECT_EQ(Describe(), "in plugin test.B (/opt/test.B.so) at Filter");
    const auto seen = monitor_.Snapshot();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_NE(seen[0].innermost, seen[0].outermost);
    EXPECT_EQ(CallMonitor::PointOf(seen[0].innermost), Point::kFilter);
    EXPECT_EQ(CallMonitor::PointOf(seen[0].outermost), Point::kPostFilter);
  }
  EXPECT_EQ(Describe(), "in plugin test.A (/opt/test.A.so) at PostFilter");
  EXPECT_EQ(monitor_.Snapshot()[0].innermost, monitor_.Snapshot()[0].outermost);
}

TEST_F(CallMonitorTest, DescribesPodOfCallOrOfTheAttempt) {
  const auto a = Register("test.A");
  const PodRef web = test_objects_.Pod({.name = "web"});
  const PodRef db = test_objects_.Pod({.name = "db"});
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, &web->view());
  const std::string in = "in plugin test.A (/opt/test.A.so) at ";
  {
    const auto call = Call(a, Point::kFilter);
    EXPECT_EQ(Describe(), in + "Filter, pod default/web");
  }
  {
    const auto call = Call(a, Point::kPreEnqueue, &db->view());
    EXPECT_EQ(Describe(), in + "PreEnqueue, pod default/db");
    const auto inner = Call(a, Point::kReserve);
    EXPECT_EQ(Describe(), in + "Reserve, pod default/web");
  }
  {  // PostBind does not belong to an attempt, and the call names no pod.
    const auto call = Call(a, Point::kPostBind);
    EXPECT_EQ(Describe(), in + "PostBind");
  }
  monitor_.EndAttempt(&cancel);
  const auto call = Call(a, Point::kFilter);
  EXPECT_EQ(Describe(), in + "Filter");
}

TEST_F(CallMonitorTest, RecordsOneCallPerThread) {
  const auto a = Register("test.A");
  const auto b = Register("test.B");
  const auto call = Call(a, Point::kFilter);
  std::string other;
  std::thread([&] {
    EXPECT_EQ(Describe(), "outside any plugin call");
    const auto call_there = Call(b, Point::kBind);
    other = Describe();
  }).join();
  EXPECT_EQ(other, "in plugin test.B (/opt/test.B.so) at Bind");
  EXPECT_EQ(Describe(), "in plugin test.A (/opt/test.A.so) at Filter");
}

TEST_F(CallMonitorTest, EveryCallHasItsOwnWord) {
  const auto a = Register("test.A");
  std::vector<CallWord> words;
  for (int i = 0; i < 3; ++i) {
    const auto call = Call(a, Point::kFilter);
    words.push_back(monitor_.Snapshot()[0].innermost);
  }
  EXPECT_NE(words[0], 0U);
  EXPECT_NE(words[0], words[1]);
  EXPECT_NE(words[1], words[2]);
  EXPECT_EQ(monitor_.Snapshot()[0].innermost, 0U);
}

TEST_F(CallMonitorTest, ReusesTheIdOfAnUnregisteredCallee) {
  const auto a = Register("test.A");
  EXPECT_NE(a, 0U);
  monitor_.Unregister(a);
  const auto b = Register("test.B");
  EXPECT_EQ(b, a);
  const auto call = Call(b, Point::kScore);
  EXPECT_EQ(Describe(), "in plugin test.B (/opt/test.B.so) at Score");
}

TEST_F(CallMonitorTest, BeyondLimitsCallsAreNamelessAndThreadsUnrecorded) {
  std::vector<CallMonitor::CalleeId> ids;
  for (size_t i = 0; i < CallMonitor::kMaxCallees; ++i) {
    ids.push_back(monitor_.Register({"test.Many", "", "", nullptr}));
    ASSERT_NE(ids.back(), 0U);
  }
  const auto a = Register("test.A");
  EXPECT_EQ(a, 0U);
  const auto call = Call(a, Point::kFilter);
  EXPECT_EQ(Describe(), "in a plugin at Filter");
  for (const auto id : ids) monitor_.Unregister(id);

  // Threads that exist at the same time have different pthread_self() values.
  std::array<CallSlot*, CallMonitor::kMaxThreads + 2> slots{};
  std::vector<std::thread> threads;
  std::atomic<size_t> ready = 0;
  for (CallSlot*& slot : slots) {
    threads.emplace_back([&] {
      slot = monitor_.SlotOfThisThread();
      for (++ready; ready < slots.size();) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(slots, nullptr), 3);  // One slot belongs to this thread.
  EXPECT_EQ(monitor_.Snapshot().size(), CallMonitor::kMaxThreads);
  EXPECT_EQ(Describe(), "in a plugin at Filter");
}

TEST_F(CallMonitorTest, CutsOffDescriptionAtSizeOfTheBuffer) {
  const auto a = Register("test.A");
  const auto call = Call(a, Point::kFilter);
  std::array<char, 10> text;
  EXPECT_EQ(monitor_.Describe(text), 10U);
  EXPECT_EQ(std::string(text.data(), text.size()), "in plugin ");
  EXPECT_EQ(monitor_.Describe({}), 0U);
}

TEST_F(CallMonitorTest, LateCallCancelsAttemptUntilTheCallEnds) {
  const auto a = Register("test.A");
  const PodRef web = test_objects_.Pod({.name = "web"});
  uint32_t cancel = 7;
  monitor_.BeginAttempt(&cancel, &web->view());
  EXPECT_EQ(cancel, 0U);
  {
    const auto call = Call(a, Point::kFilter);
    const auto [callee, pod] = monitor_.MarkOverdue(0, monitor_.Snapshot()[0].innermost, kSecond);
    ASSERT_NE(callee, nullptr);
    EXPECT_EQ(callee->plugin, "test.A");
    EXPECT_EQ(pod, monitor_.PodOfAttempt());
    EXPECT_EQ(cancel, 1U);
    const auto inner = Call(a, Point::kScore);
    EXPECT_EQ(cancel, 1U);
  }
  EXPECT_EQ(cancel, 0U);
  const auto late = monitor_.LateCallOfAttempt();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->plugin, "test.A");
  EXPECT_EQ(late->point, Point::kFilter) << "the first call that was late";
  EXPECT_EQ(late->deadline_ns, kSecond);
  monitor_.EndAttempt(&cancel);
  monitor_.BeginAttempt(&cancel, &web->view());
  EXPECT_EQ(monitor_.LateCallOfAttempt(), std::nullopt);
  monitor_.EndAttempt(&cancel);
}

TEST_F(CallMonitorTest, PodOfAttemptTellsPodsApart) {
  const PodRef web = test_objects_.Pod({.name = "web"});
  const PodRef db = test_objects_.Pod({.name = "db"});
  uint32_t cancel = 0;
  const auto of = [&](const PodRef& pod) {
    monitor_.BeginAttempt(&cancel, &pod->view());
    return monitor_.PodOfAttempt();
  };
  EXPECT_EQ(monitor_.PodOfAttempt(), 0U);
  const uint64_t first = of(web);
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, of(db));
  EXPECT_EQ(first, of(web));
  monitor_.EndAttempt(&cancel);
  EXPECT_EQ(monitor_.PodOfAttempt(), 0U);
}

TEST_F(CallMonitorTest, ACallThatHasEndedIsNotLate) {
  const auto a = Register("test.A");
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  CallWord ended = 0;
  {
    const auto call = Call(a, Point::kFilter);
    ended = monitor_.Snapshot()[0].innermost;
  }
  EXPECT_EQ(monitor_.MarkOverdue(0, ended, kSecond).callee, nullptr);
  const auto next = Call(a, Point::kFilter);
  EXPECT_EQ(monitor_.MarkOverdue(0, ended, kSecond).callee, nullptr);
  EXPECT_EQ(cancel, 0U);
  monitor_.EndAttempt(&cancel);
}

TEST_F(CallMonitorTest, CallOutsideTheAttemptDoesNotCancelIt) {
  const auto a = Register("test.A");
  uint32_t cancel = 0;
  monitor_.BeginAttempt(&cancel, nullptr);
  const auto call = Call(a, Point::kPreBind);
  EXPECT_NE(monitor_.MarkOverdue(0, monitor_.Snapshot()[0].innermost, kSecond).callee, nullptr);
  EXPECT_EQ(cancel, 0U);
  monitor_.EndAttempt(&cancel);
}

TEST_F(CallMonitorTest, EndAttemptIgnoresAnAttemptThatWasReplaced) {
  uint32_t first = 0;
  uint32_t second = 0;
  monitor_.BeginAttempt(&first, nullptr);
  monitor_.BeginAttempt(&second, nullptr);
  monitor_.EndAttempt(&first);
  const auto a = Register("test.A");
  const auto call = Call(a, Point::kFilter);
  monitor_.MarkOverdue(0, monitor_.Snapshot()[0].innermost, kSecond);
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(second, 1U);
  monitor_.EndAttempt(&second);
}

TEST_F(CallMonitorTest, ACallWithoutAMonitorIsNotRecorded) {
  const MonitoredCall call(nullptr, Register("test.A"), Point::kFilter, {});
  EXPECT_EQ(Describe(), "outside any plugin call");
}

TEST_F(CallMonitorTest, ADetachedCallEndsOnce) {
  auto call = Call(Register("test.A"), Point::kBind);
  const CallWord word = monitor_.Snapshot()[0].innermost;
  {
    auto inner = Call(Register("test.B"), Point::kFilter);
    inner.Detach();
    EXPECT_EQ(monitor_.Snapshot()[0].innermost, word);
    call.Detach();
    EXPECT_EQ(Describe(), "outside any plugin call");
  }
  EXPECT_EQ(Describe(), "outside any plugin call") << "the destructor does nothing";
}

TEST_F(CallMonitorTest, KnowsPointAtWhichThisThreadCallsInstance) {
  const auto a = Register("test.A");
  const auto b = Register("test.B");
  EXPECT_EQ(monitor_.PointOnThisThread(a), kNoCall);
  const auto call = Call(a, Point::kBind);
  EXPECT_EQ(monitor_.PointOnThisThread(a), Point::kBind);
  EXPECT_EQ(monitor_.PointOnThisThread(b), kNoCall);
  EXPECT_EQ(monitor_.PointOnThisThread(0), kNoCall);
  std::thread([&] { EXPECT_EQ(monitor_.PointOnThisThread(a), kNoCall); }).join();
}

}  // namespace
}  // namespace berth::host
