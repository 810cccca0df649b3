// Class ShadowObserver, within a ShadowScheduler: scripted orders of events.
#include "host/process/shadow/shadow_observer.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/shadow_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ShadowObserverTest : public ShadowTest {
 protected:
  void AddNodes(int count) {
    for (int i = 1; i <= count; ++i) AddNode("n" + std::to_string(i));
  }
};

// ---- Placements in the order of the decisions ---------------------------------------------------

TEST_F(ShadowObserverTest, PlacementsAreJudgedWithThoseBefore) {
  AddNodes(2);
  for (const char* pod : {"p1", "p2", "p3"}) AddSmallPod(pod);
  Start();
  Bind("p1", "n1");
  Bind("p2", "n2");
  Bind("p3", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees", "p2 agrees", "p3 agrees"));
  EXPECT_EQ(scheduler_->totals().judged(), 3U);
  EXPECT_EQ(scheduler_->totals().agreement(), 100.0);
  EXPECT_EQ(scheduler_->refused(), 0U);
}

TEST_F(ShadowObserverTest, EventsAreDelayedByTheWindow) {
  AddNodes(1);
  AddSmallPod("p1");
  Start();
  Bind("p1", "n1");
  Advance(kSecond - 1);
  EXPECT_THAT(Verdicts(), IsEmpty());
  EXPECT_EQ(scheduler_->NextStepNs(), clock_.NowNs() + 1);
  Advance(1);
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees"));
  EXPECT_EQ(decisions_.front().time_ns, 0);
}

TEST_F(ShadowObserverTest, FinishJudgesWhatWaits) {
  AddNodes(1);
  AddSmallPod("p1");
  Start();
  clock_.Advance(3 * kSecond);
  Bind("p1", "n1");
  Deliver();
  EXPECT_THAT(Verdicts(), IsEmpty());
  scheduler_->Finish();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees"));
  EXPECT_EQ(decisions_.front().time_ns, 3 * kSecond);
  EXPECT_EQ(scheduler_->NextStepNs(), std::nullopt);
}

TEST_F(ShadowObserverTest, DifferencesAreReported) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  AddPod({.name = "huge", .node = "n2", .requests = R"("cpu":"3")"});
  AddSmallPod("p1");
  AddPod({.name = "p2", .requests = R"("cpu":"2")"});
  Start();
  Bind("p1", "n2");
  AdvancePastWindow();
  Bind("p2", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 score", "p2 rejected"));
  EXPECT_EQ(Why("p1"), "n1 has 72 and n2 47: NodeResourcesFit 72 and 47");
  EXPECT_EQ(Why("p2"), "NodeResourcesFit: Insufficient cpu");
  EXPECT_EQ(scheduler_->totals().unexplained(), 2U);
  EXPECT_EQ(scheduler_->totals().agreement(), 0.0);
}

TEST_F(ShadowObserverTest, ADifferenceIsCountedForLaterPlacements) {
  AddNodes(2);
  AddPod({.name = "old", .node = "n1", .requests = R"("cpu":"3")"});
  for (const char* pod : {"p1", "p2", "p3"}) AddSmallPod(pod);
  Start();
  Bind("p1", "n1");  // A difference: n2 stays emptier.
  Bind("p2", "n2");
  Bind("p3", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 score", "p2 agrees", "p3 agrees"));
}

// ---- Which pods are judged ----------------------------------------------------------------------

TEST_F(ShadowObserverTest, CountsButDoesNotJudgeOtherSchedulersPods) {
  AddNodes(2);
  AddPod({.name = "other", .requests = R"("cpu":"1")", .spec = R"("schedulerName":"other")"});
  AddSmallPod("p1");
  Start();
  Bind("other", "n1");
  Bind("p1", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees"));
}

TEST_F(ShadowObserverTest, NamedSchedulersAreJudgedWithTheFirstProfile) {
  observing_.scheduler_names = {"other"};
  AddNodes(2);
  AddPod({.name = "o1", .requests = R"("cpu":"1")", .spec = R"("schedulerName":"other")"});
  AddPod({.name = "o2", .requests = R"("cpu":"1")", .spec = R"("schedulerName":"other")"});
  AddSmallPod("p1");
  Start();
  Bind("p1", "n1");
  Bind("o1", "n2");
  AdvancePastWindow();
  Bind("o2", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("o1 agrees", "o2 agrees"));
}

TEST_F(ShadowObserverTest, DoesNotJudgePodsFirstSeenBound) {
  AddNodes(1);
  AddSmallPod("before", "n1");
  Start();
  AddSmallPod("p1", "n1");
  AddPod({.name = "other", .node = "n1", .spec = R"("schedulerName":"other")"});
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), IsEmpty());
  EXPECT_EQ(scheduler_->totals().unseen, 1U);
  EXPECT_EQ(scheduler_->totals().judged(), 0U);
  EXPECT_EQ(scheduler_->totals().agreement(), 100.0);
}

// ---- The order of bindings ----------------------------------------------------------------------

// The decisions are p1 to n1, p2 to n2, p3 to n1. The binding of p3 overtakes the others.
TEST_F(ShadowObserverTest, ABindingThatOvertookOthersIsExplained) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
  Start();
  Bind("p2", "n1");  // Decided after p1, when both nodes had one pod.
  Bind("p1", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees", "p2 order"));
  EXPECT_THAT(Why("p2"), ::testing::AnyOf("the same node after pod default/p1 was bound",
                                          "both 72 after pod default/p1 was bound"));
  EXPECT_EQ(scheduler_->totals().agreement(), 100.0);
  EXPECT_EQ(scheduler_->totals().unexplained(), 0U);
}

TEST_F(ShadowObserverTest, OnlyBindingsWithinTheWindowExplain) {
  struct Case {
    const char* name;
    int64_t later_ns;
    std::vector<std::string> expected;
  };
  const std::vector<Case> table = {
      {"at its end", kSecond, {"p1 agrees", "p2 order"}},
      {"after its end", kSecond + 1, {"p2 score", "p1 agrees"}},
  };
  for (const Case& each : table) {
    for (const char* name : {"n1", "n2"}) Create(objects_.Node({.name = name}));
    AddSmallPod("old", "n1");
    for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
    Start();
    Bind("p2", "n1");
    Deliver();
    clock_.Advance(each.later_ns);
    Bind("p1", "n2");
    AdvancePastWindow();
    EXPECT_EQ(Verdicts(), each.expected) << each.name;
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"old", "p1", "p2"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2"}) Remove(kNodeKind, node);
  }
}

// The decisions are y to n2, x to n1, z to n1. No moment in the order of arrival explains x or z.
TEST_F(ShadowObserverTest, ABindingBetweenOthersIsExplained) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  for (const char* pod : {"x", "y", "z"}) AddSmallPod(pod);
  Start();
  Bind("x", "n1");
  Bind("z", "n1");
  Bind("y", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("x order", "z order", "y agrees"));
  EXPECT_THAT(Why("x"), ::testing::EndsWith("after pod default/y was bound"));
  EXPECT_THAT(Why("z"), ::testing::EndsWith("before pod default/x was bound"));
  EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 4U);
  EXPECT_EQ(scheduler_->host().loop().queue().size(), 0U);
}

