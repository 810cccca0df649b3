// Tests the evictions, and the gate of PreEnqueue while they are under way.
#include <cstdint>
#include <memory>
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

const Answer kGated = Unresolvable("waiting for the preemption for this pod to be finished");

PodSpec Low(const std::string& name) {
  return MakePod(name).Priority(0).CpuMilli(500).StartedNs(1);
}
PodSpec Preemptor(const std::string& name = "p") {
  return MakePod(name).Priority(5).CpuMilli(1000).SchedulerName("berth");
}

// Pods v and w run on node n. Pod p needs the place of both.
class EvictionsTest : public ::testing::Test {
 protected:
  EvictionsTest() {
    plugin_.AddPendingPod(Preemptor());
    what_if_.SetReadRow(FakeWhatIf::RowsOf(plugin_));
  }

  void Preempt(const PodSpec& pod = Preemptor()) {
    EXPECT_EQ(plugin_.Place(pod).PostFilter().nominated, "n");
  }
  Answer Gate(const PodSpec& pod = Preemptor()) { return plugin_.PreEnqueue(pod); }
  // Reports that the deletion of the pod has begun.
  void Ends(const std::string& name) { plugin_.ChangePod(Low(name).DeletedNs(9), "n"); }
  const std::vector<std::string>& activated() const { return plugin_.scheduling().activated(); }

  FakeWhatIf what_if_;
  PluginUnderTest plugin_{
      Scenario{.nodes = {MakeNode("n").CpuMilli(1000).Pod(Low("v")).Pod(Low("w"))},
               .services = {{BERTH_SERVICE_WHATIF, FakeWhatIf::service()}}}};
};

TEST_F(EvictionsTest, VictimsGetTheConditionAndAreDeleted) {
  Preempt();
  EXPECT_THAT(plugin_.api().calls(), IsEmpty()) << "PostFilter does not wait";
  plugin_.Advance(0);
  const std::vector<ApiCall>& calls = plugin_.api().calls();
  ASSERT_THAT(calls, SizeIs(4));
  for (const size_t i : {size_t{0}, size_t{2}}) {
    EXPECT_EQ(calls[i].verb, "PATCH");
    EXPECT_EQ(calls[i + 1].verb, "DELETE");
    EXPECT_EQ(calls[i].path, calls[i + 1].path + "/status");
    EXPECT_THAT(calls[i].body,
                ::testing::HasSubstr("berth: preempting to accommodate a higher priority pod"));
  }
}

TEST_F(EvictionsTest, VictimsGetAnEvent) {
  Preempt();
  EXPECT_THAT(plugin_.api().events(), IsEmpty());
  plugin_.Advance(0);
  ASSERT_THAT(plugin_.api().events(), SizeIs(2));
  EXPECT_EQ(plugin_.api().events()[0], (ApiEvent{.regarding = "v",
                                                 .related = "p",
                                                 .type = "Normal",
                                                 .reason = "Preempted",
                                                 .action = "Preempting",
                                                 .note = "Preempted by pod uid-p on node n"}));
}

TEST_F(EvictionsTest, PodWaitsUntilTheLastVictimIsEnding) {
  Preempt();
  EXPECT_EQ(Gate(), kGated);
  EXPECT_EQ(Gate(Preemptor("q")), Success()) << "another pod";
  plugin_.Advance(0);
  EXPECT_EQ(Gate(), kGated) << "no deletion was observed";
  Ends("v");
  EXPECT_EQ(Gate(), kGated);
  EXPECT_THAT(activated(), IsEmpty());
  plugin_.RemovePod("w", "n");
  EXPECT_EQ(Gate(), Success());
  EXPECT_THAT(activated(), ElementsAre("uid-p"));
}

TEST_F(EvictionsTest, PodNotHeldBackIsNotActivated) {
  Preempt();
  plugin_.Advance(0);
  Ends("v");
  Ends("w");
  EXPECT_THAT(activated(), IsEmpty()) << "the deletions requeue it";
  EXPECT_EQ(Gate(), Success());
}

TEST_F(EvictionsTest, DeletionMayBeObservedBeforeTheAnswer) {
  Preempt();
  EXPECT_EQ(Gate(), kGated);
  plugin_.RemovePod("v", "n");
  plugin_.RemovePod("w", "n");
  EXPECT_EQ(Gate(), kGated) << "the evictions are not answered";
  plugin_.Advance(0);
  EXPECT_EQ(Gate(), Success());
  EXPECT_THAT(activated(), ElementsAre("uid-p"));
}

TEST_F(EvictionsTest, VictimThatIsGoneIsEvicted) {
  plugin_.api().Reply("DELETE", "/api/v1/namespaces/default/pods/v", {.http_status = 404});
  Preempt();
  plugin_.Advance(0);
  plugin_.RemovePod("v", "n");
  Ends("w");
  EXPECT_EQ(Gate(), Success());
  EXPECT_THAT(activated(), IsEmpty());
}

