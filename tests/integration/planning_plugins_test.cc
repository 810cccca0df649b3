// Real plugins that plan over many nodes: a preemption that asks about all of them in one what-if
// question, a Filter that is called once for all of them, and what plugins receive about the chosen
// node.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cycle/schedule_one.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PlanningPluginsTest : public ::testing::Test {
 protected:
  static TestProfile Profile() {
    TestProfile profile;
    return profile.Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter});
  }
  static TestPod PodOf(const std::string& name, const std::string& cpu, int priority,
                       const std::string& node = "") {
    return {.name = name,
            .node = node,
            .requests = "\"cpu\":\"" + cpu + "\"",
            .spec = "\"priority\":" + std::to_string(priority)};
  }
  void Start(const TestProfile& profile) {
    const Status status = harness_.Start(profile);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Runs an attempt for a pod with priority 100 and returns the node that it is nominated to.
  std::string NominatedNodeOf(const TestPod& pod) {
    harness_.Schedule(pod);
    return std::string(harness_.loop().queue().nominator().NodeOf("uid-" + pod.name));
  }
  // Returns how many faults of the plugin were counted.
  uint64_t Faults(const std::string& plugin) {
    uint64_t count = 0;
    for (const PluginFaults::Count& fault : harness_.loop().faults().Counts()) {
      if (fault.plugin == plugin) count += fault.count;
    }
    return count;
  }

  Harness harness_;
};

// --- what-if -------------------------------------------------------------------------------------

class PreemptorTest : public PlanningPluginsTest {
 protected:
  static TestProfile WithPreemptor(const char* args = nullptr) {
    return Profile().Use("test.Preemptor", {Point::kPostFilter}, args);
  }
  // A zone may run `pods` pods.
  static TestProfile WithZones(int pods, const char* args) {
    const std::string limit = "{\"pods\":" + std::to_string(pods) + "}";
    return WithPreemptor(args).Use("test.Zones", {Point::kPreFilter, Point::kFilter},
                                   limit.c_str());
  }
  // Adds nodes with 4 cpu and pods of priority 10 + i and 50, with 2 cpu each, on node i.
  void AddFullNodes(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string node = "n" + std::to_string(i);
      harness_.AddNode({.name = node, .labels = R"("zone":"a")"});
      harness_.AddPod(PodOf("low-" + node, "2", 10 + (i + 3) % count, node));
      harness_.AddPod(PodOf("mid-" + node, "2", 50, node));
    }
  }
};

TEST_F(PreemptorTest, AsksAboutFiveHundredNodesInOneCall) {
  AddFullNodes(500);
  Start(WithPreemptor());
  EXPECT_EQ(NominatedNodeOf(PodOf("p", "4", 1000)), "n497") << "the least important victims";
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.Preemptor: asked nodes=500 fitting=500 reasons="));
  EXPECT_EQ(Faults("test.Preemptor"), 0U);
}

// What 500 nodes cost apart from time: one begin, one run_filters, and one copy of a plugin's state
// per node, not one per victim. tests/bench/whatif_bench.cc measures the time.
TEST_F(PreemptorTest, OneQuestionCopiesTheStateOncePerNode) {
  AddFullNodes(500);
  Start(WithZones(999, R"({"measures":true})"));
  EXPECT_EQ(NominatedNodeOf(PodOf("p", "4", 1000)), "n497");
  harness_.Stop();
  EXPECT_THAT(harness_.lines(),
              ElementsAre(StartsWith("test.Preemptor: measured begins=1 runs=1 ns="),
                          "test.Preemptor: asked nodes=500 fitting=500 reasons=",
                          "test.Zones: ended copies=500"));
}

TEST_F(PreemptorTest, OnlyNodesWithEnoughVictimsFit) {
  AddFullNodes(3);
  harness_.AddNode({.name = "busy"});
  harness_.AddPod(PodOf("important", "4", 2000, "busy"));
  Start(WithPreemptor(R"({"victims":1})"));
  EXPECT_EQ(NominatedNodeOf(PodOf("p", "3", 1000)), "");
  EXPECT_EQ(NominatedNodeOf(PodOf("q", "2", 1000)), "n0");
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.Preemptor: asked nodes=4 fitting=0 reasons=Insufficient cpu;",
                          "test.Preemptor: asked nodes=4 fitting=3 reasons=Insufficient cpu;"));
}

