// The service berth.timer/1.
#include <climits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/instance_host.h"
#include "host/runtime/services/services.h"
#include "host/runtime/services/test_services.h"

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
  static void Note(void* to) noexcept {
    auto& test = *static_cast<TimerServiceTest*>(to);
    ++test.fired_;
    test.at_ = test.host_->point();
  }

  int fired_ = 0;
  Point at_ = kNoCall;
  std::optional<PluginCall> call_;
};

TEST_F(TimerServiceTest, FiresOnceWhenDueAndNotWithinCall) {
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

TEST_F(TimerServiceTest, ClampsNegativeDelaysAndDoesNotOverflow) {
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

TEST_F(TimerServiceTest, OpenTimersAreReportedToTheHost) {
  EXPECT_EQ(work_.NextTimerNs(), std::nullopt);
  const uint64_t late = Start(abi(), 20);
  Start(abi(), 10);
  EXPECT_EQ(work_.NextTimerNs(), clock_.NowNs() + 10);
  EXPECT_EQ(work_.CountByPlugin().at(host_->id()).timers, 2U);
  clock_.Advance(10);
  RunLoop();
  EXPECT_EQ(work_.calls_by_itself(), 1U);
  EXPECT_EQ(work_.NextTimerNs(), clock_.NowNs() + 10);
  EXPECT_EQ(service().cancel(abi(), late), BERTH_SUCCESS);
  EXPECT_EQ(work_.NextTimerNs(), std::nullopt);
  Start(abi(), 10);
  host_->Close();
  EXPECT_EQ(work_.NextTimerNs(), std::nullopt);
  EXPECT_TRUE(work_.CountByPlugin().empty());
}

TEST_F(TimerServiceTest, HoldsEndWithTheirReleaseOrTheInstance) {
  uint64_t first = 0;
  uint64_t second = 0;
  std::thread([&] { EXPECT_EQ(service().hold(abi(), &first), BERTH_SUCCESS); }).join();
  EXPECT_EQ(service().hold(abi(), &second), BERTH_SUCCESS);
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, second);
  EXPECT_EQ(work_.CountByPlugin().at(host_->id()).holds, 2U);
  std::thread([&] { service().release(abi(), first); }).join();
  EXPECT_EQ(work_.CountByPlugin().at(host_->id()).holds, 1U);
  host_->Close();
  EXPECT_TRUE(work_.CountByPlugin().empty());
  service().release(abi(), second);
  EXPECT_EQ(service().hold(abi(), &first), BERTH_CANCELLED);
  EXPECT_TRUE(lines_.empty()) << "no fault";
  // An instance whose create() failed is not closed.
  auto other = Host("test.Other");
  EXPECT_EQ(service().hold(other->abi(), &first), BERTH_SUCCESS);
  other.reset();
  EXPECT_TRUE(work_.CountByPlugin().empty());
}

TEST_F(TimerServiceTest, ReleaseOfUnknownHoldIsAFault) {
  uint64_t hold = 0;
  EXPECT_EQ(service().hold(abi(), &hold), BERTH_SUCCESS);
  const auto other = Host("test.Other");
  service().release(other->abi(), hold);
  EXPECT_EQ(work_.CountByPlugin().at(host_->id()).holds, 1U);
  service().release(abi(), hold);
  service().release(abi(), hold);
  EXPECT_THAT(lines_, ::testing::ElementsAre(::testing::HasSubstr("which it does not have"),
                                             ::testing::HasSubstr("which it does not have")));
}

TEST_F(TimerServiceTest, AtMost65536HoldsOfAnInstanceExist) {
  uint64_t hold = 0;
  for (size_t i = 0; i < kMaxWaitingWork; ++i) {
    ASSERT_EQ(service().hold(abi(), &hold), BERTH_SUCCESS);
  }
  uint64_t refused = 0;
  EXPECT_EQ(service().hold(abi(), &refused), BERTH_CONFLICT);
  service().release(abi(), hold);
  EXPECT_EQ(service().hold(abi(), &refused), BERTH_SUCCESS);
}

TEST_F(TimerServiceTest, PostsOfAnnouncedThreadsAreCountedApart) {
  struct Nothing {
    static void Run(void*, berth_code) noexcept {}
  };
  EXPECT_EQ(service().post(abi(), Nothing::Run, nullptr), BERTH_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(service().post(abi(), Nothing::Run, nullptr), BERTH_SUCCESS);
  }).join();
  RunLoop();
  EXPECT_EQ(work_.calls_by_itself(), 1U);
  EXPECT_EQ(work_.calls_by_threads(), 0U) << "nothing was announced";
  uint64_t hold = 0;
  EXPECT_EQ(service().hold(abi(), &hold), BERTH_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(service().post(abi(), Nothing::Run, nullptr), BERTH_SUCCESS);
    EXPECT_EQ(service().post(abi(), Nothing::Run, nullptr), BERTH_SUCCESS);
    service().release(abi(), hold);
  }).join();
  RunLoop();
  EXPECT_EQ(work_.calls_by_itself(), 1U);
  EXPECT_EQ(work_.calls_by_threads(), 2U);
}

