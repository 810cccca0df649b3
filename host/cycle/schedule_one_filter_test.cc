// Class SchedulingCycle: every code and text of PreFilter and Filter.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cycle/fit_error.h"
#include "host/cycle/schedule_one.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SchedulingCycleFilterTest : public ::testing::Test {
 protected:
  SchedulingCycleFilterTest() { harness_.AddNodes({"n1", "n2", "n3"}); }

  // Returns the outcome with test.A at one point.
  std::string With(Point point, const char* args) {
    return harness_.OutcomeOf(TestProfile().Use("test.A", {point}, args));
  }
  std::string With(std::initializer_list<const char*> args) {
    TestProfile profile;
    const char* const names[] = {"test.A", "test.B", "test.C"};
    size_t i = 0;
    for (const char* each : args)
      profile.Use(names[i++], {Point::kPreFilter, Point::kFilter}, each);
    return harness_.OutcomeOf(profile);
  }
  std::vector<std::string> RejectorsOfLastCycle() {
    const SchedulingCycle& cycle = harness_.loop().cycle();
    return RejectorNames(cycle.plan(), cycle.findings());
  }

  Harness harness_;
};

struct FilterCase {
  const char* args;
  const char* outcome;
};

// --- PreFilter ----------------------------------------------------------------------------------

TEST_F(SchedulingCycleFilterTest, AnswersOfPreFilter) {
  constexpr FilterCase kTable[] = {
      {R"({"preFilter":{"code":1,"reasons":["boom"]}})",
       "Error: running PreFilter plugin \"test.A\": boom"},
      {R"({"preFilter":{"code":1,"reasons":["boom","bang"]}})",
       "Error: running PreFilter plugin \"test.A\": boom, bang"},
      {R"({"preFilter":{"code":1}})",
       "Error: running PreFilter plugin \"test.A\": plugin returned Error"},
      {R"({"preFilter":{"code":6,"reasons":["later", "", "soon"]}})",
       "Pending: pod is waiting for the plugin test.A: later, soon"},
      {R"({"preFilter":{"code":37,"reasons":["a bug"]}})",
       "Error: running PreFilter plugin \"test.A\": a bug"},
      {R"({"preFilter":{"code":2,"reasons":["not today"]}})",
       "Unschedulable: 0/3 nodes are available: not today."},
      {R"({"preFilter":{"code":3,"reasons":["never","ever"]}})",
       "Unschedulable: 0/3 nodes are available: never, ever."},
      {R"({"preFilter":{"code":3}})",
       "Unschedulable: 0/3 nodes are available: test.A gave no reason."},
      {R"({"preFilter":{"nodes":[]}})",
       "Unschedulable: 0/3 nodes are available: node(s) didn't satisfy plugin test.A."},
      {R"({"preFilter":{"nodes":["nobody"]}})",
       "Unschedulable: 0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [test.A]."},
  };
  for (const FilterCase& row : kTable) {
    SCOPED_TRACE(row.args);
    EXPECT_EQ(With(Point::kPreFilter, row.args), row.outcome);
  }
}

TEST_F(SchedulingCycleFilterTest, PreFilterNamesASubsetOfTheNodes) {
  ASSERT_TRUE(harness_
                  .Start(TestProfile().Use("test.A", {Point::kPreFilter},
                                           R"({"preFilter":{"nodes":["nobody","n2","n2"]}})"))
                  .ok());
  EXPECT_EQ(harness_.Schedule({.name = "p"}).node, "n2");
}