// The decisions are y to n1, z to n2, x to n2. The status of x changes after its binding.
TEST_F(ShadowObserverTest, UndoesABindingWithItsPodsLaterEvents) {
  AddNodes(2);
  AddSmallPod("old", "n2");
  AddPod({.name = "x", .requests = R"("cpu":"2")"});
  AddPod({.name = "y", .requests = R"("cpu":"2")"});
  AddSmallPod("z");
  Start();
  Bind("x", "n2");
  Nominate("x", "n1");
  Bind("y", "n1");
  Bind("z", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("x score", "y agrees", "z order"));
  EXPECT_EQ(Why("z"), "the same node before pod default/x was bound");
  const PodRef pod = cluster_.FindPod("default", "x");
  EXPECT_EQ(scheduler_->host().loop().cache().PodOf(pod->uid()), pod);
  EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 4U);
}

// Four bindings are needed: two pods for each of the empty nodes.
TEST_F(ShadowObserverTest, TheNumberOfTriesIsLimited) {
  for (const size_t max_tries : {3U, 4U}) {
    observing_.max_tries = max_tries;
    AddNodes(3);
    AddPod({.name = "old", .node = "n1", .requests = R"("cpu":"2")"});
    for (const char* pod : {"p1", "p2", "p3", "p4", "p5"}) AddSmallPod(pod);
    Start();
    Bind("p5", "n1");
    Bind("p1", "n2");
    Bind("p2", "n3");
    Bind("p3", "n2");
    Bind("p4", "n3");
    AdvancePastWindow();
    const std::string expected = max_tries == 4 ? "p5 order" : "p5 score";
    EXPECT_THAT(Verdicts(), ::testing::Contains(expected)) << max_tries;
    EXPECT_EQ(decisions_.size(), 5U);
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"old", "p1", "p2", "p3", "p4", "p5"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2", "n3"}) Remove(kNodeKind, node);
  }
}

