// Tests PostFilter: eligibility, the dry run, the texts and the nomination.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "fake_what_if.h"

namespace berth::testing {
namespace {

using preemption::FakeWhatIf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr KubeVersion kOld{.major = 1, .minor = 36};
constexpr KubeVersion kNew{.major = 1, .minor = 37};

PodSpec Running(const std::string& name, int32_t priority, int64_t cpu, int64_t started_ns = 1) {
  return MakePod(name).Priority(priority).CpuMilli(cpu).StartedNs(started_ns);
}

PodSpec Preempted(const std::string& name, int32_t priority, int64_t cpu) {
  return Running(name, priority, cpu)
      .DeletedNs(5)
      .Condition({.type = "DisruptionTarget", .reason = "PreemptionByScheduler"});
}

ObjectSpec Budget(const std::string& name, const std::string& selector, int allowed,
                  const std::string& disrupted = "{}", const std::string& ns = "default") {
  return MakeObject("policy/v1/PodDisruptionBudget", ns, name,
                    R"({"spec": {"selector": )" + selector + R"(}, "status": {)" +
                        R"("disruptionsAllowed": )" + std::to_string(allowed) +
                        R"(, "disruptedPods": )" + disrupted + "}}");
}
std::string Select(const std::string& app) { return R"({"matchLabels": {"app": ")" + app + "\"}}"; }

// The plugin in a cluster where the cpu of the nodes decides.
class PreemptionTest : public ::testing::Test {
 protected:
  PluginUnderTest& Plugin(Scenario scenario) {
    scenario.services[BERTH_SERVICE_WHATIF] = FakeWhatIf::service();
    plugin_ = std::make_unique<PluginUnderTest>(std::move(scenario));
    what_if_.SetReadRow(FakeWhatIf::RowsOf(*plugin_));
    return *plugin_;
  }
  PluginUnderTest& Plugin(std::vector<NodeSpec> nodes) {
    return Plugin(Scenario{.nodes = std::move(nodes)});
  }
  PostFilterResult PostFilter(const PodSpec& pod,
                              const std::map<std::string, berth_code>& verdicts = {}) {
    return plugin_->Place(pod).PostFilter(verdicts);
  }
  // Returns the names of the pods that the plugin has evicted so far.
  std::set<std::string> Evicted() {
    plugin_->Advance(0);
    std::set<std::string> names;
    for (const ApiCall& call : plugin_->api().calls()) {
      if (call.verb == "DELETE") names.insert(call.path.substr(call.path.rfind('/') + 1));
    }
    return names;
  }

