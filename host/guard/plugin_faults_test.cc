#include "host/guard/plugin_faults.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kFilterBit = 1U << static_cast<uint32_t>(Point::kFilter);

class PluginFaultsTest : public ::testing::Test {
 protected:
  PluginFaults Make(QuarantinePolicy policy) {
    return PluginFaults({.quarantine = policy, .log = &log_, .clock = &clock_});
  }
  static std::string ToText(const PluginFaults::Count& count) {
    return count.profile + " " + count.plugin + " " + std::string(NameOf(count.point)) + " " +
           std::string(FaultName(count.kind)) + " " + std::to_string(count.count);
  }
  static std::vector<std::string> Table(const PluginFaults& faults) {
    std::vector<std::string> table;
    for (const auto& count : faults.Counts()) table.push_back(ToText(count));
    return table;
  }

  TestClock clock_;
  TestLog log_{BERTH_LOG_TRACE, true};
  std::vector<std::string>& lines_ = log_.lines();
};

TEST_F(PluginFaultsTest, CountsByProfilePluginPointAndKind) {
  PluginFaults faults = Make({.faults = 0});
  const auto a = faults.Open("test.A", "default");
  const auto b = faults.Open("test.A", "binpack");
  faults.Note(*a, Point::kFilter, FaultKind::kBadVerdict, "x");
  faults.Note(*a, Point::kFilter, FaultKind::kBadVerdict, "y");
  faults.Note(*a, Point::kFilter, FaultKind::kDeadline, "x");
  faults.Note(*a, Point::kScore, FaultKind::kBadScore, "x");
  faults.Note(*b, Point::kPostFilter, FaultKind::kException, "x");
  EXPECT_THAT(
      Table(faults),
      ElementsAre("binpack test.A PostFilter exception 1", "default test.A Filter bad verdict 2",
                  "default test.A Filter deadline 1", "default test.A Score bad score 1"));
}

TEST_F(PluginFaultsTest, CountsContinueWithTheNextInstance) {
  PluginFaults faults = Make({.faults = 0});
  faults.Note(*faults.Open("test.A", ""), Point::kBind, FaultKind::kBadCode, "x");
  faults.Note(*faults.Open("test.A", ""), Point::kBind, FaultKind::kBadCode, "x");
  EXPECT_THAT(Table(faults), ElementsAre(" test.A Bind bad code 2"));
}

TEST_F(PluginFaultsTest, LogsTheFirstFaultAndThenEachDoubling) {
  PluginFaults faults = Make({.faults = 0});
  const auto account = faults.Open("test.A", "default");
  for (int i = 1; i <= 9; ++i) {
    faults.Note(*account, Point::kFilter, FaultKind::kException, "boom " + std::to_string(i));
  }
  faults.Note(*account, Point::kScore, FaultKind::kException, "bang");
  EXPECT_THAT(lines_, ElementsAre("3 test.A: Filter: exception: boom 1 profile=default count=1",
                                  "3 test.A: Filter: exception: boom 2 profile=default count=2",
                                  "3 test.A: Filter: exception: boom 4 profile=default count=4",
                                  "3 test.A: Filter: exception: boom 8 profile=default count=8",
                                  "3 test.A: Score: exception: bang profile=default count=1"));
}

TEST_F(PluginFaultsTest, QuarantinesAfterTheConfiguredFaultsWithinTheWindow) {
  PluginFaults faults = Make({.faults = 3, .window_ns = 60 * kSecond});
  const auto account = faults.Open("test.A", "default");
  const auto note = [&] { faults.Note(*account, Point::kFilter, FaultKind::kException, "boom"); };
  note();
  clock_.Advance(1);
  note();
  clock_.Advance(60 * kSecond);
  note();  // The first fault lies one nanosecond outside the window.
  EXPECT_FALSE(account->quarantined());
  EXPECT_THAT(faults.InQuarantine(), IsEmpty());
  note();  // The second fault lies on the edge of the window.
  EXPECT_TRUE(account->quarantined());
  const std::string why = "3 faults within 1m0s, the last at Filter: exception: boom";
  EXPECT_EQ(account->why(), why);
  EXPECT_EQ(lines_.back(), "4 test.A: in quarantine: " + why + " profile=default pause=30s");
  ASSERT_EQ(faults.InQuarantine().size(), 1U);
  EXPECT_EQ(faults.InQuarantine()[0].profile, "default");
  EXPECT_EQ(faults.InQuarantine()[0].plugin, "test.A");
  EXPECT_EQ(faults.InQuarantine()[0].why, why);
}