// As the test before, with three tries: only the order of the queue explains p5 at once.
TEST_F(ShadowObserverTest, TheOrderOfTheQueueExplains) {
  observing_.max_tries = 3;
  const std::vector<std::string> others = {"p1", "p2", "p3", "p4"};
  struct Case {
    const char* name;
    bool is_last;  // p5 is created behind the others.
    std::string spec;
    std::string expected;
  };
  const std::vector<Case> table = {
      {"behind the others", true, "", "p5 order"},
      {"before the others", false, "", "p5 score"},
      {"before others of a higher priority", false, R"("priority":7)", "p5 order"},
  };
  for (const Case& each : table) {
    AddNodes(3);
    AddPod({.name = "old", .node = "n1", .requests = R"("cpu":"2")"});
    Start();
    if (!each.is_last) AddSmallPod("p5");
    for (const std::string& pod : others) {
      AddPod({.name = pod, .requests = R"("cpu":"1")", .spec = each.spec});
    }
    if (each.is_last) AddSmallPod("p5");
    Bind("p5", "n1");
    for (size_t i = 0; i < others.size(); ++i) Bind(others[i], i % 2 == 0 ? "n2" : "n3");
    AdvancePastWindow();
    EXPECT_THAT(Verdicts(), ::testing::Contains(each.expected)) << each.name;
    const bool is_explained = each.expected == "p5 order";
    EXPECT_EQ(Why("p5").ends_with("in the order of the scheduling queue"), is_explained)
        << each.name << ": " << Why("p5");
    EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 6U);
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"old", "p1", "p2", "p3", "p4", "p5"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2", "n3"}) Remove(kNodeKind, node);
  }
}

// Four pods are bound to n2 before p5 is: only the order of the queue undoes all of them.
TEST_F(ShadowObserverTest, TheOrderOfTheQueueUndoesBindings) {
  observing_.max_tries = 3;
  const std::vector<std::string> others = {"p1", "p2", "p3", "p4"};
  struct Case {
    const char* name;
    bool is_first;  // p5 is created before the others.
    bool is_rejected;
    std::string others_spec;
    std::string expected;
  };
  const std::vector<Case> table = {
      {"before the others", true, false, "", "p5 order"},
      {"behind the others", false, false, "", "p5 score"},
      {"behind others of a lower priority", false, false, R"("priority":-7)", "p5 order"},
      {"rejected, and tried again", true, true, "", "p5 score"},
      {"pods of another scheduler", true, false, R"("schedulerName":"other")", "p5 score"},
  };
  for (const Case& each : table) {
    AddNodes(2);
    Start();
    if (each.is_first) AddSmallPod("p5");
    for (const std::string& pod : others) {
      AddPod({.name = pod, .requests = R"("cpu":"500m")", .spec = each.others_spec});
    }
    if (!each.is_first) AddSmallPod("p5");
    if (each.is_rejected) Reject("p5");
    for (const std::string& pod : others) Bind(pod, "n2");
    Bind("p5", "n2");
    AdvancePastWindow();
    EXPECT_THAT(Verdicts(), ::testing::Contains(each.expected)) << each.name;
    EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 5U);
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"p1", "p2", "p3", "p4", "p5"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2"}) Remove(kNodeKind, node);
  }
}