TEST_F(SchedulingCycleFilterTest, SubsetsAreIntersected) {
  EXPECT_EQ(With({R"({"preFilter":{"nodes":["n1","n2"]}})", R"({"preFilter":{"nodes":["n3"]}})"}),
            "Unschedulable: 0/3 nodes are available: node(s) didn't satisfy plugin(s) "
            "[test.A test.B] simultaneously.");
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.A", "test.B"));
  EXPECT_EQ(With({R"({"preFilter":{"nodes":["nobody","n1"]}})",
                  R"({"preFilter":{"nodes":["n2","nobody"]}})"}),
            "Unschedulable: 0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) "
            "[test.A test.B].");
  EXPECT_EQ(
      With({R"({"preFilter":{"nodes":["n1","n2"]}})", R"({"preFilter":{"nodes":["n2","n3"]}})",
            R"({"filter":{"verdict":2,"bits":1},"reasons":["full"]})"}),
      "Unschedulable: 0/3 nodes are available: 1 full, 2 node(s) didn't satisfy plugin(s) "
      "[test.A test.B].");
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.A", "test.B", "test.C"));
}

TEST_F(SchedulingCycleFilterTest, OnlyUnresolvableSkipsTheOtherPreFilters) {
  EXPECT_EQ(With({R"({"preFilter":{"code":3,"reasons":["never"]}})",
                  R"({"preFilter":{"code":1,"reasons":["not reached"]}})"}),
            "Unschedulable: 0/3 nodes are available: never.");
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.A"));
  EXPECT_EQ(With({R"({"preFilter":{"code":2,"reasons":["not today"]}})",
                  R"({"preFilter":{"code":1,"reasons":["reached"]}})"}),
            "Error: running PreFilter plugin \"test.B\": reached");
  EXPECT_EQ(With({R"({"preFilter":{"code":2,"reasons":["not today"]}})",
                  R"({"preFilter":{"code":3,"reasons":["never"]}})"}),
            "Unschedulable: 0/3 nodes are available: never.");
  EXPECT_EQ(With({R"({"preFilter":{"code":2,"reasons":["first"]}})",
                  R"({"preFilter":{"code":2,"reasons":["last"]}})", R"({"say":1})"}),
            "Unschedulable: 0/3 nodes are available: last.");
  EXPECT_THAT(harness_.lines(), ::testing::Contains("test.C: pre_filter nodes=3"));
}

TEST_F(SchedulingCycleFilterTest, NamedSubsetRejectsUnlessLaterOneIsUnresolvable) {
  const char* subset = R"({"preFilter":{"nodes":["n1"]}})";
  With({subset, R"({"preFilter":{"code":2,"reasons":["not today"]}})"});
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.A", "test.B"));
  With({subset, R"({"preFilter":{"code":3,"reasons":["never"]}})"});
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.B"));
}

TEST_F(SchedulingCycleFilterTest, SkipOmitsTheFilterOfThePlugin) {
  const char* rejects = R"({"filter":{"verdict":2,"bits":1},"reasons":["full"]})";
  EXPECT_EQ(With({rejects}), "Unschedulable: 0/3 nodes are available: 3 full.");
  harness_.cluster().Delete(kPodKind, "default", "p").ok();
  EXPECT_EQ(
      With({R"({"preFilter":{"code":5},"filter":{"verdict":2,"bits":1},"reasons":["full"]})"}),
      "Success");
}

TEST_F(SchedulingCycleFilterTest, PluginMayAddReasonsUpToSixtyFour) {
  EXPECT_EQ(With({R"({"reasons":["a","b"],"say":1,"preFilter":{"addReasons":62},
                      "filter":{"verdict":2,"bits":-9223372036854775805}})"}),
            "Unschedulable: 0/3 nodes are available: 3 a, 3 added 61, 3 b.");
  EXPECT_THAT(harness_.lines(),
              ::testing::IsSupersetOf({"test.A: added 0 bit=2", "test.A: added 61 bit=63"}));
  With({R"({"reasons":["a","b"],"say":1,"preFilter":{"addReasons":63}})"});
  EXPECT_THAT(harness_.lines(), ::testing::Contains("test.A: added 62 bit=-1"));
}

