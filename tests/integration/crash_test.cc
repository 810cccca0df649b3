// Crash reports for calls outside extension points.
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "host/guard/crash_report.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/what_if.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

void Die() { std::abort(); }

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() : puppet_(stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter})) {}

  // Creates, uses and destroys the plugin in a child process, which one of these steps ends.
  void Play() {
    InstallCrashReport(&stage_.monitor());
    stage_.Build();
    Attempt& attempt = stage_.Begin();
    (void)RunPreFilter(attempt);
    if (puppet_.has_slot) {
      const Row row = 0;
      (void)WhatIf(attempt, {&row, 1}).AddPod(0, attempt.pod()->view());
    }
    attempt.End();
    stage_.DestroyPlan();
    std::_Exit(0);
  }

  Stage stage_;
  Puppet& puppet_;
};

constexpr char kInLoad[] =
    "^berth: crashed in plugin puppet\\.A \\(/.*libpuppets\\.so\\) at load\n$";

TEST_F(CrashTest, NamesThePluginThatCrashesInCreate) {
  puppet_.create = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, NamesThePluginThatCrashesInQuiesce) {
  puppet_.quiesce = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, NamesThePluginThatCrashesInDestroy) {
  puppet_.destroy = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, NamesThePluginThatCrashesInAClone) {
  puppet_.has_slot = true;
  puppet_.add_pod = [](auto&&...) { return BERTH_SUCCESS; };
  puppet_.pre_filter = [](const berth_cycle& cycle, auto&&...) {
    *static_cast<int64_t*>(cycle.slots[0]) = Stage::kDeadlySlot;
    return BERTH_SUCCESS;
  };
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT),
              "^berth: crashed in plugin puppet\\.A \\(/.*\\) at cycle state\n$");
}

TEST_F(CrashTest, NamesNoPluginOutsideACall) {
  EXPECT_EXIT(
      {
        InstallCrashReport(&stage_.monitor());
        stage_.Build();
        stage_.DestroyPlan();
        Die();
      },
      ::testing::KilledBySignal(SIGABRT), "^berth: crashed outside any plugin call\n$");
}

}  // namespace
}  // namespace berth::host
