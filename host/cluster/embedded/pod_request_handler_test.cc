#include <initializer_list>

#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The requests are sent through the Client of a cluster.
using PodRequestHandlerTest = EmbeddedTest;

const berth_condition* PodScheduled(const Pod& pod) {
  for (const berth_condition& condition : Elements<berth_condition>(pod.view().conditions)) {
    if (pod.Name(condition.type) == "PodScheduled") return &condition;
  }
  return nullptr;
}

// ---- Bind ---------------------------------------------------------------------------------------

TEST_F(PodRequestHandlerTest, BindsAPod) {
  const PodRef before = AddPod("a", R"(,"status":{"nominatedNodeName":"n0","conditions":[)"
                                    R"({"type":"PodScheduled","status":"False",)"
                                    R"("reason":"Unschedulable"}]})");
  Advance(kSecond);
  cluster_.Bind(NameOf(*before), "n1", Note());
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(Answers(), ElementsAre("Ok"));
  EXPECT_THAT(Answers(), IsEmpty());

  const PodRef after = cluster_.FindPod("default", "a");
  EXPECT_EQ(after->node_name(), "n1");
  EXPECT_EQ(after->nominated_node(), "");
  EXPECT_EQ(after->resource_version(), "2");
  EXPECT_EQ(after->uid(), before->uid());
  const berth_condition* condition = PodScheduled(*after);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, uint32_t{BERTH_CONDITION_TRUE});
  EXPECT_EQ(after->Name(condition->reason), "");
  EXPECT_EQ(condition->transition_ns, NowNs());
  // The former object is unchanged.
  EXPECT_EQ(before->node_name(), "");
  EXPECT_EQ(before->nominated_node(), "n0");
}

TEST_F(PodRequestHandlerTest, RejectsInvalidBindings) {
  AddPod("a", "", R"(,"uid":"u1")");
  AddPod("bound", R"(,"spec":{"nodeName":"n1"})");
  AddPod("gated", R"(,"spec":{"schedulingGates":[{"name":"g"}]})");
  AddPod("dying", "", R"(,"deletionTimestamp":"2026-01-01T00:00:30Z")");
  const uint64_t version = cluster_.resource_version();
  struct Case {
    PodName pod;
    const char* node;
    const char* answer;
  };

  for (const auto& [pod, node, answer] : std::initializer_list<Case>{
           {{"default", "none", {}}, "n1", R"(NotFound: pods "none" not found)"},
           {{"other", "a", {}}, "n1", R"(NotFound: pods "a" not found)"},
           {{"default", "a", "u2"},
            "n1",
            R"(Conflict: Operation cannot be fulfilled on pods/binding "a": Precondition failed: )"
            "UID in precondition: u2, UID in object meta: u1"},
           {{"default", "bound", {}},
            "n1",
            R"(Conflict: Operation cannot be fulfilled on pods/binding "bound": pod bound is )"
            R"(already assigned to node "n1")"},
           {{"default", "bound", {}},
            "n2",
            R"(Conflict: Operation cannot be fulfilled on pods/binding "bound": pod bound is )"
            R"(already assigned to node "n1")"},
           {{"default", "gated", {}},
            "n1",
            R"(Conflict: Operation cannot be fulfilled on pods/binding "gated": pod gated has )"
            "non-empty .spec.schedulingGates"},
           {{"default", "dying", {}},
            "n1",
            R"(Conflict: Operation cannot be fulfilled on pods/binding "dying": pod dying is )"
            "being deleted, cannot be assigned to a host"},
           {{"default", "a", {}},
            "",
            R"(InvalidArgument: Binding "a" is invalid: target.name: Required value)"}}) {
    cluster_.Bind(pod, node, Note());
    EXPECT_THAT(Answers(), ElementsAre(answer));
  }
  EXPECT_EQ(cluster_.resource_version(), version);
}

TEST_F(PodRequestHandlerTest, BindsToANodeThatDoesNotExist) {
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "nowhere", Note());
  EXPECT_THAT(Answers(), ElementsAre("Ok"));
}