TEST_F(SchedulingCycleFilterTest, AddedReasonsExistForOneCycle) {
  TestProfile profile;
  profile.Use("test.A", {Point::kPreFilter},
              R"({"say":1,"preFilter":{"addReasons":1,"code":3,"reasons":["no"]}})");
  ASSERT_TRUE(harness_.Start(profile).ok());
  harness_.Schedule({.name = "p"});
  harness_.Schedule({.name = "q"});
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: added 0 bit=0"), 2);
}

// --- Filter -------------------------------------------------------------------------------------

TEST_F(SchedulingCycleFilterTest, Verdicts) {
  constexpr FilterCase kTable[] = {
      {R"({"filter":{"verdict":2,"bits":1},"reasons":["full"]})",
       "Unschedulable: 0/3 nodes are available: 3 full."},
      {R"({"filter":{"verdict":3,"bits":3},"reasons":["wrong","worse"]})",
       "Unschedulable: 0/3 nodes are available: 3 worse, 3 wrong."},
      {R"({"filter":{"verdict":6,"bits":1},"reasons":["soon"]})",
       "Unschedulable: 0/3 nodes are available: 3 soon."},
      {R"({"filter":{"verdict":2}})",
       "Unschedulable: 0/3 nodes are available: 3 test.A gave no reason."},
      {R"({"filter":{"verdict":2,"bits":2},"reasons":["known"]})",
       "Unschedulable: 0/3 nodes are available: 3 (a reason that the plugin did not declare)."},
      {R"({"filter":{"verdict":1,"bits":1,"onlyAt":"n2"},"reasons":["boom"]})",
       "Error: running \"test.A\" filter plugin: boom"},
      {R"({"filter":{"verdict":1,"onlyAt":"n2"}})",
       "Error: running \"test.A\" filter plugin: plugin returned Error for node n2"},
      {R"({"filter":{"verdict":4,"onlyAt":"n3"}})",
       "Error: running \"test.A\" filter plugin: verdict 4 for node n3 is not a valid "
       "verdict of Filter"},
      {R"({"filter":{"verdict":5,"onlyAt":"n1"}})",
       "Error: running \"test.A\" filter plugin: verdict 5 for node n1 is not a valid "
       "verdict of Filter"},
      {R"({"filter":{"verdict":77,"onlyAt":"n2"}})",
       "Error: running \"test.A\" filter plugin: verdict 77 for node n2 is not a valid "
       "verdict of Filter"},
      {R"({"filter":{"unwritten":1,"onlyAt":"n2"}})",
       "Error: running \"test.A\" filter plugin: no verdict for node n2"},
      {R"({"filter":{"code":1,"reasons":["gone"]}})",
       "Error: running \"test.A\" filter plugin: gone"},
      {R"({"filter":{"code":2,"reasons":["not a verdict"]}})",
       "Error: running \"test.A\" filter plugin: not a verdict"},
      {R"({"filter":{"code":32}})",
       "Error: running \"test.A\" filter plugin: plugin returned Cancelled"},
  };
  for (const FilterCase& row : kTable) {
    SCOPED_TRACE(row.args);
    EXPECT_EQ(With(Point::kFilter, row.args), row.outcome);
  }
}

TEST_F(SchedulingCycleFilterTest, TheFirstRejectionOfANodeCounts) {
  EXPECT_EQ(With({R"({"filter":{"verdict":2,"bits":1,"onlyAt":"n1"},"reasons":["a"]})",
                  R"({"filter":{"verdict":2,"bits":1},"reasons":["b"]})",
                  R"({"filter":{"verdict":1,"bits":1},"reasons":["not reached"]})"}),
            "Unschedulable: 0/3 nodes are available: 1 a, 2 b.");
  EXPECT_THAT(RejectorsOfLastCycle(), ElementsAre("test.A", "test.B"));
}

