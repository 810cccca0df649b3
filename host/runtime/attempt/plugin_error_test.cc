#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PluginId kPluginId = 7;

class PluginErrorTest : public ::testing::Test {
 protected:
  PluginErrorTest() { plugin_ = Plugin(&faults_); }

  PlannedPlugin Plugin(PluginFaults* faults) {
    services_.faults = faults;
    PlannedPlugin plugin;
    plugin.name = "test.A";
    plugin.id = kPluginId;
    plugin.host =
        std::make_shared<InstanceHost>(services_, "test.A", std::vector<std::string>(), "default",
                                       InstanceLibrary{.path = "/lib.so", .id = nullptr});
    return plugin;
  }
  static std::string TextOf(const PluginStatus& status) {
    EXPECT_EQ(status.plugin, kPluginId);
    return std::string(CodeName(status.code)) + ": " + status.Message();
  }

  TestLog log_;
  std::vector<std::string>& lines_ = log_.lines();
  PluginFaults faults_{{.quarantine = {.faults = 3}, .log = &log_}};
  Interner interner_;
  InstanceContext services_{.interner = interner_, .services = {}};
  PlannedPlugin plugin_;
};

TEST_F(PluginErrorTest, ErrorsHaveTheWordsOfKubeScheduler) {
  const auto text = [this](Point point, PointFunction function = PointFunction::kMain) {
    return PluginError(plugin_, point, "why", function).Message();
  };
  EXPECT_EQ(text(Point::kPreEnqueue), "running PreEnqueue plugin \"test.A\": why");
  EXPECT_EQ(text(Point::kPreFilter), "running PreFilter plugin \"test.A\": why");
  EXPECT_EQ(text(Point::kPreFilter, PointFunction::kAddPod),
            "running AddPod on PreFilter plugin \"test.A\": why");
  EXPECT_EQ(text(Point::kPreFilter, PointFunction::kRemovePod),
            "running RemovePod on PreFilter plugin \"test.A\": why");
  EXPECT_EQ(text(Point::kFilter), "running \"test.A\" filter plugin: why");
  EXPECT_EQ(text(Point::kPostFilter), "why");
  EXPECT_EQ(text(Point::kScore), "running Score plugins: plugin \"test.A\" failed with: why");
  EXPECT_EQ(text(Point::kScore, PointFunction::kNormalize),
            "running Normalize on Score plugins: plugin \"test.A\" failed with: why");
  EXPECT_EQ(text(Point::kPreBind, PointFunction::kPreFlight),
            "running PreBindPreFlight \"test.A\": why");
  EXPECT_EQ(text(Point::kBind), "running Bind plugin \"test.A\": why");
}

TEST_F(PluginErrorTest, ClassifiesTheFaultOfABadCode) {
  services_.faults = &faults_;
  PluginFaults faults({.quarantine = {.faults = 0}, .log = &log_});
  const PlannedPlugin plugin = Plugin(&faults);
  NoteBadCode(plugin, Point::kFilter, BERTH_ERROR, "no fault");
  NoteBadCode(plugin, Point::kFilter, BERTH_CANCELLED, "no fault");
  NoteBadCode(plugin, Point::kFilter, BERTH_BUG, "");
  NoteBadCode(plugin, Point::kFilter, BERTH_WAIT, "why");
  NoteBadCode(plugin, Point::kScore, 99, "");
  EXPECT_THAT(
      lines_,
      ElementsAre("test.A: Filter: exception: plugin returned Bug profile=default count=1",
                  "test.A: Filter: bad code: returned Wait (4): why profile=default count=1",
                  "test.A: Score: bad code: returned Unknown (99) profile=default count=1"));
}

TEST_F(PluginErrorTest, AnswerErrorJoinsReasonsAndNotesTheFault) {
  EXPECT_EQ(TextOf(AnswerError(plugin_, Point::kReserve, {BERTH_SKIP, {"a", "b"}})),
            "Error: running Reserve plugin \"test.A\": a, b");
  EXPECT_EQ(TextOf(AnswerError(plugin_, Point::kReserve, {BERTH_ERROR})),
            "Error: running Reserve plugin \"test.A\": plugin returned Error");
  EXPECT_THAT(lines_, ElementsAre("test.A: Reserve: bad code: returned Skip (5): a, b "
                                  "profile=default count=1"));
}

TEST_F(PluginErrorTest, PointStatusPassesOnCodesOfThePoint) {
  const auto code = [this](Point point, berth_code answer) {
    return PointStatus(plugin_, point, {answer}).code;
  };
  EXPECT_EQ(code(Point::kReserve, BERTH_UNSCHEDULABLE), BERTH_UNSCHEDULABLE);
  EXPECT_EQ(code(Point::kPermit, BERTH_WAIT), BERTH_WAIT);
  EXPECT_EQ(code(Point::kBind, BERTH_SKIP), BERTH_SKIP);
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(code(Point::kPermit, BERTH_SKIP), BERTH_ERROR);
  EXPECT_EQ(lines_.size(), 1U);
  EXPECT_EQ(code(Point::kBind, BERTH_NOT_FOUND), BERTH_ERROR);  // No fault: the binding failed.
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(PluginErrorTest, AQuarantineHasAReasonAndAnError) {
  EXPECT_EQ(QuarantineReason(plugin_), std::nullopt);
  EXPECT_EQ(QuarantineError(plugin_, Point::kFilter), std::nullopt);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(IsQuarantined(plugin_));
    plugin_.host->NoteFault(Point::kFilter, FaultKind::kBadVerdict, "x");
  }
  EXPECT_TRUE(IsQuarantined(plugin_));
  const std::string reason = "in quarantine: " + faults_.InQuarantine()[0].why;
  EXPECT_EQ(QuarantineReason(plugin_), reason);
  EXPECT_EQ(QuarantineError(plugin_, Point::kReserve)->Message(),
            "running Reserve plugin \"test.A\": " + reason);
}

TEST_F(PluginErrorTest, WithoutPluginFaultsNothingIsCounted) {
  const PlannedPlugin plugin = Plugin(nullptr);
  NoteBadCode(plugin, Point::kFilter, BERTH_BUG, "x");
  EXPECT_FALSE(IsQuarantined(plugin));
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace berth::host