TEST_F(PodRequestHandlerTest, BindsOnlyOnce) {
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "n1", Note());
  cluster_.Bind({"default", "a", {}}, "n2", Note());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], "Ok");
  EXPECT_TRUE(answers[1].starts_with("Conflict: ")) << answers[1];
  EXPECT_EQ(cluster_.FindPod("default", "a")->node_name(), "n1");
}

TEST_F(PodRequestHandlerTest, DoesNotBindRecreatedPodWithFormerUid) {
  const PodRef first = AddPod("a");
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  AddPod("a");
  cluster_.Bind(NameOf(*first), "n1", Note());
  EXPECT_TRUE(Answers()[0].starts_with("Conflict: "));
  EXPECT_EQ(cluster_.FindPod("default", "a")->node_name(), "");
}

TEST_F(PodRequestHandlerTest, AcceptsARequestWithoutACallback) {
  AddPod("a");
  cluster_.Bind({"default", "a", {}}, "n1", nullptr);
  EXPECT_EQ(cluster_.waiting(), 0u);
  EXPECT_EQ(cluster_.FindPod("default", "a")->node_name(), "n1");
}

// ---- Status -------------------------------------------------------------------------------------

TEST_F(PodRequestHandlerTest, PatchesAStatus) {
  AddPod("a");
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  patch.pod_scheduled = PodStatusPatch::Condition{
      BERTH_CONDITION_FALSE, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", 7};
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  EXPECT_THAT(Answers(), ElementsAre("Ok"));
  const PodRef pod = cluster_.FindPod("default", "a");
  EXPECT_EQ(pod->nominated_node(), "n1");
  EXPECT_EQ(pod->resource_version(), "2");
  const berth_condition* condition = PodScheduled(*pod);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, uint32_t{BERTH_CONDITION_FALSE});
  EXPECT_EQ(pod->Name(condition->reason), "Unschedulable");
  EXPECT_EQ(condition->transition_ns, 7);
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "a"),
            "0/1 nodes are available: 1 Insufficient cpu.");
}

TEST_F(PodRequestHandlerTest, KeepsTheVersionWhenAPatchChangesNothing) {
  AddPod("a");
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  patch.pod_scheduled = PodStatusPatch::Condition{BERTH_CONDITION_FALSE, "Unschedulable", "m", 7};
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  patch.pod_scheduled->transition_ns = 8;
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  cluster_.PatchPodStatus({"default", "a", {}}, PodStatusPatch(), Note());
  EXPECT_THAT(Answers(), ElementsAre("Ok", "Ok", "Ok"));
  EXPECT_EQ(cluster_.resource_version(), 2u);

  patch.pod_scheduled->message = "other";
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  EXPECT_EQ(cluster_.resource_version(), 3u);
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "a"), "other");
  EXPECT_EQ(PodScheduled(*cluster_.FindPod("default", "a"))->transition_ns, 7);

  patch.nominated_node = "";
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  EXPECT_EQ(cluster_.resource_version(), 4u);
  EXPECT_EQ(cluster_.FindPod("default", "a")->nominated_node(), "");
}

TEST_F(PodRequestHandlerTest, SetsTheConditionDisruptionTarget) {
  AddPod("a");
  PodStatusPatch patch;
  patch.disruption_target =
      PodStatusPatch::Condition{BERTH_CONDITION_TRUE, "PreemptionByScheduler", "make room", 7};
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  const uint64_t version = cluster_.resource_version();
  cluster_.PatchPodStatus({"default", "a", {}}, patch, Note());
  EXPECT_THAT(Answers(), ElementsAre("Ok", "Ok"));
  EXPECT_EQ(cluster_.resource_version(), version);

  const PodRef pod = cluster_.FindPod("default", "a");
  const auto conditions = Elements<berth_condition>(pod->view().conditions);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(pod->Name(conditions[0].type), "DisruptionTarget");
  EXPECT_EQ(pod->Name(conditions[0].reason), "PreemptionByScheduler");
  EXPECT_EQ(conditions[0].status, uint32_t{BERTH_CONDITION_TRUE});
  EXPECT_EQ(PodScheduled(*pod), nullptr);
}