  FakeWhatIf what_if_;
  std::unique_ptr<PluginUnderTest> plugin_;
};

// ---- Eligibility ------------------------------------------------------------------------------

TEST_F(PreemptionTest, PodThatNeverPreemptsIsNotEligible) {
  Plugin({MakeNode("a").CpuMilli(1000).Pod(Running("low", 0, 1000))});
  const PostFilterResult result =
      PostFilter(MakePod("p").Priority(5).CpuMilli(500).NeverPreempts());
  EXPECT_EQ(result.answer,
            Unschedulable("preemption: not eligible due to preemptionPolicy=Never."));
  EXPECT_EQ(result.mode, uint32_t{BERTH_NOMINATE_KEEP});
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(PreemptionTest, PodWaitsForVictimsOnItsNominatedNode) {
  const Answer waits =
      Unschedulable("preemption: not eligible due to a terminating pod on the nominated node.");
  const Answer preempts(
      {BERTH_SUCCESS,
       {"preemption: found a potential placement for pod on node b, preempting 1 victims"}});
  const struct {
    const char* name;
    PodSpec on_a;
    std::string nominated;
    berth_code verdict_on_a;
    bool waits;
  } cases[] = {
      {"a victim ends", Preempted("v", 4, 1000), "a", BERTH_UNSCHEDULABLE, true},
      {"the victim has the same priority", Preempted("v", 5, 1000), "a", BERTH_UNSCHEDULABLE,
       false},
      {"the victim does not end", Preempted("v", 4, 1000).DeletedNs(0), "a", BERTH_UNSCHEDULABLE,
       false},
      {"the pod ends for another reason", Running("v", 4, 1000).DeletedNs(5), "a",
       BERTH_UNSCHEDULABLE, false},
      {"another client evicted it",
       Running("v", 4, 1000)
           .DeletedNs(5)
           .Condition({.type = "DisruptionTarget", .reason = "EvictionByEvictionAPI"}),
       "a", BERTH_UNSCHEDULABLE, false},
      {"the condition is not true",
       Running("v", 4, 1000)
           .DeletedNs(5)
           .Condition({.type = "DisruptionTarget",
                       .status = BERTH_CONDITION_FALSE,
                       .reason = "PreemptionByScheduler"}),
       "a", BERTH_UNSCHEDULABLE, false},
      {"preemption cannot help on the node", Preempted("v", 4, 1000), "a",
       BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, false},
      {"the pod is nominated to no node", Preempted("v", 4, 1000), "", BERTH_UNSCHEDULABLE, false},
      {"the node is gone", Preempted("v", 4, 1000), "gone", BERTH_UNSCHEDULABLE, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    // The victim on b is less important than the one on a.
    Plugin({MakeNode("a").CpuMilli(1000).Pod(c.on_a),
            MakeNode("b").CpuMilli(1000).Pod(Running("low", 0, 1000))});
    PodSpec pod = MakePod("p").Priority(5).CpuMilli(500);
    if (!c.nominated.empty()) pod.Nominated(c.nominated);
    const PostFilterResult result = PostFilter(pod, {{"a", c.verdict_on_a}});
    EXPECT_EQ(result.answer, c.waits ? waits : preempts);
    EXPECT_EQ(result.mode, uint32_t{c.waits ? BERTH_NOMINATE_KEEP : BERTH_NOMINATE_OVERRIDE});
  }
}

TEST_F(PreemptionTest, AClearedNominationIsForgotten) {
  Plugin({MakeNode("a").CpuMilli(1000).Pod(Preempted("v", 0, 1000))});
  const PodSpec pod = MakePod("p").Priority(5).CpuMilli(500);
  EXPECT_EQ(PostFilter(pod).nominated, "a");
  EXPECT_EQ(PostFilter(pod).mode, uint32_t{BERTH_NOMINATE_KEEP}) << "it waits for v";
  EXPECT_EQ(PostFilter(pod, {{"a", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE}}).mode,
            uint32_t{BERTH_NOMINATE_OVERRIDE});
  EXPECT_EQ(PostFilter(pod).nominated, "a");
}

// ---- Texts and nomination ---------------------------------------------------------------------

TEST_F(PreemptionTest, SuccessNominatesAndHasTextSince37) {
  for (const KubeVersion version : {kOld, kNew}) {
    Plugin(Scenario{.nodes = {MakeNode("a")
                                  .CpuMilli(1000)
                                  .Pod(Running("low", 0, 600))
                                  .Pod(Running("lower", -1, 400))},
                    .emulated_version = version});
    const PostFilterResult result = PostFilter(MakePod("p").Priority(5).CpuMilli(1000));
    EXPECT_EQ(result.answer.code, BERTH_SUCCESS);
    EXPECT_EQ(result.nominated, "a");
    if (version == kOld) {
      EXPECT_THAT(result.answer.reasons, IsEmpty());
    } else {
      EXPECT_THAT(result.answer.reasons,
                  ElementsAre("preemption: found a potential placement for pod on node a, "
                              "preempting 2 victims"));
    }
    EXPECT_THAT(Evicted(), UnorderedElementsAre("low", "lower"));
  }
}

TEST_F(PreemptionTest, FailureCountsReasonsAndClearsTheNomination) {
  Plugin({MakeNode("same").CpuMilli(1000).Pod(Running("s", 5, 1000)),
          MakeNode("empty").CpuMilli(100),
          MakeNode("small").CpuMilli(100).Pod(Running("t", 0, 100)),
          MakeNode("tiny").CpuMilli(200).Pod(Running("u", 0, 100)),
          MakeNode("other").CpuMilli(1000).Pod(Running("v", 0, 1000)),
          MakeNode("pending").CpuMilli(1000).Pod(Running("w", 0, 1000))});
  const PostFilterResult result =
      PostFilter(MakePod("p").Priority(5).CpuMilli(500),
                 {{"other", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE}, {"pending", BERTH_PENDING}});
  EXPECT_EQ(
      result.answer,
      Unschedulable("preemption: 0/6 nodes are available: 2 Insufficient cpu, 2 No preemption "
                    "victims found for incoming pod, 2 Preemption is not helpful for "
                    "scheduling."));
  EXPECT_EQ(result.mode, uint32_t{BERTH_NOMINATE_OVERRIDE});
  EXPECT_EQ(result.nominated, "");
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(PreemptionTest, ErrorsEndThePreemptionWithoutCandidates) {
  Plugin({MakeNode("a").CpuMilli(1000).Pod(Running("v", 0, 1000)),
          MakeNode("b").CpuMilli(1000).Pod(Running("w", 0, 1000))});
  what_if_.SetRefuse([](const berth_node& node, const FakeWhatIf::PodViews& pods,
                        const berth_pod&) -> std::string {
    if (FromAbi(node.meta->name) == "a") return FakeWhatIf::kError;
    return pods.empty() ? "" : "full";
  });
  const PodSpec pod = MakePod("p").Priority(5).CpuMilli(500);
  EXPECT_EQ(PostFilter(pod, {{"b", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE}}).answer,
            Error("preemption: broken"));
  EXPECT_EQ(PostFilter(pod).nominated, "b") << "another node is a candidate";
}

// Without a verdict, every pod that has not returned would seem to be a victim.
TEST_F(PreemptionTest, ErrorWhilePodsReturnEvictsNobody) {
  Plugin({MakeNode("a")
              .CpuMilli(3000)
              .Pod(Running("v", 0, 1000))
              .Pod(Running("w", 0, 1000))
              .Pod(Running("x", 0, 1000))});
  what_if_.SetRefuse(
      [](const berth_node&, const FakeWhatIf::PodViews& pods, const berth_pod&) -> std::string {
        return pods.size() == 2 ? FakeWhatIf::kError : "";
      });
  EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(1000)).answer,
            Error("preemption: broken"));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(PreemptionTest, NodeThatNeedsNoVictimIsAnError) {
  Plugin({MakeNode("a").CpuMilli(1000).Pod(Running("v", 0, 100))});
  EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(500)).answer,
            Error("preemption: expected at least one victim pod on the node"));
}

TEST_F(PreemptionTest, LowerNominationsToTheNodeAreCleared) {
  PluginUnderTest& plugin = Plugin(
      {MakeNode("a").CpuMilli(1000).Pod(Running("v", 0, 1000)), MakeNode("b").CpuMilli(100)});
  plugin.Nominate(MakePod("lower").Priority(4), "a");
  plugin.Nominate(MakePod("same").Priority(5), "a");
  plugin.Nominate(MakePod("elsewhere").Priority(4), "b");
  EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(1000)).nominated, "a");
  std::vector<std::string> left;
  for (const auto& nomination : plugin.scheduling().nominations()) {
    left.push_back(nomination.pod.spec().name);
  }
  EXPECT_THAT(left, ElementsAre("same", "elsewhere"));
}