TEST_F(ShadowObserverTest, APodThatWasCreatedLaterExplainsNothing) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  AddSmallPod("p1");
  Start();
  Bind("p1", "n1");
  Deliver();
  AddSmallPod("p2");
  Bind("p2", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 score", "p2 agrees"));
}

// A placement is judged before the next event of its own pod.
TEST_F(ShadowObserverTest, TheEventsOfAPodKeepTheirOrder) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
  Start();
  Bind("p2", "n1");
  Deliver();
  Remove(kPodKind, "p2");
  Bind("p1", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p2 score", "p1 agrees"));
  EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 2U);
}

// The nomination of p1 between the two bindings is moved with its binding.
TEST_F(ShadowObserverTest, MovesAPodsEarlierEventsWithItsBinding) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
  Start();
  Bind("p2", "n1");
  Nominate("p1", "n2");
  Bind("p1", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees", "p2 order"));
  EXPECT_EQ(scheduler_->host().loop().queue().size(), 0U);
  EXPECT_TRUE(scheduler_->host().loop().queue().nominator().empty());
}

TEST_F(ShadowObserverTest, RowsOfBindingsInReverseOrderAreExplained) {
  AddNodes(3);
  AddSmallPod("old", "n1");
  std::vector<std::string> nodes;
  // The decisions: two rounds over all nodes after n1 has had its first pod.
  for (const char* node : {"n2", "n3", "n1", "n2", "n3", "n1"}) nodes.emplace_back(node);
  for (size_t i = 0; i < nodes.size(); ++i) AddSmallPod("p" + std::to_string(i));
  Start();
  for (size_t i = nodes.size(); i-- > 0;) Bind("p" + std::to_string(i), nodes[i]);
  AdvancePastWindow();
  EXPECT_EQ(scheduler_->totals().judged(), nodes.size());
  EXPECT_EQ(scheduler_->totals().agreement(), 100.0);
}

// ---- Changes of other objects -------------------------------------------------------------------

