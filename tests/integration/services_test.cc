// The services and the quarantine, through a real library and the whole loop.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/harness.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

class GuestTest : public ::testing::Test {
 protected:
  GuestTest() {
    harness_.AddNodes({"n1"});
    harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"red"}})");
    const Status status = harness_.Start(Profile().Use("test.Guest", {Point::kPermit}));
    EXPECT_TRUE(status.ok()) << status.ToString();  // It cannot do without any service.
  }

  Harness harness_;
};

TEST_F(GuestTest, WatchesFromBeforeItsFirstCycle) {
  harness_.Settle();
  EXPECT_THAT(harness_.lines(), ElementsAre("test.Guest: namespace added=red"));
  harness_.lines().clear();
  harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"blue"}})");
  EXPECT_TRUE(harness_.cluster().Delete("v1/Namespace", "", "red").ok());
  harness_.Settle();
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.Guest: namespace added=blue", "test.Guest: namespace removed=red"));
}

TEST_F(GuestTest, ATimerAllowsThePodThatWaits) {
  EXPECT_EQ(Harness::Outcome(harness_.Schedule({.name = "p"})), "Wait");
  harness_.Advance(kSecond - 1);
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->node_name(), "");
  harness_.Advance(1);
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->node_name(), "n1");
  EXPECT_THAT(harness_.lines(), Contains("test.Guest: allowed pod=p"));
  EXPECT_THAT(ToText(harness_.loop().metrics().Read()),
              HasSubstr("guest_allowed_total{plugin=\"test.Guest\",profile=\"default-scheduler\","
                        "pod=\"p\"} 1\n"));
  EXPECT_THAT(harness_.cluster().events(),
              Contains(AllOf(::testing::Field(&Event::reason, "Allowed"),
                             ::testing::Field(&Event::note, "come in"))));
}

TEST_F(GuestTest, ARequestIsAnsweredOnce) {
  harness_.Schedule({.name = "p"});
  harness_.Advance(10 * kSecond);
  EXPECT_EQ(std::ranges::count_if(
                harness_.lines(),
                [](const std::string& line) { return line.starts_with("test.Guest: answer "); }),
            1);
}

TEST_F(GuestTest, WhatIsOpenIsCancelledWhenTheHostStops) {
  harness_.AddPod({.name = "p"});
  harness_.cluster().Deliver();
  while (harness_.loop().bindings().empty()) harness_.loop().Step();
  harness_.lines().clear();
  harness_.Stop();
  EXPECT_THAT(harness_.lines(), ElementsAre(HasSubstr("answer cancelled=")));
  harness_.cluster().Deliver();
  EXPECT_EQ(harness_.lines().size(), 1U);
}

// ---- Quarantine ---------------------------------------------------------------------------------

class QuarantineTest : public ::testing::Test {
 protected:
  // Takes one pod after the other through its attempt: how each ended.
  std::vector<std::string> Schedule(int pods) {
    std::vector<std::string> outcomes;
    for (int i = 0; i < pods; ++i) {
      outcomes.push_back(
          Harness::Outcome(harness_.Schedule({.name = "p" + std::to_string(next_++)})));
    }
    return outcomes;
  }

  Harness harness_;
  int next_ = 0;
};

TEST_F(QuarantineTest, ScoreIsPassedOverFromTheTenthBadScoreOn) {
  harness_.AddNode({.name = "n1", .allocatable = "\"pods\":\"110\",\"example.com/score\":\"101\""});
  harness_.AddNode({.name = "n2", .allocatable = "\"pods\":\"110\",\"example.com/score\":\"0\""});
  ASSERT_TRUE(harness_.Start(Profile().Use("test.A", {Point::kScore})).ok());
  for (const std::string& outcome : Schedule(10)) {
    EXPECT_THAT(outcome, HasSubstr("invalid score 101"));
  }
  const auto found = harness_.loop().faults().InQuarantine();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].plugin, "test.A");
  EXPECT_EQ(found[0].profile, "default-scheduler");
  EXPECT_THAT(Schedule(1), ElementsAre("Success"));
}

TEST_F(QuarantineTest, FilterFailsAndNamesTheReason) {
  harness_.AddNodes({"n1"});
  ASSERT_TRUE(
      harness_.Start(Profile().Use("test.A", {Point::kFilter}, R"({"filter":{"verdict":9}})"))
          .ok());
  for (const std::string& outcome : Schedule(10)) EXPECT_THAT(outcome, HasSubstr("verdict 9"));
  EXPECT_THAT(
      Schedule(1),
      ElementsAre("Error: running \"test.A\" filter plugin: in quarantine: 10 faults within "
                  "1m0s, the last at Filter: bad verdict: verdict 9 for node n1 is none "
                  "that Filter may give"));
  EXPECT_THAT(harness_.lines(), Contains(HasSubstr("(8 times by now)")));
}

TEST_F(QuarantineTest, AnErrorIsNoFault) {
  harness_.AddNodes({"n1"});
  ASSERT_TRUE(harness_
                  .Start(Profile().Use("test.A", {Point::kFilter},
                                       R"({"filter":{"code":1,"reasons":["no"]}})"))
                  .ok());
  Schedule(20);
  EXPECT_THAT(harness_.loop().faults().Counts(), IsEmpty());
  EXPECT_THAT(harness_.loop().faults().InQuarantine(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