// ---- Victims ----------------------------------------------------------------------------------

TEST_F(PreemptionTest, ImportantPodsReturnFirst) {
  const struct {
    const char* name;
    std::vector<PodSpec> pods;
    std::set<std::string> victims;
  } cases[] = {
      {"the highest priority stays", {Running("a", 3, 500), Running("b", 2, 500)}, {"b"}},
      {"then the one that started first",
       {Running("a", 2, 500, 9), Running("b", 2, 500, 8)},
       {"a"}},
      {"a pod that has not started goes first",
       {Running("a", 2, 500, 0), Running("b", 2, 500, 8)},
       {"a"}},
      {"a less important pod stays where an important one does not fit",
       {Running("a", 3, 600), Running("b", 2, 400)},
       {"a"}},
      {"pods of the same priority as the preemptor are no victims",
       {Running("a", 5, 500), Running("b", 4, 500)},
       {"b"}},
      {"each pod returns if it fits beside those that returned before",
       {Running("a", 3, 300), Running("b", 3, 300, 2), Running("c", 3, 200, 3)},
       {"b"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    NodeSpec node = MakeNode("n").CpuMilli(1000);
    for (const PodSpec& pod : c.pods) node.Pod(pod);
    Plugin({node});
    EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(500)).nominated, "n");
    EXPECT_EQ(Evicted(), c.victims);
  }
}

TEST_F(PreemptionTest, TerminatingVictimsCountButAreNotDeleted) {
  Plugin({MakeNode("n").CpuMilli(1000).Pod(Running("ends", 0, 1000).DeletedNs(5))});
  const PostFilterResult result = PostFilter(MakePod("p").Priority(5).CpuMilli(500));
  EXPECT_THAT(result.answer.reasons, ElementsAre("preemption: found a potential placement for pod "
                                                 "on node n, preempting 1 victims"));
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(plugin_->PreEnqueue(MakePod("p")), Success()) << "no eviction is under way";
}