TEST_F(PluginFaultsTest, AnnouncesEachQuarantineOnce) {
  std::vector<std::string> announced;
  PluginFaults faults({.quarantine = {.faults = 2},
                       .on_quarantine = [&](const auto& q) { announced.push_back(q.ToString()); },
                       .clock = &clock_});
  const auto account = faults.Open("test.A", "acme");
  const auto note = [&] { faults.Note(*account, Point::kFilter, FaultKind::kException, "boom"); };
  note();
  EXPECT_THAT(announced, IsEmpty());
  note();
  const std::string text = "test.A of the profile acme is in quarantine for ";
  const std::string last = ", the last at Filter: exception: boom";
  EXPECT_THAT(announced, ElementsAre(text + "30s: 2 faults within 1m0s" + last));
  note();
  EXPECT_EQ(announced.size(), 1U);
  clock_.Advance(30 * kSecond);
  faults.BeginTrials();
  note();
  EXPECT_EQ(announced.size(), 2U);
  EXPECT_EQ(announced.back(), text + "1m0s: a fault on trial" + last);
}

TEST_F(PluginFaultsTest, AQuarantineKeepsItsReason) {
  PluginFaults faults = Make({.faults = 1});
  const auto account = faults.Open("test.A", "");
  faults.Note(*account, Point::kFilter, FaultKind::kException, "first");
  faults.Note(*account, Point::kFilter, FaultKind::kException, "second");
  EXPECT_THAT(account->why(), ::testing::EndsWith("first"));
}

TEST_F(PluginFaultsTest, AQuarantineEndsAfterItsPause) {
  PluginFaults faults = Make({.faults = 2});
  const auto account = faults.Open("test.A", "default");
  for (int i = 0; i < 2; ++i) faults.Note(*account, Point::kFilter, FaultKind::kException, "x");
  EXPECT_EQ(faults.NextTrialNs(), clock_.NowNs() + 30 * kSecond);
  clock_.Advance(30 * kSecond - 1);
  EXPECT_FALSE(faults.BeginTrials());
  EXPECT_TRUE(account->quarantined());
  clock_.Advance(1);
  EXPECT_TRUE(account->quarantined()) << "it ends between cycles only";
  EXPECT_TRUE(faults.BeginTrials());
  EXPECT_FALSE(account->quarantined());
  EXPECT_FALSE(faults.BeginTrials());
  EXPECT_EQ(faults.NextTrialNs(), std::nullopt);
  EXPECT_THAT(faults.InQuarantine(), IsEmpty());
  EXPECT_EQ(lines_.back(),
            "2 test.A: The quarantine is over; called again, on trial profile=default");
}

TEST_F(PluginFaultsTest, AFaultOnTrialDoublesThePause) {
  PluginFaults faults = Make({.faults = 2, .window_ns = 60 * kSecond});
  const auto account = faults.Open("test.A", "default");
  const auto note = [&] { faults.Note(*account, Point::kFilter, FaultKind::kException, "x"); };
  note();
  note();
  for (const int64_t pause : {30, 60, 120, 240, 480, 600, 600}) {
    ASSERT_TRUE(account->quarantined());
    ASSERT_EQ(faults.InQuarantine().size(), 1U);
    EXPECT_EQ(faults.InQuarantine()[0].pause_ns, pause * kSecond);
    clock_.Advance(pause * kSecond - 1);
    faults.BeginTrials();
    EXPECT_TRUE(account->quarantined());
    clock_.Advance(1);
    faults.BeginTrials();
    EXPECT_FALSE(account->quarantined());
    clock_.Advance(60 * kSecond - 1);  // The last moment of the trial.
    note();
  }
  EXPECT_EQ(account->why(), "a fault on trial, the last at Filter: exception: x");
}

TEST_F(PluginFaultsTest, APluginThatPassesItsTrialIsTrusted) {
  PluginFaults faults = Make({.faults = 2, .window_ns = 60 * kSecond});
  const auto account = faults.Open("test.A", "default");
  const auto note = [&] { faults.Note(*account, Point::kFilter, FaultKind::kException, "x"); };
  note();
  note();
  clock_.Advance(30 * kSecond);
  faults.BeginTrials();
  clock_.Advance(60 * kSecond);
  note();
  EXPECT_FALSE(account->quarantined()) << "the first of two faults";
  note();
  ASSERT_TRUE(account->quarantined());
  EXPECT_EQ(faults.InQuarantine()[0].pause_ns, 30 * kSecond) << "the first pause again";
}

