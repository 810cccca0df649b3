// These tests need no cluster and no host. PluginUnderTest::Filter() and Score() also check the
// contract of the plugin.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kNoRoom = "No GPU has enough room";

NodeSpec Gpus(const std::string& name, const std::string& count) {
  return MakeNode(name).Label("acme.com/gpus", count);
}
PodSpec Sharing(const std::string& name, const std::string& percent) {
  return MakePod(name).Annotation("acme.com/gpu-percent", percent);
}
// A pod that was bound earlier.
PodSpec On(const std::string& gpu, const std::string& name, const std::string& percent) {
  return Sharing(name, percent).Annotation("acme.com/gpu", gpu);
}

TEST(GpuShare, FindsNodesWithEnoughRoomOnOneGpu) {
  PluginUnderTest plugin(
      {.nodes = {Gpus("half", "2").Pod(On("0", "a", "60")).Pod(On("1", "b", "50")),
                 Gpus("empty", "1"), Gpus("none", "0"), Gpus("wrong", "many"), MakeNode("plain")}});
  const struct {
    const char* name;
    const char* percent;
    std::vector<std::string> fitting;
  } cases[] = {
      {"the rest of a GPU", "50", {"empty", "half"}},
      {"more than the rest of each", "51", {"empty"}},
      {"a whole GPU", "100", {"empty"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(Sharing("p", c.percent)).Fitting(), c.fitting);
  }
  EXPECT_EQ(plugin.Filter(Sharing("p", "51")).On("half"), Unschedulable(kNoRoom));
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip()) << "it needs no GPU";
}

TEST(GpuShare, RefusesAPercentageThatIsNone) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "1")}});
  for (const char* percent : {"", "0", "101", "50%", "-1", "half"}) {
    EXPECT_EQ(plugin.Filter(Sharing("p", percent)).On("n"),
              Unresolvable("expected 1 to 100 in annotation acme.com/gpu-percent"))
        << percent;
  }
}

TEST(GpuShare, PrefersTheGpuThatBecomesFullest) {
  PluginUnderTest plugin(
      {.nodes = {Gpus("busy", "2").Pod(On("1", "a", "60")), Gpus("empty", "1")}});
  const ScoreResult scores = plugin.Score(Sharing("p", "40"));
  EXPECT_EQ(scores.raw.at("busy"), 100);
  EXPECT_EQ(scores.raw.at("empty"), 40);
}

TEST(GpuShare, WritesTheGpuAndCountsIt) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "2").Pod(On("0", "old", "70"))}});
  plugin.api().Reply("PATCH", "/api/v1/namespaces/default/pods/p", {});
  Placement placement = plugin.Place(Sharing("p", "30"));
  EXPECT_EQ(placement.Reserve("n"), Success());
  EXPECT_EQ(plugin.Filter(Sharing("q", "100")).On("n"), Success()) << "the first GPU was selected";
  EXPECT_EQ(plugin.Filter(Sharing("q", "30")).On("n"), Success());
  EXPECT_EQ(placement.PreBind("n"), Pending());
  plugin.Advance(0);
  EXPECT_TRUE(placement.completion().completed);
  ASSERT_EQ(plugin.api().calls().size(), 1U);
  EXPECT_EQ(plugin.api().calls()[0].body, R"({"metadata":{"annotations":{"acme.com/gpu":"0"}}})");

  Placement second = plugin.Place(Sharing("q", "100"));
  EXPECT_EQ(second.Reserve("n"), Success());
  EXPECT_EQ(plugin.Filter(Sharing("r", "1")).On("n"), Unschedulable(kNoRoom));
  second.Unreserve("n");
  EXPECT_EQ(plugin.Filter(Sharing("r", "1")).On("n"), Success());
}

// An attempt that failed after the patch leaves the annotation of a GPU, which may be taken now.
TEST(GpuShare, AnOldAnnotationIsNoShare) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "1")}});
  const PodSpec pod = On("0", "p", "60");
  plugin.AddPod(pod, "n", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(plugin.Reserve(pod, "n"), Success());
}

// The binding failed as far as the scheduler knows, but the cluster reports the pod on the node.
TEST(GpuShare, UnreserveKeepsTheShareOfABoundPod) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "1")}});
  Placement placement = plugin.Place(Sharing("p", "60"));
  plugin.AddPod(Sharing("p", "60"), "n", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(placement.Reserve("n"), Success());
  plugin.ChangePod(On("0", "p", "60"), "n");
  placement.Unreserve("n");
  EXPECT_EQ(plugin.Filter(Sharing("q", "41")).On("n"), Unschedulable(kNoRoom));
}

// As two profiles do, or the instances before and after a reload.
TEST(GpuShare, InstancesShareTheirBooks) {
  const auto shared = std::make_shared<SharedObjects>();
  const Scenario scenario = {.nodes = {Gpus("n", "2").Pod(On("0", "old", "70"))}, .shared = shared};
  PluginUnderTest one(scenario);
  PluginUnderTest two(scenario);
  Placement placement = one.Place(Sharing("p", "30"));
  EXPECT_EQ(placement.Reserve("n"), Success()) << "on the first GPU";
  EXPECT_EQ(two.Filter(Sharing("q", "100")).On("n"), Success());
  EXPECT_EQ(two.Reserve(Sharing("q", "100"), "n"), Success()) << "on the second GPU";
  EXPECT_EQ(one.Filter(Sharing("r", "1")).On("n"), Unschedulable(kNoRoom));
  placement.Unreserve("n");
  EXPECT_EQ(two.Filter(Sharing("r", "30")).On("n"), Success());
}

// Such as one that another scheduler is binding.
TEST(GpuShare, APodWithoutAnnotationTakesTheTightestFit) {
  PluginUnderTest plugin(
      {.nodes = {Gpus("n", "2").Pod(On("0", "old", "50")).Pod(Sharing("p", "40"))}});
  EXPECT_EQ(plugin.Filter(Sharing("q", "100")).On("n"), Success()) << "the second GPU is free";
  EXPECT_EQ(plugin.Reserve(Sharing("q", "100"), "n"), Success());
  EXPECT_EQ(plugin.Filter(Sharing("r", "11")).On("n"), Unschedulable(kNoRoom));
}

TEST(GpuShare, AnErrorOfTheServerEndsTheAttempt) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "1")}});
  plugin.api().Reply("PATCH", "/api/v1/namespaces/default/pods/p", {.http_status = 409});
  Placement placement = plugin.Place(Sharing("p", "30"));
  EXPECT_EQ(placement.Reserve("n"), Success());
  EXPECT_EQ(placement.PreBind("n"), Pending());
  plugin.Advance(0);
  EXPECT_EQ(placement.completion().answer.code, BERTH_ERROR);
}

TEST(GpuShare, DeletedPodsReturnTheirShare) {
  PluginUnderTest plugin({.nodes = {Gpus("n", "1").Pod(On("0", "old", "100"))}});
  EXPECT_EQ(plugin.Filter(Sharing("p", "1")).On("n"), Unschedulable(kNoRoom));
  plugin.RemovePod("old", "n");
  EXPECT_EQ(plugin.Filter(Sharing("p", "100")).On("n"), Success());
}

}  // namespace
}  // namespace berth::testing