// Three nodes of one zone have six pods, and each of them has one victim.
TEST_F(PreemptorTest, RowsTogetherAreOneCluster) {
  const struct {
    const char* name;
    int pods;  // The limit of the zone.
    const char* args;
    const char* asked;
    const char* copies;
  } kTable[] = {
      {"apart, without one of six", 6, R"({"victims":1})", "fitting=3 reasons=", "copies=3"},
      {"apart, without one of six, of which four may run", 4, R"({"victims":1})",
       "fitting=0 reasons=the zone is full;", "copies=3"},
      {"together, without three of six", 4, R"({"victims":1,"together":true})",
       "fitting=3 reasons=", "copies=1"},
      {"together, without three of six, of which three may run", 3,
       R"({"victims":1,"together":true})", "fitting=0 reasons=the zone is full;", "copies=1"},
      {"together, all victims on the next node", 6, R"({"victims":1,"together":true,"moves":true})",
       "fitting=0 reasons=Insufficient cpu;", "copies=1"},
  };
  AddFullNodes(3);
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.name);
    harness_.lines().clear();
    Start(WithZones(row.pods, row.args));
    harness_.Schedule(PodOf("p" + std::to_string(&row - kTable), "2", 1000));
    harness_.Stop();
    EXPECT_THAT(harness_.lines(),
                ElementsAre(std::string("test.Preemptor: asked nodes=3 ") + row.asked,
                            std::string("test.Zones: ended ") + row.copies));
  }
}

// A pod that a question adds takes room on its node, and counts in the zone.
TEST_F(PreemptorTest, AddedPodsCount) {
  const struct {
    const char* name;
    const char* args;
    const char* asked;
  } kTable[] = {
      {"removed", R"({"victims":1})", "fitting=3 reasons="},
      {"removed, and added to the next node", R"({"victims":1,"moves":true})",
       "fitting=0 reasons=the zone is full;"},
  };
  for (const char* node : {"a", "b", "c"}) {
    harness_.AddNode({.name = node, .labels = R"("zone":"a")"});
    harness_.AddPod(PodOf(std::string("low-") + node, "1", 1, node));
  }
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.name);
    harness_.lines().clear();
    Start(WithZones(3, row.args));
    harness_.Schedule(PodOf("p" + std::to_string(&row - kTable), "2", 1000));
    EXPECT_THAT(harness_.lines(),
                ElementsAre(std::string("test.Preemptor: asked nodes=3 ") + row.asked));
    harness_.cluster().DeletePod({"default", "p" + std::to_string(&row - kTable), ""}, 0, nullptr);
    harness_.Stop();
  }
}

// A node that another preemptor was nominated to has no room any more.
TEST_F(PreemptorTest, NominatedPodsCount) {
  AddFullNodes(2);
  Start(WithPreemptor());
  EXPECT_EQ(NominatedNodeOf(PodOf("p", "4", 1000)), "n1");
  EXPECT_EQ(NominatedNodeOf(PodOf("q", "4", 1000)), "n0");
  EXPECT_EQ(NominatedNodeOf(PodOf("r", "4", 1000)), "");
  EXPECT_EQ(harness_.lines().back(),
            "test.Preemptor: asked nodes=2 fitting=0 reasons=Insufficient cpu;");
}

TEST_F(PreemptorTest, Misuse) {
  const struct {
    const char* misuse;
    const char* line;
  } kTable[] = {
      {"once-ended", "refused code=36"},   {"no-row", "refused code=34"},
      {"no-mode", "refused code=35"},      {"selected", "refused code=35"},
      {"many", "refused code=35"},         {"flag", "refused code=35"},
      {"small", "refused code=35"},        {"index", "refused code=35"},
      {"no-pod", "refused code=34"},       {"open", "refused code=0"},
      {"copied-cycle", "refused code=36"}, {"repeated", "refused code=35"},
      {"add-index", "refused code=35"},    {"outside", "refused code=36"},
  };
  AddFullNodes(1);
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.misuse);
    harness_.lines().clear();
    const std::string args = std::string(R"({"misuse":")") + row.misuse + "\"}";
    Start(Profile().Use("test.Preemptor", {Point::kPreFilter, Point::kPostFilter}, args.c_str()));
    harness_.Schedule(PodOf(std::string("p-") + row.misuse, "4", 1000));
    EXPECT_EQ(harness_.lines().front(), std::string("test.Preemptor: ") + row.line);
    EXPECT_EQ(Faults("test.Preemptor"), 0U);
  }
}

// --- whole Filters -------------------------------------------------------------------------------

class QuorumTest : public PlanningPluginsTest {
 protected:
  void StartWith(const char* args) { Start(Profile().Use("test.Quorum", {Point::kFilter}, args)); }
  std::string Outcome(const TestPod& pod) { return Harness::Outcome(harness_.Schedule(pod)); }
};

TEST_F(QuorumTest, SeesAllNodesThatRemain) {
  for (const char* node : {"a", "b", "c"}) harness_.AddNode({.name = node});
  harness_.AddPod(PodOf("there", "3", 0, "b"));
  StartWith(R"({"nodes":2})");
  EXPECT_EQ(Outcome(PodOf("first", "2", 0)), "Success") << "on a or c, which both have room";
  EXPECT_THAT(
      Outcome(PodOf("second", "3", 0)),
      HasSubstr("0/3 nodes are available: 1 only 1 of 2 node(s) remain, 2 Insufficient cpu"));
}

