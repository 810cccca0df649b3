// Tests the forecast: its result is that of a search with dry runs, at a fraction of the questions.
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "fake_what_if.h"
#include "room.h"

namespace berth::testing {
namespace {

using preemption::FakeWhatIf;
using preemption::Room;
using ::testing::ElementsAre;

// A log without records of the level debug, for which the plugin would search all nodes.
const void* QuietLog() {
  static constexpr uint32_t kLevel = BERTH_LOG_INFO;
  static constexpr berth_log kLog{
      sizeof(berth_log), 0, &kLevel,
      [](const berth_host*, uint32_t, berth_str, const berth_str_pair*, uint64_t) noexcept {}};
  return &kLog;
}

// What one preemption does.
struct Outcome {
  std::string node;
  std::set<std::string> victims;
  std::vector<std::string> asked;  // The nodes that dry runs were about.

  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.node == b.node && a.victims == b.victims;
  }
};

// A cluster, of which each call of Preempt() makes a new one.
struct Cluster {
  std::vector<NodeSpec> nodes;
  std::vector<ObjectSpec> budgets = {};
  std::vector<std::pair<PodSpec, std::string>> nominated = {};
  Args args = {{"minCandidateNodesPercentage", 100}};
  FakeWhatIf::Refuse refuse = nullptr;  // Null: the cpu of the nodes decides.