TEST_F(PodRequestHandlerTest, RejectsPatchOfMissingPodOrAnotherUid) {
  AddPod("a");
  PodStatusPatch patch;
  patch.nominated_node = "n1";
  cluster_.PatchPodStatus({"default", "none", {}}, patch, Note());
  cluster_.PatchPodStatus({"default", "a", "another"}, patch, Note());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], R"(NotFound: pods "none" not found)");
  EXPECT_TRUE(answers[1].starts_with(R"(Conflict: Operation cannot be fulfilled on pods "a": )"));
  EXPECT_EQ(cluster_.resource_version(), 1u);
}

// ---- Deletion -----------------------------------------------------------------------------------

TEST_F(PodRequestHandlerTest, DeletesPodsThatDoNotRunImmediately) {
  AddPod("pending");
  AddPod("done", R"(,"spec":{"nodeName":"n1"},"status":{"phase":"Failed"})");
  AddPod("forced", R"(,"spec":{"nodeName":"n1"})");
  cluster_.DeletePod({"default", "pending", {}}, std::nullopt, Note());
  cluster_.DeletePod({"default", "done", {}}, 60, Note());
  cluster_.DeletePod({"default", "forced", {}}, 0, Note());
  EXPECT_THAT(Answers(), ElementsAre("Ok", "Ok", "Ok"));
  EXPECT_THAT(cluster_.List(kPodKind), IsEmpty());
}

TEST_F(PodRequestHandlerTest, GivesARunningPodItsGracePeriod) {
  struct Case {
    std::optional<int64_t> grace;
    int64_t seconds;
  };
  for (const auto& [grace, seconds] : std::initializer_list<Case>{
           {std::nullopt, 30}, {1, 1}, {45, 45}, {-5, 1}, {INT64_MAX, int64_t{1} << 31}}) {
    AddPod("a", R"(,"spec":{"nodeName":"n1"})");
    cluster_.DeletePod({"default", "a", {}}, grace, Note());
    EXPECT_THAT(Answers(), ElementsAre("Ok"));
    EXPECT_EQ(cluster_.FindPod("default", "a")->meta().deleted_ns, NowNs() + seconds * kSecond);
    ASSERT_TRUE(cluster_.FinishDeletion({"default", "a", {}}).ok());
  }
}

TEST_F(PodRequestHandlerTest, ShortensAGracePeriodAndNeverExtendsIt) {
  AddPod("a", R"(,"spec":{"nodeName":"n1"})");
  const int64_t begin = NowNs();
  cluster_.DeletePod({"default", "a", {}}, 30, nullptr);
  Advance(5 * kSecond);
  cluster_.DeletePod({"default", "a", {}}, 30, nullptr);
  cluster_.DeletePod({"default", "a", {}}, 31, nullptr);
  EXPECT_EQ(cluster_.resource_version(), 2u);
  cluster_.DeletePod({"default", "a", {}}, 10, nullptr);
  EXPECT_EQ(cluster_.resource_version(), 3u);
  EXPECT_EQ(cluster_.FindPod("default", "a")->meta().deleted_ns, begin + 10 * kSecond);
  cluster_.DeletePod({"default", "a", {}}, 0, nullptr);
  EXPECT_EQ(cluster_.FindPod("default", "a"), nullptr);
}

TEST_F(PodRequestHandlerTest, RejectsDeletionOfMissingPodOrAnotherUid) {
  AddPod("a");
  cluster_.DeletePod({"default", "none", {}}, std::nullopt, Note());
  cluster_.DeletePod({"default", "a", "another"}, std::nullopt, Note());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0], R"(NotFound: pods "none" not found)");
  EXPECT_TRUE(answers[1].starts_with("Conflict: ")) << answers[1];
  EXPECT_NE(cluster_.FindPod("default", "a"), nullptr);
}

}  // namespace
}  // namespace berth::host
