#include "host/cycle/slow_pod.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/time_units.h"
#include "host/guard/call_watchdog.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::Eq;
using ::testing::StartsWith;

constexpr char kSlow[] = "plugin \"puppet.A\" took longer than 1s at Filter for this pod";

std::string Repeat(size_t times, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all.append(i == 0 ? "" : ",").append(text);
  return all;
}

TEST(SlowPodMessageTest, NamesThePluginAndALongList) {
  const LateCall late{"puppet.A", Point::kFilter, kSecond};
  struct Case {
    const char* description;
    std::string spec;
    std::string end;
  };
  const std::string toleration = R"({"operator":"Exists"})";
  const std::string term = R"({"topologyKey":"zone"})";
  const Case cases[] = {
      {"no list", "", ""},
      {"100 entries are no long list", R"("tolerations":[)" + Repeat(100, toleration) + "]", ""},
      {"101 are", R"("tolerations":[)" + Repeat(101, toleration) + "]",
       ", whose list /spec/tolerations has 101 entries"},
      {"the longest of two",
       R"("tolerations":[)" + Repeat(200, toleration) +
           R"(],"affinity":{"podAntiAffinity":)"
           R"({"requiredDuringSchedulingIgnoredDuringExecution":[)" +
           Repeat(201, term) + "]}}",
       ", whose list /spec/affinity/podAntiAffinity/"
       "requiredDuringSchedulingIgnoredDuringExecution has 201 entries"},
  };
  TestObjects objects;
  for (const Case& c : cases) {
    const PodRef pod = objects.Pod({.name = "p", .spec = c.spec});
    EXPECT_EQ(SlowPodMessage(late, pod->view()), kSlow + c.end) << c.description;
  }
}

// A cluster of one node, whose plugin misses its deadline for every pod.
class SlowPodTest : public ::testing::Test {
 protected:
  SlowPodTest() : a_(stage_.Add("puppet.A", {Point::kFilter})) {
    a_.filter = [this](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                       berth_status*) {
      ++calls_;
      if (is_slow_) watchdog_.Poll(0);
      if (is_slow_) watchdog_.Poll(kSecond);
      std::fill_n(out.codes, block.count, static_cast<uint8_t>(code_));
      return BERTH_SUCCESS;
    };
    harness_.options().monitor = &monitor_;
    harness_.AddNode({.name = "n1"});
  }
  AttemptResult Schedule() {
    stage_.CompleteProfile();
    EXPECT_TRUE(harness_.Start(stage_.spec(), Stage::catalog()).ok());
    TestPod pod{.name = "p"};
    pod.spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
    return harness_.Schedule(pod);
  }

  const Interner interner_;
  PluginFaults faults_{{}};
  CallMonitor monitor_{interner_};
  CallWatchdog watchdog_{monitor_, faults_, {.call_ns = kSecond}};
  Stage stage_;
  Puppet& a_;
  bool is_slow_ = true;
  berth_code code_ = BERTH_UNSCHEDULABLE;
  int calls_ = 0;
  Harness harness_;  // Destroyed first, because it calls the plugins.
};

TEST_F(SlowPodTest, ASlowPodWaitsWhateverHappens) {
  const AttemptResult result = Schedule();
  EXPECT_THAT(Harness::Outcome(result), StartsWith(std::string("Unschedulable: ") + kSlow + "; "));
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_.AddNode({.name = "n2"});
  harness_.Settle();
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kErrorBackoff) << "no event wakes it";
  harness_.Advance(29 * kSecond);
  harness_.Run();
  EXPECT_EQ(calls_, 1);
  is_slow_ = false;
  harness_.Advance(2 * kSecond);
  harness_.Run();
  EXPECT_EQ(calls_, 2);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable) << "in time, it is parked again";
}

TEST_F(SlowPodTest, ASlowPodWithANodeIsBound) {
  code_ = BERTH_SUCCESS;
  EXPECT_THAT(Harness::Outcome(Schedule()), Eq("Success"));
}

}  // namespace
}  // namespace berth::host