// A posted function that records its number and code.
struct Posted {
  std::vector<std::string>& log;
  std::string name;

  static void Run(void* to, berth_code code) noexcept {
    const Posted& self = *static_cast<Posted*>(to);
    self.log.push_back(self.name + " " + std::to_string(code));
  }
};

TEST_F(TimerServiceTest, PostCallsLaterAndInOrder) {
  std::vector<std::string> log;
  Posted a{log, "a"};
  Posted b{log, "b"};
  EXPECT_EQ(service().post(abi(), Posted::Run, &a), BERTH_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(service().post(abi(), Posted::Run, &b), BERTH_SUCCESS);
    EXPECT_EQ(service().post(abi(), Posted::Run, &a), BERTH_SUCCESS);
  }).join();
  EXPECT_TRUE(log.empty());
  RunLoop();
  EXPECT_THAT(log, ::testing::ElementsAre("a 0", "b 0", "a 0"));
  RunLoop();
  EXPECT_EQ(log.size(), 3U);
  EXPECT_EQ(service().post(abi(), nullptr, nullptr), BERTH_BAD_ARGUMENT);
}

TEST_F(TimerServiceTest, APostedFunctionMayPostAgain) {
  struct Again {
    const InstanceHost& host;
    const berth_timer* timer;
    int runs = 0;
    Point at = kNoCall;
  } again{*host_, &service()};
  const auto run = [](void* to, berth_code) noexcept {
    Again& self = *static_cast<Again*>(to);
    self.at = self.host.point();
    static constexpr auto kOnce = [](void* again_to, berth_code) noexcept {
      ++static_cast<Again*>(again_to)->runs;
    };
    EXPECT_EQ(self.timer->post(self.host.abi(), kOnce, to), BERTH_SUCCESS);
    EXPECT_EQ(self.runs, 0) << "not within the call";
  };
  EXPECT_EQ(service().post(abi(), run, &again), BERTH_SUCCESS);
  RunLoop();
  EXPECT_EQ(again.runs, 1);
  EXPECT_EQ(again.at, kCallback);
}

TEST_F(TimerServiceTest, PostedFunctionsAreCancelledWithTheInstance) {
  std::vector<std::string> log;
  Posted a{log, "a"};
  Posted b{log, "b"};
  service().post(abi(), Posted::Run, &a);
  service().post(abi(), Posted::Run, &b);
  host_->Close();
  EXPECT_THAT(log, ::testing::ElementsAre("a 32", "b 32"));
  EXPECT_EQ(service().post(abi(), Posted::Run, &a), BERTH_CANCELLED);
  RunLoop();
  EXPECT_EQ(log.size(), 2U);
  // An instance whose create() failed is not closed.
  auto other = Host("test.Other");
  EXPECT_EQ(service().post(other->abi(), Posted::Run, &a), BERTH_SUCCESS);
  other.reset();
  RunLoop();
  EXPECT_EQ(log.size(), 2U);
}