  Outcome Preempt(const PodSpec& pod, std::vector<std::string> pod_filters) const {
    FakeWhatIf what_if;
    if (refuse) what_if.SetRefuse(refuse);
    what_if.SetPodFilters(std::move(pod_filters));
    PluginUnderTest plugin({.nodes = nodes,
                            .args = args,
                            .objects = budgets,
                            .services = {{BERTH_SERVICE_WHATIF, FakeWhatIf::service()},
                                         {BERTH_SERVICE_LOG, QuietLog()}}});
    what_if.SetReadRow(FakeWhatIf::RowsOf(plugin));
    for (const auto& [other, node] : nominated) plugin.Nominate(other, node);
    Outcome outcome{
        .node = plugin.Place(pod).PostFilter().nominated, .victims = {}, .asked = what_if.nodes()};
    plugin.Advance(0);
    for (const ApiCall& call : plugin.api().calls()) {
      if (call.verb == "DELETE") outcome.victims.insert(call.path.substr(call.path.rfind('/') + 1));
    }
    return outcome;
  }
  Outcome Foresee(const PodSpec& pod) const { return Preempt(pod, {"NodeResourcesFit"}); }
  Outcome Search(const PodSpec& pod) const { return Preempt(pod, {"other"}); }
};

PodSpec Running(const std::string& name, int32_t priority, int64_t cpu) {
  return MakePod(name).Priority(priority).CpuMilli(cpu).StartedNs(1);
}

PodSpec Preemptor() { return MakePod("p").Priority(5).CpuMilli(500); }

Cluster ThreeNodes() {
  return {.nodes = {MakeNode("a").CpuMilli(1000).Pod(Running("v", 3, 1000)),
                    MakeNode("b").CpuMilli(1000).Pod(Running("w", 1, 1000)),
                    MakeNode("c").CpuMilli(1000).Pod(Running("x", 2, 1000))}};
}

TEST(Forecast, OneDryRunProvesTheBestNode) {
  const Outcome outcome = ThreeNodes().Foresee(Preemptor());
  EXPECT_EQ(outcome.node, "b");
  EXPECT_THAT(outcome.asked, ElementsAre("b"));
}

TEST(Forecast, NextNodeFollowsAfterOneIsRejected) {
  Cluster cluster = ThreeNodes();
  cluster.refuse = [](const berth_node& node, const FakeWhatIf::PodViews& pods, const berth_pod&) {
    if (FromAbi(node.meta->name) == "b") return "node(s) didn't match";
    return pods.empty() ? "" : "Insufficient cpu";
  };
  const Outcome outcome = cluster.Foresee(Preemptor());
  EXPECT_EQ(outcome.node, "c");
  EXPECT_THAT(outcome.asked, ElementsAre("b", "c"));
}

TEST(Forecast, DryRunThatDiffersIsBelieved) {
  Cluster cluster = ThreeNodes();
  // The pod fits beside nothing, which the requests of the pods do not show.
  cluster.nodes[1].Pod(Running("y", 0, 0));
  cluster.refuse = [](const berth_node&, const FakeWhatIf::PodViews& pods, const berth_pod&) {
    return pods.empty() ? "" : "full";
  };
  const Outcome outcome = cluster.Foresee(Preemptor());
  EXPECT_EQ(outcome, cluster.Search(Preemptor()));
  EXPECT_EQ(outcome.asked.size(), 4U) << "all nodes are searched after the first one";
}

TEST(Forecast, IsMadeOnlyWhereResourcesDecide) {
  const auto asked = [](Cluster cluster, const PodSpec& pod, std::vector<std::string> filters) {
    return cluster.Preempt(pod, std::move(filters)).asked.size();
  };
  const std::vector<std::string> fit = {"NodeResourcesFit"};
  EXPECT_EQ(asked(ThreeNodes(), Preemptor(), fit), 1U);
  EXPECT_EQ(asked(ThreeNodes(), Preemptor(), {"NodeResourcesFit", "NodePorts"}), 3U);
  EXPECT_EQ(asked(ThreeNodes(), Preemptor(), {}), 3U) << "the profile leaves the plugin out";
  EXPECT_EQ(asked(ThreeNodes(), Preemptor().Request("example.com/gpu", "1"), fit), 3U)
      << "the profile may ignore the resource";
  Cluster strict = ThreeNodes();
  strict.args = {{"minCandidateNodesPercentage", 100}, {"strictBudgets", true}};
  EXPECT_EQ(asked(strict, Preemptor(), fit), 3U);
  Cluster few = ThreeNodes();
  few.args = {{"minCandidateNodesPercentage", 0}, {"minCandidateNodesAbsolute", 2}};
  EXPECT_EQ(asked(few, Preemptor(), fit), 3U) << "the search may end before the last node";
  Cluster huge = ThreeNodes();
  huge.nodes[0].Memory(int64_t{1} << 60);
  EXPECT_EQ(asked(huge, Preemptor(), fit), 3U) << "sums might overflow";
}

TEST(Forecast, NodesWithoutRoomAreNotAskedAbout) {
  Cluster cluster = ThreeNodes();
  cluster.nodes.push_back(MakeNode("d").CpuMilli(400).Pod(Running("y", 0, 400)));
  cluster.nodes.push_back(MakeNode("e").CpuMilli(1000).Pod(Running("z", 5, 1000)));
  const Outcome outcome = cluster.Foresee(Preemptor());
  EXPECT_EQ(outcome.node, "b");
  EXPECT_THAT(outcome.asked, ElementsAre("b"));
}

TEST(Forecast, NominatedPodsTakeRoom) {
  Cluster cluster = ThreeNodes();
  cluster.nominated = {{MakePod("n").Priority(5).CpuMilli(600), "b"}};
  // The fake service does not add nominated pods, and so it accepts b.
  EXPECT_EQ(cluster.Foresee(Preemptor()).node, "c");
  cluster.nominated = {{MakePod("n").Priority(4).CpuMilli(600), "b"}};
  EXPECT_EQ(cluster.Foresee(Preemptor()).node, "b");
}

TEST(Forecast, EqualsSearchInRandomClusters) {
  std::mt19937 random(7);
  const auto below = [&random](int64_t n) { return static_cast<int64_t>(random()) % n; };
  for (int round = 0; round < 60; ++round) {
    Cluster cluster;
    for (int64_t n = 0; n <= below(8); ++n) {
      NodeSpec node = MakeNode("n" + std::to_string(n)).CpuMilli(500 + 100 * below(10));
      for (int64_t i = below(6); i > 0; --i) {
        PodSpec pod = Running("v" + std::to_string(n) + std::to_string(i),
                              static_cast<int32_t>(below(7)), 100 * below(5));
        pod.StartedNs(below(4));
        if (below(2) == 0) pod.Label("app", below(2) == 0 ? "x" : "y");
        node.Pod(pod);
      }
      cluster.nodes.push_back(node);
    }
    for (const char* app : {"x", "y"}) {
      cluster.budgets.push_back(MakeObject(
          "policy/v1/PodDisruptionBudget", "default", app,
          R"({"spec": {"selector": {"matchLabels": {"app": ")" + std::string(app) +
              R"("}}}, "status": {"disruptionsAllowed": )" + std::to_string(below(3)) + "}}"));
    }
    // Every node rejects the pod as it is.
    const PodSpec pod = MakePod("p").Priority(5).CpuMilli(1200);
    SCOPED_TRACE(round);
    EXPECT_EQ(cluster.Foresee(pod), cluster.Search(pod));
  }
}

TEST(Room, HoldsWhatIsRequested) {
  const Room free{.milli_cpu = 100, .memory = 10, .ephemeral_storage = -5, .pods = 1};
  const struct {
    const char* name;
    Room wanted;
    bool want;
  } cases[] = {
      {"all of it", {.milli_cpu = 100, .memory = 10, .pods = 1}, true},
      {"too much cpu", {.milli_cpu = 101, .pods = 1}, false},
      {"too much memory", {.memory = 11, .pods = 1}, false},
      {"storage where none is left", {.ephemeral_storage = 1, .pods = 1}, false},
      {"no place", {.pods = 2}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(free.Holds(c.wanted), c.want) << c.name;
}

}  // namespace
}  // namespace berth::testing