TEST_F(PluginFaultsTest, FaultsForOnePodCountOnce) {
  PluginFaults faults = Make({.faults = 3});
  const auto account = faults.Open("test.A", "");
  const auto note = [&](uint64_t pod) {
    faults.Note(*account, Point::kFilter, FaultKind::kDeadline, "x", pod);
    account->CountServed(kFilterBit);
  };
  for (int i = 0; i < 100; ++i) note(1);
  note(2);
  for (int i = 0; i < 100; ++i) note(1);
  EXPECT_FALSE(account->quarantined());
  note(3);
  EXPECT_TRUE(account->quarantined());
}

TEST_F(PluginFaultsTest, APluginThatServesMostPodsIsTrusted) {
  struct Case {
    const char* description;
    int served;       // Attempts in time before each fault.
    uint32_t called;  // The points at which they called the plugin.
    uint64_t first_pod;
    bool quarantined;
  };
  // Between the first of three faults and the last, 2 * `served` attempts were in time.
  const Case cases[] = {{"it fails for every pod", 0, 0, 1, true},
                        {"it fails for half of the pods", 1, kFilterBit, 1, true},
                        {"it serves two of three pods", 2, kFilterBit, 1, false},
                        {"it serves them at another point", 2, kFilterBit << 1, 1, true},
                        {"a fault that belongs to no attempt", 2, kFilterBit, 0, true}};
  for (const Case& c : cases) {
    PluginFaults faults = Make({.faults = 3});
    const auto account = faults.Open("test.A", "");
    for (uint64_t pod = 0; pod < 3; ++pod) {
      for (int i = 0; i < c.served; ++i) account->CountServed(c.called);
      faults.Note(*account, Point::kFilter, FaultKind::kDeadline, "x", c.first_pod + pod);
      account->CountServed(kFilterBit);
    }
    EXPECT_EQ(account->quarantined(), c.quarantined) << c.description;
  }
}

TEST_F(PluginFaultsTest, OnePodDoesNotEndATrial) {
  PluginFaults faults = Make({.faults = 3});
  const auto account = faults.Open("test.A", "");
  const auto note = [&](uint64_t pod) {
    faults.Note(*account, Point::kFilter, FaultKind::kDeadline, "x", pod);
  };
  for (const uint64_t pod : {1U, 2U, 3U}) note(pod);
  clock_.Advance(30 * kSecond);
  faults.BeginTrials();
  note(1);
  note(1);
  EXPECT_FALSE(account->quarantined());
  note(2);
  EXPECT_TRUE(account->quarantined());
  EXPECT_EQ(account->why(), "2 faults on trial, the last at Filter: deadline: x");
}

TEST_F(PluginFaultsTest, TrialsOfOtherInstancesAreIndependent) {
  PluginFaults faults = Make({.faults = 1});
  const auto a = faults.Open("test.A", "one");
  const auto b = faults.Open("test.B", "one");
  faults.Note(*a, Point::kFilter, FaultKind::kException, "x");
  const int64_t begun_ns = clock_.NowNs();
  clock_.Advance(20 * kSecond);
  faults.Note(*b, Point::kFilter, FaultKind::kException, "x");
  EXPECT_EQ(faults.NextTrialNs(), begun_ns + 30 * kSecond) << "that of test.A";
  clock_.Advance(10 * kSecond);
  faults.BeginTrials();
  EXPECT_FALSE(a->quarantined());
  EXPECT_TRUE(b->quarantined());
  clock_.Advance(20 * kSecond);
  faults.BeginTrials();
  EXPECT_FALSE(b->quarantined());
}

TEST_F(PluginFaultsTest, AQuarantineBelongsToOneInstance) {
  PluginFaults faults = Make({.faults = 1});
  const auto a = faults.Open("test.A", "one");
  const auto b = faults.Open("test.A", "two");
  faults.Note(*a, Point::kFilter, FaultKind::kException, "x");
  EXPECT_TRUE(a->quarantined());
  EXPECT_FALSE(b->quarantined());
  EXPECT_FALSE(faults.Open("test.A", "one")->quarantined());
}

TEST_F(PluginFaultsTest, TheDefaultIsTenFaultsWithinAMinute) {
  PluginFaults faults = Make({});
  const auto account = faults.Open("test.A", "");
  for (int i = 1; i <= 10; ++i) {
    EXPECT_FALSE(account->quarantined());
    faults.Note(*account, Point::kFilter, FaultKind::kException, "x");
    clock_.Advance(60 * kSecond / 9);
  }
  EXPECT_TRUE(account->quarantined());
}

TEST_F(PluginFaultsTest, ZeroFaultsNeverQuarantine) {
  PluginFaults faults = Make({.faults = 0});
  const auto account = faults.Open("test.A", "");
  for (int i = 0; i < 1000; ++i) faults.Note(*account, Point::kBind, FaultKind::kBadCode, "x");
  EXPECT_FALSE(account->quarantined());
}

}  // namespace
}  // namespace berth::host
