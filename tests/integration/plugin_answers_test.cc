// Class SchedulingCycle: plugins answer with codes that their extension point does not have. Checks
// the result of the cycle and the faults that are counted for the plugin.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> FaultsOf(const SchedulingLoop& loop) {
  std::vector<std::string> faults;
  for (const PluginFaults::Count& count : loop.faults().Counts()) {
    faults.push_back(count.plugin + " " + std::string(NameOf(count.point)) + " " +
                     std::string(FaultName(count.kind)));
  }
  return faults;
}

struct Case {
  const char* args;
  const char* outcome;
  const char* fault;  // "Score bad code"; null: no fault is counted.
};

constexpr char kPreFilter[] = "Error: running PreFilter plugin \"test.A\": ";
constexpr char kFilter[] = "Error: running \"test.A\" filter plugin: ";
constexpr char kPreScore[] = "Error: running PreScore plugin \"test.A\": ";
constexpr char kScore[] = "Error: running Score plugins: plugin \"test.A\" failed with: ";
constexpr char kNormalize[] =
    "Error: running Normalize on Score plugins: plugin \"test.A\" failed with: ";

class PluginAnswersTest : public ::testing::Test {
 protected:
  void Expect(Point point, const std::string& args, const std::string& outcome,
              const std::string& fault) {
    SCOPED_TRACE(args);
    Harness harness;
    harness.AddNodes({"n1", "n2"});
    TestProfile profile;
    profile.Use("test.A", {point}, args.c_str());
    // PreScore is only called if there is a Score plugin.
    if (point == Point::kPreScore) profile.Use("test.B", {Point::kScore}, "{}");
    EXPECT_EQ(harness.OutcomeOf(profile), outcome);
    if (fault.empty()) {
      EXPECT_THAT(FaultsOf(harness.loop()), IsEmpty());
    } else {
      EXPECT_THAT(FaultsOf(harness.loop()),
                  ElementsAre("test.A " + std::string(NameOf(point)) + " " + fault));
    }
  }
  // Expects each of these codes to be an error, and a fault of the plugin.
  void ExpectBad(Point point, const std::string& what, const std::string& mode,
                 const std::string& prefix, const std::vector<int>& codes) {
    for (const int code : codes) {
      const std::string args = "{\"" + what + "\":{" + mode + "\"code\":" + std::to_string(code) +
                               ",\"reasons\":[\"a reason\"]}}";
      Expect(point, args, prefix + "a reason", code == BERTH_BUG ? "exception" : "bad code");
    }
  }
};

TEST_F(PluginAnswersTest, WrongCodesOfPreFilter) {
  ExpectBad(Point::kPreFilter, "preFilter", "", kPreFilter, {4, 33, 37, 99, -1});
  Expect(Point::kPreFilter, R"({"preFilter":{"code":1,"reasons":["boom"]}})",
         std::string(kPreFilter) + "boom", "");
  Expect(Point::kPreFilter, R"({"preFilter":{"code":32,"reasons":["stopped"]}})",
         std::string(kPreFilter) + "stopped", "");
}

TEST_F(PluginAnswersTest, WrongCodesOfFilter) {
  ExpectBad(Point::kFilter, "filter", "", kFilter, {2, 3, 4, 5, 6, 37, 99, -1});
  Expect(Point::kFilter, R"({"filter":{"code":1,"reasons":["boom"]}})",
         std::string(kFilter) + "boom", "");
}

TEST_F(PluginAnswersTest, WrongCodesOfPreScore) {
  ExpectBad(Point::kPreScore, "preScore", "", kPreScore, {2, 3, 4, 37, 99});
}

// Pending is an answer of these two points alone: the pod waits for the plugin.
TEST_F(PluginAnswersTest, PendingParksThePod) {
  const std::string outcome = "Pending: pod is waiting for the plugin test.A: asked";
  Expect(Point::kPreFilter, R"({"preFilter":{"code":6,"reasons":["asked"]}})", outcome, "");
  Expect(Point::kPreScore, R"({"preScore":{"code":6,"reasons":["asked"]}})", outcome, "");
}

TEST_F(PluginAnswersTest, WrongCodesOfScore) {
  ExpectBad(Point::kScore, "score", "", kScore, {2, 3, 4, 5, 6, 37, 99});
}

TEST_F(PluginAnswersTest, WrongCodesOfNormalizeScore) {
  ExpectBad(Point::kScore, "normalize", "\"mode\":4,", kNormalize, {2, 3, 4, 5, 6, 37, 99});
}

// The score of an earlier call or plugin is not used instead.
TEST_F(PluginAnswersTest, AMissingScoreIsAFault) {
  for (const char* node : {"n1", "n2"}) {
    Expect(Point::kScore, std::string(R"({"score":{"notAt":")") + node + "\"}}",
           std::string(kScore) + "no score for node " + node, "bad score");
  }
  Harness harness;
  harness.AddNodes({"n1", "n2", "n3"});
  // The second plugin gets the memory in which the first one wrote its scores.
  EXPECT_EQ(harness.OutcomeOf(TestProfile()
                                  .Use("test.B", {Point::kScore}, "{}")
                                  .Use("test.A", {Point::kScore}, R"({"score":{"notAt":"n2"}})")),
            std::string(kScore) + "no score for node n2");
}

// A rejection without a reason does not get the reason of another plugin or pod.
TEST_F(PluginAnswersTest, AMissingReasonIsReportedWithThePlugin) {
  Harness harness;
  harness.AddNodes({"n1", "n2"});
  const char* names = R"({"reasons":["it is B"],"filter":{"verdict":2,"bits":1,"onlyAt":"n1"}})";
  const char* silent =
      R"({"reasons":["it is A"],"filter":{"verdict":2,"bits":-1,"silent":1,"onlyAt":"n2"}})";
  EXPECT_EQ(harness.OutcomeOf(TestProfile()
                                  .Use("test.B", {Point::kFilter}, names)
                                  .Use("test.A", {Point::kFilter}, silent)),
            "Unschedulable: 0/2 nodes are available: 1 it is B, 1 test.A gave no reason.");
}

}  // namespace
}  // namespace berth::host
