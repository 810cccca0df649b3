// Whose code it was when the process dies, where no extension point is called.
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "host/guard/crash_report.h"
#include "host/runtime/run_filter.h"
#include "host/runtime/run_pre_filter.h"
#include "host/runtime/what_if.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

void Die() { std::abort(); }

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() : puppet_(stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter})) {}

  // Makes the plugin, lets it work, and unmakes it, in a process that will not survive it.
  void Play() {
    InstallCrashReport(&stage_.monitor());
    stage_.Build();
    Attempt& attempt = stage_.Begin();
    (void)RunPreFilter(attempt);
    if (puppet_.has_slot) (void)WhatIf::Begin(attempt, 0);
    attempt.End();
    stage_.Strike();
    std::_Exit(0);
  }

  Stage stage_;
  Puppet& puppet_;
};

constexpr char kInLoad[] =
    "^berth: crashed in plugin puppet\\.A \\(/.*libpuppets\\.so\\) at load\n$";

TEST_F(CrashTest, InCreate) {
  puppet_.create = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, InQuiesce) {
  puppet_.quiesce = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, InDestroy) {
  puppet_.destroy = Die;
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT), kInLoad);
}

TEST_F(CrashTest, ACloneIsOfThePlugin) {
  puppet_.has_slot = true;
  puppet_.add_pod = [](auto&&...) { return BERTH_SUCCESS; };
  puppet_.pre_filter = [](const berth_cycle& cycle, auto&&...) {
    *static_cast<int64_t*>(cycle.slots[0]) = Stage::kDeadlySlot;
    return BERTH_SUCCESS;
  };
  EXPECT_EXIT(Play(), ::testing::KilledBySignal(SIGABRT),
              "^berth: crashed in plugin puppet\\.A \\(/.*\\) at cycle state\n$");
}

TEST_F(CrashTest, AndNobodysWhenNobodyIsCalled) {
  EXPECT_EXIT(
      {
        InstallCrashReport(&stage_.monitor());
        stage_.Build();
        stage_.Strike();
        Die();
      },
      ::testing::KilledBySignal(SIGABRT), "^berth: crashed outside any plugin\n$");
}

}  // namespace
}  // namespace berth::host