TEST_F(ShadowObserverTest, ExplainsANodeThatTheOtherMissed) {
  AddNodes(1);
  AddSmallPod("old", "n1");
  AddSmallPod("p1");
  Start();
  AddNode("n2");
  Bind("p1", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 order"));
  EXPECT_EQ(Why("p1"), "the same node before node n2 was added");
  EXPECT_EQ(scheduler_->host().loop().cache().table().node_count(), 2U);
}

TEST_F(ShadowObserverTest, ANodeAddedLongBeforeExplainsNothing) {
  AddNodes(1);
  AddSmallPod("old", "n1");
  AddSmallPod("p1");
  Start();
  AddNode("n2");
  Deliver();
  clock_.Advance(kSecond + 1);
  Bind("p1", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 score"));
}

TEST_F(ShadowObserverTest, ExplainsADeletionThatTheOtherMissed) {
  AddNodes(2);
  AddSmallPod("old", "n2");
  AddPod({.name = "huge", .node = "n1", .requests = R"("cpu":"4")"});
  AddSmallPod("p1");
  Start();
  Remove(kPodKind, "huge");
  Bind("p1", "n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 order"));
  EXPECT_EQ(Why("p1"), "the same node before pod default/huge was deleted");
  EXPECT_EQ(scheduler_->host().loop().cache().pod_count(), 2U);
}

// The binding of p2 lies between the change and the binding of p1, and is kept.
TEST_F(ShadowObserverTest, ChangesAreUndoneWithoutTheBindingsAfterThem) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
  Start();
  AddNode("n3");
  Bind("p2", "n2");
  Bind("p1", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p2 agrees", "p1 order"));
  EXPECT_THAT(Why("p1"), ::testing::EndsWith("before node n3 was added"));
}

TEST_F(ShadowObserverTest, NodeThatArrivesAfterItsBindingIsExplained) {
  AddNodes(1);
  AddSmallPod("p1");
  Start();
  Bind("p1", "n2");
  AddNode("n2");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 order"));
  EXPECT_THAT(Why("p1"), ::testing::EndsWith("after node n2 was added"));
}

TEST_F(ShadowObserverTest, ADeletionAfterTheBindingExplainsNothing) {
  AddNodes(2);
  AddPod({.name = "huge", .node = "n1", .requests = R"("cpu":"4")"});
  AddSmallPod("p1");
  Start();
  Bind("p1", "n1");
  Remove(kPodKind, "huge");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 rejected"));
}

// ---- Nominations --------------------------------------------------------------------------------

TEST_F(ShadowObserverTest, PodNominatedBeforeItsBindingIsJudgedThen) {
  struct Case {
    const char* name;
    const char* node;
    std::string expected;
  };
  const std::vector<Case> table = {{"best node", "n2", "p1 agrees"}, {"other", "n1", "p1 score"}};
  for (const Case& each : table) {
    AddNodes(2);
    AddSmallPod("old", "n1");
    for (const char* pod : {"p1", "p2", "p3"}) AddSmallPod(pod);
    Start();
    Nominate("p1", each.node);
    AdvancePastWindow();
    EXPECT_THAT(Verdicts(), IsEmpty()) << each.name;
    Advance(kMinute);
    Bind("p1", each.node);
    AdvancePastWindow();
    EXPECT_THAT(Verdicts(), ElementsAre(each.expected)) << each.name;
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"old", "p1", "p2", "p3"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2"}) Remove(kNodeKind, node);
  }
}

TEST_F(ShadowObserverTest, APreemptorIsJudgedWhenItIsBound) {
  AddNodes(1);
  AddPod({.name = "victim", .node = "n1", .requests = R"("cpu":"4")"});
  AddSmallPod("p1");
  Start();
  Nominate("p1", "n1");  // No node fits yet.
  AdvancePastWindow();
  Remove(kPodKind, "victim");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), IsEmpty());
  Bind("p1", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees"));
}

TEST_F(ShadowObserverTest, JudgesPodsBoundOffTheirNominationAgain) {
  AddNodes(2);
  AddSmallPod("old", "n1");
  AddSmallPod("p1");
  Start();
  Nominate("p1", "n2");
  AdvancePastWindow();
  Bind("p1", "n1");
  AdvancePastWindow();
  EXPECT_THAT(Verdicts(), ElementsAre("p1 score"));
  EXPECT_EQ(Why("p1"), "the pod is nominated to n2, where it fits");
}

// ---- Delay --------------------------------------------------------------------------------------

TEST_F(ShadowObserverTest, ALateObserverTriesNoOtherState) {
  for (const int64_t late_ns : {0, 1}) {
    AddNodes(2);
    AddSmallPod("old", "n1");
    for (const char* pod : {"p1", "p2"}) AddSmallPod(pod);
    Start();
    Bind("p2", "n1");
    Bind("p1", "n2");
    Deliver();
    clock_.Advance(observing_.late_ns + late_ns);
    Deliver();
    if (late_ns == 0) {
      EXPECT_THAT(Verdicts(), ElementsAre("p1 agrees", "p2 order"));
    } else {
      EXPECT_THAT(Verdicts(), ElementsAre("p2 score", "p1 agrees"));
    }
    EXPECT_EQ(scheduler_->totals().hurried, static_cast<uint64_t>(late_ns));
    decisions_.clear();
    scheduler_.reset();
    for (const char* pod : {"old", "p1", "p2"}) Remove(kPodKind, pod);
    for (const char* node : {"n1", "n2"}) Remove(kNodeKind, node);
  }
}

// ---- ShadowTotals -------------------------------------------------------------------------------

TEST(ShadowTotals, Shares) {
  ShadowTotals totals;
  EXPECT_EQ(totals.agreement(), 100.0);
  totals.by_verdict = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(totals.judged(), 28U);
  EXPECT_EQ(totals.unexplained(), 18U);
  EXPECT_DOUBLE_EQ(totals.agreement(), 100.0 * 6 / 28);
}

}  // namespace
}  // namespace berth::host