TEST_F(EvictionsTest, FailedEvictionActivatesThePod) {
  plugin_.api().Reply("DELETE", "/api/v1/namespaces/default/pods/v", {.http_status = 403});
  Preempt();
  plugin_.Advance(0);
  ASSERT_THAT(plugin_.api().events(), SizeIs(1));
  EXPECT_EQ(plugin_.api().events()[0].regarding, "w");
  EXPECT_EQ(Gate(), kGated) << "the other victim has not ended";
  plugin_.ChangePod(Low("w").DeletedNs(9), "n");
  EXPECT_EQ(Gate(), Success());
  EXPECT_THAT(activated(), ElementsAre("uid-p"));
}

TEST_F(EvictionsTest, EvictionsThatFailAgainAreRetriedLater) {
  plugin_.api().Reply("DELETE", "/api/v1/namespaces/default/pods/v", {.http_status = 403});
  Ends("w");
  constexpr int64_t kSecond = 1'000'000'000;
  Preempt();
  plugin_.Advance(0);
  EXPECT_THAT(activated(), SizeIs(1)) << "at once after the first failure";
  for (const int64_t delay : {kSecond, 2 * kSecond, 4 * kSecond}) {
    const size_t before = activated().size();
    Preempt();
    plugin_.Advance(0);
    EXPECT_EQ(Gate(), Success());
    plugin_.Advance(delay - 1);
    EXPECT_THAT(activated(), SizeIs(before)) << delay;
    plugin_.Advance(1);
    EXPECT_THAT(activated(), SizeIs(before + 1)) << delay;
  }
  plugin_.api().Reply("DELETE", "/api/v1/namespaces/default/pods/v", {.http_status = 200});
  Preempt();
  plugin_.Advance(0);
  EXPECT_EQ(Gate(), kGated);
  Ends("v");
  EXPECT_THAT(activated(), SizeIs(5)) << "it was held back";
}

TEST_F(EvictionsTest, VictimInMemoryWakesThePod) {
  plugin_.AddWaiting(Low("v"));
  plugin_.AddWaiting(Low("w"));
  Preempt();
  plugin_.Advance(0);
  EXPECT_THAT(plugin_.api().calls(), IsEmpty());
  EXPECT_THAT(plugin_.scheduling().preempted(), SizeIs(2));
  ASSERT_THAT(plugin_.api().events(), SizeIs(2));
  EXPECT_EQ(plugin_.api().events()[0].note,
            "Preempted by pod uid-p on node n (in kube-scheduler memory).");
  plugin_.RemovePod("v", "n", BERTH_CHANGE_FLAG_FORGOTTEN);
  EXPECT_THAT(activated(), IsEmpty());
  plugin_.RemovePod("w", "n", BERTH_CHANGE_FLAG_FORGOTTEN);
  EXPECT_THAT(activated(), ElementsAre("uid-p"));
}

TEST_F(EvictionsTest, DeletedPodWaitsForNothing) {
  Preempt();
  EXPECT_EQ(Gate(), kGated);
  plugin_.RemovePendingPod("p");
  EXPECT_EQ(Gate(), Success());
  plugin_.Advance(0);
  EXPECT_THAT(plugin_.api().events(), SizeIs(2)) << "the victims are evicted nevertheless";
  Ends("v");
  EXPECT_THAT(activated(), IsEmpty());
}

TEST_F(EvictionsTest, TwoPodsMayWaitForOneVictim) {
  plugin_.AddPendingPod(Preemptor("q"));
  Preempt();
  Preempt(Preemptor("q"));
  EXPECT_EQ(Gate(), kGated);
  EXPECT_EQ(Gate(Preemptor("q")), kGated);
  plugin_.Advance(0);
  Ends("v");
  Ends("w");
  EXPECT_EQ(Gate(), Success());
  EXPECT_EQ(Gate(Preemptor("q")), Success());
  EXPECT_THAT(activated(), ElementsAre("uid-p", "uid-q"));
}

TEST_F(EvictionsTest, SecondPreemptionReplacesTheFirst) {
  Preempt();
  plugin_.Advance(0);
  Ends("v");
  Preempt();
  EXPECT_EQ(Gate(), kGated);
  plugin_.Advance(0);
  Ends("w");
  EXPECT_EQ(Gate(), Success());
}

// The status patch with the nomination may arrive after the deletion of the victims.
TEST_F(EvictionsTest, NominationCountsBeforeTheStatusHasIt) {
  Preempt();
  plugin_.Advance(0);
  const PodSpec ending = Low("v").DeletedNs(9).Condition(
      {.type = "DisruptionTarget", .reason = "PreemptionByScheduler"});
  plugin_.ChangePod(ending, "n");
  plugin_.RemovePod("w", "n");
  EXPECT_EQ(plugin_.Place(Preemptor()).PostFilter().answer,
            Unschedulable("preemption: not eligible due to a terminating pod on the nominated "
                          "node."));
}

TEST_F(EvictionsTest, OpenEvictionsEndWithTheInstance) {
  Preempt();
  plugin_.End();
  EXPECT_THAT(activated(), IsEmpty());
}

}  // namespace
}  // namespace berth::testing
