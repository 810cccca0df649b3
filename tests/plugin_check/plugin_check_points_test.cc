// Tests `berth plugin check --points`.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin_check/run_check.h"

namespace berth::host {
namespace {

using ::testing::Contains;

using ::testing::HasSubstr;

Json CheckPoints(const std::string& library, const std::string& points) {
  const Outcome run =
      RunBerth({"plugin", "check", Broken(library), "--points", points, "--output", "json"});
  EXPECT_EQ(run.err, "");
  return Json::parse(run.out);
}

TEST(PluginCheckPointsTest, ChecksTheNamedPointsAlone) {
  const struct {
    const char* name;
    const char* library;
    const char* points;
    std::vector<std::string> checked;
  } cases[] = {
      {"a plugin whose Score is broken", "dependence_on_pending", "OnChange", {"Changes"}},
      {"the name of the point", "dependence_on_pending", "test.Broken=Changes", {"Changes"}},
      {"a plugin whose hint is broken", "hints", "Filter,Score", {"Filter", "Score"}},
      {"a plugin whose Filter is broken", "codes", "EventsToRegister", {"EnqueueExtensions"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Json report = CheckPoints(c.library, c.points);
    EXPECT_EQ(report["kept"], true) << report.dump(1);
    EXPECT_EQ(report["plugins"][0]["points"], Json(c.checked));
    EXPECT_GT(report["plugins"][0]["asked"]["instances"], 0);
  }
}

TEST(PluginCheckPointsTest, FindsViolationsAtTheNamedPoints) {
  EXPECT_THAT(Findings(CheckPoints("leaks_by_nodes", "OnChange")),
              Contains(HasSubstr(" ids more after ")));
  EXPECT_THAT(Findings(CheckPoints("hints", "EnqueueExtensions")),
              Contains(HasSubstr("depends on the pod's PRIORITY")));
  EXPECT_THAT(Findings(CheckPoints("outputs", "Filter")), Contains(HasSubstr("unwritten")));
}

TEST(PluginCheckPointsTest, RejectsOtherPoints) {
  const struct {
    const char* points;
    const char* error;
  } cases[] = {
      {"Filtr", "--points: expected an extension point, found \"Filtr\"; did you mean Filter?"},
      {"OnChanged", "found \"OnChanged\"; did you mean OnChange"},
      {"", "--points: expected an extension point, found \"\""},
      {"Filter,Permit",
       "--points: expected points of the plugin test.Broken (PreFilter, Filter, Score, "
       "EnqueueExtensions), found Permit"},
      {"test.Broke=Filter", "--points: expected a plugin of the library (test.Broken), found "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.points);
    const Outcome run = RunBerth({"plugin", "check", Broken("nothing"), "--points", c.points});
    EXPECT_EQ(run.exit_status, kExitBadInput);
    EXPECT_THAT(run.err, HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace berth::host