TEST_F(PreemptionTest, BudgetsDecideWhichPodsReturnFirst) {
  const auto victims = [this](std::vector<ObjectSpec> budgets, KubeVersion version = kNew,
                              Args args = {}) {
    Plugin(Scenario{.nodes = {MakeNode("n")
                                  .CpuMilli(1000)
                                  .Pod(Running("high", 3, 500).Label("app", "x"))
                                  .Pod(Running("low", 2, 500).Label("app", "y").Label("t", "1"))},
                    .args = std::move(args),
                    .objects = std::move(budgets),
                    .emulated_version = version});
    PostFilter(MakePod("p").Priority(5).CpuMilli(500));
    return Evicted();
  };
  const std::set<std::string> kHigh = {"high"};
  const std::set<std::string> kLow = {"low"};
  EXPECT_EQ(victims({}), kLow);
  EXPECT_EQ(victims({Budget("b", Select("y"), 0)}), kHigh) << "the budget protects low";
  EXPECT_EQ(victims({Budget("b", Select("y"), 1)}), kLow) << "one disruption is left";
  EXPECT_EQ(victims({Budget("b", Select("y"), 0, R"({"low": "2026-01-01T00:00:00Z"})")}), kLow)
      << "the disruption of the pod was counted before";
  EXPECT_EQ(victims({Budget("b", Select("y"), 0, "{}", "other")}), kLow) << "another namespace";
  EXPECT_EQ(victims({Budget("b", "{}", 0)}), kLow) << "an empty selector selects nothing";
  EXPECT_EQ(victims({Budget("b", "null", 0)}), kLow) << "and so does none";
  EXPECT_EQ(
      victims({Budget("b", R"({"matchExpressions": [{"key": "t", "operator": "Exists"}]})", 0)}),
      kHigh);
}

TEST_F(PreemptionTest, CountingStopsAtViolatedBudgetSince37) {
  // "first" selects only the more important pod, which violates it. Up to 1.36 "second" loses its
  // only disruption to that pod, so that the other pod violates it.
  const auto violations = [this](KubeVersion version) {
    Plugin(Scenario{.nodes = {MakeNode("few").CpuMilli(1000).Pod(
                                  Running("w", 3, 1000).Label("app", "one").Label("all", "1")),
                              MakeNode("many")
                                  .CpuMilli(1000)
                                  .Pod(Running("x", 2, 500).Label("app", "z").Label("all", "1"))
                                  .Pod(Running("y", 1, 500).Label("all", "1"))},
                    .objects = {Budget("first", Select("z"), 0), Budget("one", Select("one"), 0),
                                Budget("second", R"({"matchLabels": {"all": "1"}})", 1)},
                    .emulated_version = version});
    // One violation on "few". On "many" there are two or one, and then the priority decides.
    return PostFilter(MakePod("p").Priority(5).CpuMilli(1000)).nominated;
  };
  EXPECT_EQ(violations(kOld), "few");
  EXPECT_EQ(violations(kNew), "many");
}

TEST_F(PreemptionTest, NodeWithFewerViolationsIsChosen) {
  Plugin(
      Scenario{.nodes = {MakeNode("a").CpuMilli(1000).Pod(Running("v", 0, 1000).Label("app", "x")),
                         MakeNode("b").CpuMilli(1000).Pod(Running("w", 4, 1000))},
               .objects = {Budget("x", Select("x"), 0)}});
  const PodSpec pod = MakePod("p").Priority(5).CpuMilli(1000);
  EXPECT_EQ(PostFilter(pod).nominated, "b");
  EXPECT_EQ(PostFilter(pod, {{"b", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE}}).nominated, "a")
      << "a budget does not prevent preemption";
}

TEST_F(PreemptionTest, ChangedBudgetsCount) {
  PluginUnderTest& plugin = Plugin(
      Scenario{.nodes = {MakeNode("a").CpuMilli(1000).Pod(Running("v", 0, 1000).Label("app", "x")),
                         MakeNode("b").CpuMilli(1000).Pod(Running("w", 4, 1000))},
               .objects = {Budget("x", Select("x"), 0)}});
  const PodSpec pod = MakePod("p").Priority(5).CpuMilli(1000);
  EXPECT_EQ(PostFilter(pod).nominated, "b");
  plugin.PutObject(Budget("x", Select("x"), 1));
  EXPECT_EQ(PostFilter(pod).nominated, "a");
  plugin.PutObject(Budget("x", Select("x"), 0));
  EXPECT_EQ(PostFilter(pod).nominated, "b");
  plugin.RemoveObject(Budget("x", Select("x"), 0));
  EXPECT_EQ(PostFilter(pod).nominated, "a");
}

