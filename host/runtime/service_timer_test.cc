// The service berth.timer/1.
#include <climits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/plugin_call.h"
#include "host/runtime/test_services.h"

namespace berth::host {
namespace {

class TimerServiceTest : public ServicesTest {
 protected:
  TimerServiceTest() {
    host_->Begin();
    call_.emplace(*host_, kCallback);
  }

  const berth_timer& service() { return Service<berth_timer>(BERTH_SERVICE_TIMER); }
  uint64_t Start(const berth_host* host, int64_t after_ns) {
    uint64_t timer = 0;
    EXPECT_EQ(service().start(host, after_ns, Note, this, &timer), BERTH_SUCCESS);
    EXPECT_NE(timer, 0U);
    return timer;
  }
  static void Note(void* to) {
    auto& test = *static_cast<TimerServiceTest*>(to);
    ++test.fired_;
    test.at_ = test.host_->point();
  }

  int fired_ = 0;
  Point at_ = kNoCall;
  std::optional<PluginCall> call_;
};

TEST_F(TimerServiceTest, FiresOnceWhenDueAndNotWithinTheCall) {
  Start(abi(), 10);
  Start(abi(), 0);
  EXPECT_EQ(fired_, 0);
  RunLoop();
  EXPECT_EQ(fired_, 1);
  clock_.Advance(9);
  RunLoop();
  EXPECT_EQ(fired_, 1);
  clock_.Advance(1);
  RunLoop();
  RunLoop();
  EXPECT_EQ(fired_, 2);
  EXPECT_EQ(at_, kCallback);
}

TEST_F(TimerServiceTest, ANegativeDelayIsZeroAndTheLongestDoesNotOverflow) {
  Start(abi(), -5);
  Start(abi(), INT64_MAX);
  RunLoop();
  EXPECT_EQ(fired_, 1);
  EXPECT_EQ(timers_.NextNs(), INT64_MAX);
}

TEST_F(TimerServiceTest, CancelReturnsWhetherTheTimerWasOpen) {
  const uint64_t timer = Start(abi(), 0);
  EXPECT_EQ(service().cancel(abi(), timer), BERTH_SUCCESS);
  EXPECT_EQ(service().cancel(abi(), timer), BERTH_NOT_FOUND);
  const uint64_t fired = Start(abi(), 0);
  RunLoop();
  EXPECT_EQ(service().cancel(abi(), fired), BERTH_NOT_FOUND);
  EXPECT_EQ(fired_, 1);
}

TEST_F(TimerServiceTest, CannotCancelTheTimersOfOtherInstances) {
  const auto other = Host("test.Other");
  const uint64_t timer = Start(abi(), 0);
  EXPECT_EQ(service().cancel(other->abi(), timer), BERTH_NOT_FOUND);
  RunLoop();
  EXPECT_EQ(fired_, 1);
}

TEST_F(TimerServiceTest, TimersEndWithTheInstance) {
  Start(abi(), 0);
  {
    const auto other = Host("test.Other");
    Start(other->abi(), 0);
  }
  EXPECT_EQ(timers_.size(), 1U);
  host_->Close();
  EXPECT_EQ(timers_.size(), 0U);
  uint64_t timer = 0;
  EXPECT_EQ(service().start(abi(), 0, Note, this, &timer), BERTH_CANCELLED);
  RunLoop();
  EXPECT_EQ(fired_, 0);
}

TEST_F(TimerServiceTest, ReturnsTheTimeOfTheClock) {
  EXPECT_EQ(service().wall_ns(abi()), clock_.NowNs());
  const int64_t before = service().now_ns(abi());
  clock_.Advance(7);
  EXPECT_EQ(service().now_ns(abi()) - before, 7);
}

TEST_F(TimerServiceTest, IsAvailableOnTheSchedulingThreadOutsideBlocks) {
  uint64_t timer = 0;
  EXPECT_EQ(service().start(abi(), 0, nullptr, nullptr, &timer), BERTH_BAD_ARGUMENT);
  std::thread([&] {
    EXPECT_EQ(service().start(abi(), 0, Note, this, &timer), BERTH_CONFLICT);
    EXPECT_EQ(service().cancel(abi(), 1), BERTH_CONFLICT);
    EXPECT_EQ(service().now_ns(abi()), clock_.NowNs());
  }).join();
  const std::pair<Point, berth_code> kTable[] = {
      {Point::kFilter, BERTH_CONFLICT},    {Point::kScore, BERTH_SUCCESS},
      {Point::kPreEnqueue, BERTH_SUCCESS}, {Point::kPreFilter, BERTH_SUCCESS},
      {Point::kPostFilter, BERTH_SUCCESS}, {Point::kPreBind, BERTH_SUCCESS},
      {Point::kPostBind, BERTH_SUCCESS},   {Point::kChanges, BERTH_SUCCESS},
      {kCycleState, BERTH_SUCCESS},        {kLoad, BERTH_SUCCESS},
  };
  for (const auto& [point, code] : kTable) {
    const PluginCall call(*host_, point);
    EXPECT_EQ(service().start(abi(), 0, Note, this, &timer), code) << NameOf(point);
  }
  call_.reset();  // The plugin is not being called.
  EXPECT_EQ(service().start(abi(), 0, Note, this, &timer), BERTH_CONFLICT);
}

}  // namespace
}  // namespace berth::host