TEST_F(SchedulingCycleFilterTest, EqualReasonsOfSeveralPluginsAreCountedTogether) {
  EXPECT_EQ(With({R"({"filter":{"verdict":2,"bits":1,"onlyAt":"n1"},"reasons":["same"]})",
                  R"({"filter":{"verdict":2,"bits":1},"reasons":["same"]})"}),
            "Unschedulable: 0/3 nodes are available: 3 same.");
}

// kube-scheduler sorts "10 x" before "2 y".
TEST_F(SchedulingCycleFilterTest, ReasonsAreSortedAsStringsWithTheirCounts) {
  for (int i = 4; i <= 12; ++i) harness_.AddNode({.name = "n" + std::to_string(i)});
  EXPECT_EQ(With({R"({"filter":{"verdict":2,"bits":1,"onlyAt":"n1"},"reasons":["z"]})",
                  R"({"filter":{"verdict":2,"bits":1,"onlyAt":"n2"},"reasons":["z"]})",
                  R"({"filter":{"verdict":2,"bits":1},"reasons":["a"]})"}),
            "Unschedulable: 0/12 nodes are available: 10 a, 2 z.");
}

TEST_F(SchedulingCycleFilterTest, RejectsEveryPodWhileThereIsNoNode) {
  for (const char* name : {"n1", "n2", "n3"}) harness_.RemoveNode(name);
  EXPECT_EQ(With(Point::kPreFilter, R"({"preFilter":{"code":1}})"),
            "UnschedulableAndUnresolvable: no nodes available to schedule pods");
  EXPECT_THAT(RejectorsOfLastCycle(), IsEmpty());
}

TEST_F(SchedulingCycleFilterTest, RejectsAPodThatUsesAnUnhandledField) {
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  const auto result =
      harness_.Schedule({.name = "p", .spec = R"("resourceClaims":[{"name":"c"}])"});
  EXPECT_EQ(Harness::Outcome(result),
            "UnschedulableAndUnresolvable: pod uses spec.resourceClaims, which no installed plugin "
            "handles");
  EXPECT_EQ(result.node, "");
}

TEST_F(SchedulingCycleFilterTest, TheMessageEndsWithTheTextOfPostFilter) {
  With(Point::kFilter, R"({"filter":{"verdict":2,"bits":1},"reasons":["full"]})");
  const SchedulingCycle& cycle = harness_.loop().cycle();
  EXPECT_EQ(FitErrorMessage(cycle.attempt(), cycle.findings(), "preemption: no."),
            "0/3 nodes are available: 3 full. preemption: no.");
}

// --- the nominated node -------------------------------------------------------------------------

TEST_F(SchedulingCycleFilterTest, SelectsTheNominatedNodeIfItFits) {
  const TestPod pod{.name = "p", .status = "\"nominatedNodeName\":\"n2\""};
  ASSERT_TRUE(harness_.Start(TestProfile().Use("test.A", {Point::kScore})).ok());
  const auto result = harness_.Schedule(pod);
  EXPECT_EQ(result.node, "n2");
  EXPECT_TRUE(harness_.loop().cycle().findings().filtered.nominated_only);
}

TEST_F(SchedulingCycleFilterTest, ConsidersAllNodesIfTheNominatedNodeFails) {
  for (const char* args :
       {R"({"filter":{"verdict":2,"onlyAt":"n2"}})", R"({"preFilter":{"nodes":["n1","n3"]}})"}) {
    SCOPED_TRACE(args);
    Harness harness;
    harness.AddNodes({"n1", "n2", "n3"});
    ASSERT_TRUE(
        harness.Start(TestProfile().Use("test.A", {Point::kPreFilter, Point::kFilter}, args)).ok());
    const auto result = harness.Schedule({.name = "p", .status = "\"nominatedNodeName\":\"n2\""});
    EXPECT_THAT(result.node, ::testing::AnyOf("n1", "n3"));
    EXPECT_FALSE(harness.loop().cycle().findings().filtered.nominated_only);
  }
}

}  // namespace
}  // namespace berth::host