TEST_F(PreemptionTest, StrictBudgetsAreNeverOverdrawn) {
  const auto run = [this](int allowed) {
    Plugin(Scenario{.nodes = {MakeNode("n")
                                  .CpuMilli(1000)
                                  .Pod(Running("big", 1, 700).Label("app", "x"))
                                  .Pod(Running("small", 2, 300).Label("app", "x"))},
                    .args = {{"strictBudgets", true}},
                    .objects = {Budget("x", Select("x"), allowed)}});
    return PostFilter(MakePod("p").Priority(5).CpuMilli(700));
  };
  EXPECT_EQ(run(1).nominated, "n") << "one victim is enough, although two pods were counted";
  EXPECT_THAT(Evicted(), ElementsAre("big"));
  EXPECT_EQ(run(0).answer,
            Unschedulable("preemption: 0/1 nodes are available: 1 Victims are protected by a "
                          "PodDisruptionBudget."));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(PreemptionTest, LeastWorkLostDecidesBetweenEqualNodes) {
  // The most important victims are equal; the others have run for different times.
  const auto node = [](const std::string& name, int64_t started_ns) {
    return MakeNode(name)
        .CpuMilli(1000)
        .Pod(Running(name + "1", 2, 500, 100))
        .Pod(Running(name + "2", 1, 500, started_ns));
  };
  Plugin(Scenario{.nodes = {node("a", 200), node("b", 900), node("c", 300)},
                  .args = {{"leastWorkLost", true}}});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(1000)).nominated, "b");
  }
}

// ---- The search -------------------------------------------------------------------------------

TEST_F(PreemptionTest, SearchEndsWithEnoughCandidates) {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < 400; ++i) {
    const std::string n = std::to_string(i);
    nodes.push_back(MakeNode("n" + n).CpuMilli(100).Pod(Running("v" + n, 0, 100)));
  }
  const auto asked = [&](Args args) {
    FakeWhatIf what_if;
    PluginUnderTest plugin({.nodes = nodes,
                            .args = std::move(args),
                            .services = {{BERTH_SERVICE_WHATIF, FakeWhatIf::service()}}});
    what_if.SetReadRow(FakeWhatIf::RowsOf(plugin));
    EXPECT_EQ(plugin.Place(MakePod("p").Priority(5).CpuMilli(100)).PostFilter().answer.code,
              BERTH_SUCCESS);
    return what_if.nodes().size();
  };
  EXPECT_EQ(asked({}), 100U);
  EXPECT_EQ(asked({{"minCandidateNodesPercentage", 50}}), 200U);
  EXPECT_EQ(asked({{"minCandidateNodesPercentage", 100}}), 400U);
}

TEST_F(PreemptionTest, SearchGoesOnUntilOneKeepsItsBudgets) {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    PodSpec pod = Running("v" + n, 0, 100);
    if (i != 150) pod.Label("app", "x");
    nodes.push_back(MakeNode("n" + n).CpuMilli(100).Pod(pod));
  }
  Plugin(Scenario{.nodes = std::move(nodes),
                  .args = {{"minCandidateNodesPercentage", 0}, {"minCandidateNodesAbsolute", 1}},
                  .objects = {Budget("x", Select("x"), 0)}});
  EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(100)).nominated, "n150");
}

TEST_F(PreemptionTest, OneQuestionAsksAboutManyNodes) {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    nodes.push_back(
        MakeNode("n" + n).CpuMilli(100).Pod(Running("v" + n, 0, 50)).Pod(Running("w" + n, 0, 50)));
  }
  Plugin(Scenario{.nodes = std::move(nodes), .args = {{"minCandidateNodesPercentage", 100}}});
  EXPECT_EQ(PostFilter(MakePod("p").Priority(5).CpuMilli(50)).answer.code, BERTH_SUCCESS);
  EXPECT_EQ(what_if_.questions(), 2U);
  EXPECT_EQ(what_if_.runs(), 6U) << "for each question one without the pods, and one for each pod";
}

TEST_F(PreemptionTest, EqualNodesAreChosenAtRandom) {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    nodes.push_back(MakeNode("n" + n).CpuMilli(100).Pod(Running("v" + n, 0, 100)));
  }
  Plugin(std::move(nodes));
  std::set<std::string> chosen;
  for (int i = 0; i < 20; ++i) {
    chosen.insert(PostFilter(MakePod("p").Priority(5).CpuMilli(100)).nominated);
  }
  EXPECT_GT(chosen.size(), 1U);
}

}  // namespace
}  // namespace berth::testing
