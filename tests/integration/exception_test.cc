// Exceptions in every method and callback of a C++ plugin. An exception ends in the plugin's side
// of the SDK: the host goes on and counts a fault at the extension point that it called. If the
// method has a result, the result is an error.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ExceptionCase {
  const char* at;       // The method.
  const char* counted;  // The point where the fault is counted first.
};

constexpr ExceptionCase kExceptionCases[] = {
    {"PreEnqueue", "PreEnqueue"},
    {"Hint", "EnqueueExtensions"},
    {"Key", "QueueSort"},
    {"Lane", "QueueSort"},
    {"NextLane", "QueueSort"},
    {"Entity", "Entity"},
    {"PreFilter", "PreFilter"},
    {"Save", "HandOver"},
    {"Restore", "HandOver"},
    {"AddPod", "PreFilter"},
    {"RemovePod", "PreFilter"},
    {"clone", "cycle state"},
    {"Filter", "Filter"},
    {"PostFilter", "PostFilter"},
    {"PreScore", "PreScore"},
    {"Score", "Score"},
    {"NormalizeScore", "Score"},
    {"Reserve", "Reserve"},
    {"Unreserve", "Reserve"},
    {"Permit", "Permit"},
    {"PreBindPreFlight", "PreBind"},
    {"PreBind", "PreBind"},
    {"Bind", "Bind"},
    {"PostBind", "PostBind"},
    {"AttemptFailed", "AttemptFailed"},
    {"OnChange", "Changes"},
    {"watch", "callback"},
    {"timer", "callback"},
    {"answer", "callback"},
    {"post", "callback"},
};

class ExceptionTest : public ::testing::Test {
 protected:
  static PlanSpec SpecFor(const std::string& at) {
    PlanSpec spec;
    spec.plugins.push_back(
        {"test.Thrower", std::make_shared<const nlohmann::json>(nlohmann::json{{"at", at}}), ""});
    for (const PointInfo& info : kPoints) {
      spec.points[static_cast<size_t>(info.point)].push_back({"test.Thrower", 1});
    }
    return spec;
  }
  // Returns "PreFilter exception" and so on, in the order of the points.
  static std::vector<std::string> Faults(const SchedulingLoop& loop) {
    std::vector<std::string> faults;
    for (const PluginFaults::Count& count : loop.faults().Counts()) {
      EXPECT_EQ(count.plugin, "test.Thrower");
      EXPECT_GT(count.count, 0U);
      faults.push_back(std::string(NameOf(count.point)) + " " + std::string(FaultName(count.kind)));
    }
    return faults;
  }
};

// Two nodes, a pod on one of them, a namespace, a pod to place, later another node, and a reload.
TEST_F(ExceptionTest, InEveryMethod) {
  for (const ExceptionCase& row : kExceptionCases) {
    SCOPED_TRACE(row.at);
    Harness harness;
    harness.AddNodes({"n1", "n2"});
    harness.AddPod({.name = "there", .node = "n1"});
    harness.AddObject(
        R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"blue","uid":"uid-blue"}})");
    const Status status = harness.Start(SpecFor(row.at));
    ASSERT_TRUE(status.ok()) << status.ToString();
    harness.AddPod({.name = "p"});
    harness.Run();
    harness.Advance(2);
    harness.AddNodes({"n3"});
    harness.Run();
    if (std::string_view(row.counted) == "HandOver") {
      PlanSpec renewed = SpecFor(row.at);
      renewed.plugins[0].deadline_ns = kMinute;
      ASSERT_TRUE(harness.loop().Reload(TestCatalog(), std::vector{renewed}).ok());
    }
    const std::vector<std::string> faults = Faults(harness.loop());
    EXPECT_THAT(faults, Contains(std::string(row.counted) + " exception"));
    for (const std::string& fault : faults) EXPECT_THAT(fault, HasSubstr(" exception"));
    // The clone of a slot cannot report a reason.
    if (std::string_view(row.at) == "clone") continue;
    EXPECT_THAT(harness.lines(), Contains(HasSubstr("thrown at " + std::string(row.at))));
  }
}

// A plugin that throws nowhere gets no fault, and its pod is bound.
TEST_F(ExceptionTest, InNoMethod) {
  Harness harness;
  harness.AddNodes({"n1", "n2"});
  ASSERT_TRUE(harness.Start(SpecFor("nowhere")).ok());
  EXPECT_EQ(Harness::Outcome(harness.Schedule({.name = "p"})), "Success");
  EXPECT_THAT(Faults(harness.loop()), ElementsAre());
}

TEST_F(ExceptionTest, InTheConstructorFailsTheProfile) {
  for (const char* at : {"constructor", "EventsToRegister"}) {
    Harness harness;
    const Status status = harness.Start(SpecFor(at));
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.ToString(), HasSubstr("thrown at " + std::string(at)));
  }
}

TEST_F(ExceptionTest, InTheDestructor) {
  Harness harness;
  ASSERT_TRUE(harness.Start(SpecFor("Quiesce")).ok());
  harness.lines().clear();
  harness.Stop();
  EXPECT_THAT(harness.lines(), ElementsAre("test.Thrower: load: exception: Quiesce: thrown at "
                                           "Quiesce profile=default-scheduler count=1"));
}

// After an exception in a method without a result the instance is unusable: it answers every call
// with an error until it is in quarantine.
TEST_F(ExceptionTest, AnInstanceThatLostItsIndexIsQuarantined) {
  Harness harness;
  harness.AddNodes({"n1", "n2"});
  ASSERT_TRUE(harness.Start(SpecFor("OnChange")).ok());
  EXPECT_THAT(harness.loop().faults().InQuarantine(), ElementsAre());
  for (int i = 0; i < 8; ++i) harness.AddNodes({("m" + std::to_string(i)).c_str()});
  harness.Run();
  ASSERT_EQ(harness.loop().faults().InQuarantine().size(), 1U);
  EXPECT_THAT(harness.loop().faults().InQuarantine()[0].why,
              HasSubstr("Changes: exception: OnChange: thrown at OnChange"));
}

}  // namespace
}  // namespace berth::host