TEST_F(TimerServiceTest, AtMost65536PostedFunctionsOfInstanceWait) {
  ASSERT_EQ(kMaxWaitingWork, 65'536U) << "as <berth/abi.h> states";
  struct Counted {
    const berth_timer& timer;
    const berth_host* host;
    size_t runs = 0;
    std::vector<berth_code> within = {};  // The codes of posts within the first call.
    static void Count(void* to, berth_code code) noexcept {
      EXPECT_EQ(code, BERTH_SUCCESS);
      ++static_cast<Counted*>(to)->runs;
    }
    static void PostTwice(void* to, berth_code code) noexcept {
      Counted& self = *static_cast<Counted*>(to);
      Count(to, code);
      for (int i = 0; i < 2; ++i) self.within.push_back(self.timer.post(self.host, Count, to));
    }
  } counted{service(), abi()};
  EXPECT_EQ(service().post(abi(), Counted::PostTwice, &counted), BERTH_SUCCESS);
  for (size_t i = 1; i < kMaxWaitingWork; ++i) {
    ASSERT_EQ(service().post(abi(), Counted::Count, &counted), BERTH_SUCCESS) << i;
  }
  EXPECT_EQ(service().post(abi(), Counted::Count, &counted), BERTH_CONFLICT);
  EXPECT_EQ(service().post(abi(), nullptr, &counted), BERTH_BAD_ARGUMENT);
  const auto other = Host("test.Other");
  EXPECT_EQ(service().post(other->abi(), Counted::Count, &counted), BERTH_SUCCESS);
  RunLoop();
  // The function that is being called does not wait any more.
  EXPECT_THAT(counted.within, ::testing::ElementsAre(BERTH_SUCCESS, BERTH_CONFLICT));
  EXPECT_EQ(counted.runs, kMaxWaitingWork + 2);
  EXPECT_EQ(service().post(abi(), Counted::Count, &counted), BERTH_SUCCESS);
  RunLoop();
  EXPECT_EQ(counted.runs, kMaxWaitingWork + 3);
  host_->Close();
  EXPECT_EQ(service().post(abi(), Counted::Count, &counted), BERTH_CANCELLED);
}

TEST_F(TimerServiceTest, AnInstanceHasAtMost65536Timers) {
  uint64_t timer = 0;
  for (size_t i = 0; i < kMaxWaitingWork; ++i) {
    ASSERT_EQ(service().start(abi(), 1, Note, this, &timer), BERTH_SUCCESS) << i;
  }
  const uint64_t last = timer;
  EXPECT_EQ(service().start(abi(), 1, Note, this, &timer), BERTH_CONFLICT);
  EXPECT_EQ(timer, last) << "nothing is written";
  EXPECT_EQ(service().cancel(abi(), last), BERTH_SUCCESS);
  EXPECT_EQ(service().start(abi(), 1, Note, this, &timer), BERTH_SUCCESS);
  EXPECT_EQ(service().start(abi(), 1, Note, this, &timer), BERTH_CONFLICT);
  clock_.Advance(1);
  call_.reset();
  RunLoop();
  const PluginCall call(*host_, kCallback);
  EXPECT_EQ(service().start(abi(), 1, Note, this, &timer), BERTH_SUCCESS);
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
      {Point::kFilter, BERTH_CONFLICT},
      {Point::kScore, BERTH_CONFLICT},
      {Point::kPreEnqueue, BERTH_SUCCESS},
      {Point::kPreFilter, BERTH_SUCCESS},
      {Point::kPostFilter, BERTH_SUCCESS},
      {Point::kPreBind, BERTH_SUCCESS},
      {Point::kPostBind, BERTH_SUCCESS},
      {Point::kChanges, BERTH_SUCCESS},
      {Point::kAttemptFailed, BERTH_SUCCESS},
      {kCycleState, BERTH_SUCCESS},
      {kLoad, BERTH_SUCCESS},
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