TEST_F(QuorumTest, RejectsSomeOfThem) {
  for (const char* node : {"a", "b"}) harness_.AddNode({.name = node});
  harness_.AddPod(PodOf("there", "1", 0, "b"));
  StartWith(nullptr);
  EXPECT_EQ(harness_.Schedule(PodOf("p", "1", 0)).node, "a");
  harness_.AddPod(PodOf("more", "1", 0, "b"));
  harness_.AddPod(PodOf("huge", "9", 0));
  EXPECT_THAT(Harness::Outcome(harness_.Next()), Not(HasSubstr("the most pods")))
      << "it is not called without nodes";
  EXPECT_EQ(harness_.Schedule(PodOf("q", "1", 0)).node, "a");
}

TEST_F(QuorumTest, Failures) {
  const struct {
    const char* args;
    const char* outcome;
    uint64_t faults;
  } kTable[] = {
      {R"({"fails":true})", "Error: running \"test.Quorum\" filter plugin: no quorum today", 0},
      {R"({"throws":true})", "Error: running \"test.Quorum\" filter plugin: thrown", 0},
      {R"({"forgets":true})", "Error: running \"test.Quorum\" filter plugin: no verdict for node a",
       1},
  };
  harness_.AddNode({.name = "a"});
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.args);
    StartWith(row.args);
    const std::string name = "p" + std::to_string(&row - kTable);
    EXPECT_EQ(Outcome(PodOf(name, "1", 0)), row.outcome);
    EXPECT_EQ(Faults("test.Quorum"), row.faults);
  }
}

TEST_F(QuorumTest, WorksInWhatIfQuestions) {
  for (const char* node : {"a", "b"}) harness_.AddNode({.name = node});
  harness_.AddPod(PodOf("low", "3", 1, "a"));
  harness_.AddPod(PodOf("high", "3", 2, "b"));
  Start(Profile()
            .Use("test.Quorum", {Point::kFilter}, R"({"nodes":2})")
            .Use("test.Preemptor", {Point::kPostFilter}));
  EXPECT_EQ(NominatedNodeOf(PodOf("p", "3", 1000)), "a");
  EXPECT_THAT(harness_.lines(), ElementsAre("test.Preemptor: asked nodes=2 fitting=2 reasons="));
}

// --- the chosen node, nominations, normalisation -------------------------------------------------

class WitnessTest : public PlanningPluginsTest {
 protected:
  void StartWitness() {
    Start(Profile().Use("test.Witness",
                        {Point::kPreFilter, Point::kScore, Point::kReserve, Point::kPermit}));
  }
};

TEST_F(WitnessTest, TheTargetIncludesThePod) {
  harness_.AddNode(
      {.name = "a",
       .allocatable = R"("cpu":"4","pods":"110","memory":"1Gi","example.com/gpu":"4")"});
  TestPod there = PodOf("there", "1", 0, "a");
  there.requests += R"(,"example.com/gpu":"1")";
  harness_.AddPod(there);
  StartWitness();
  TestPod pod = PodOf("p", "2", 0);
  pod.requests += R"(,"example.com/gpu":"2")";
  EXPECT_EQ(harness_.Schedule(pod).node, "a");
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.Witness: reserve node=a pods=there;p; cpu=3000 gpus=3",
                          "test.Witness: nominated pods=",
                          "test.Witness: permit node=a pods=there;p; cpu=3000 gpus=3"));
}

TEST_F(WitnessTest, ListsAllNominations) {
  for (const char* node : {"a", "b"}) harness_.AddNode({.name = node});
  StartWitness();
  for (const auto& [name, node] : {std::pair{"x", "b"}, {"y", "a"}, {"z", "b"}}) {
    TestPod nominated = PodOf(name, "100", 0);
    nominated.status = std::string(R"("nominatedNodeName":")") + node + '"';
    harness_.AddPod(nominated);
  }
  harness_.AddPod(PodOf("p", "1", 10));
  harness_.Run();
  EXPECT_THAT(harness_.lines(), Contains("test.Witness: nominated pods=y@a;x@b;z@b;"));
}

TEST_F(WitnessTest, NormalisesInDouble) {
  for (const auto& [node, pods] : {std::pair{"a", "1"}, {"b", "30"}, {"c", "101"}}) {
    harness_.AddNode(
        {.name = node,
         .allocatable = std::string(R"("cpu":"4","memory":"1Gi","pods":")") + pods + '"'});
  }
  StartWitness();
  SchedulingCycle& cycle = harness_.loop().cycle();
  EXPECT_EQ(cycle.Decide(harness_.objects().Pod(PodOf("p", "1", 0))).node, "c");
  const auto columns = cycle.findings().ranked.columns();
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_THAT(columns[0].raw, ElementsAre(1, 30, 101));
  EXPECT_THAT(columns[0].normalized, ElementsAre(0, 28, 100));
}

}  // namespace
}  // namespace berth::host
