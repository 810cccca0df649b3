// These tests need no cluster and no host.
#include <cstdint>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

PodSpec Member(const std::string& name, const std::string& job = "train",
               const std::string& size = "2") {
  return MakePod(name)
      .Label("batch.kubernetes.io/job-name", job)
      .Annotation("acme.com/gang-size", size);
}

// Assumes the pod on the node, as the host does before Permit.
PermitResult PlaceOn(PluginUnderTest& plugin, const PodSpec& pod, const std::string& node = "n") {
  plugin.AddPod(pod, node, BERTH_CHANGE_FLAG_ASSUMED);
  return plugin.Permit(pod, node);
}

std::vector<std::string> RejectedUids(PluginUnderTest& plugin) {
  std::vector<std::string> uids;
  for (const auto& rejection : plugin.scheduling().rejected()) uids.push_back(rejection.uid);
  return uids;
}

TEST(JobGang, TheLastMemberAllowsTheOthers) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}, .args = {{"timeoutSeconds", 5}}});
  const PermitResult first = PlaceOn(plugin, Member("a"));
  EXPECT_EQ(first.answer.code, BERTH_WAIT);
  EXPECT_EQ(first.timeout_ns, 5 * kSecond);
  plugin.AddWaiting(Member("a"));
  EXPECT_EQ(PlaceOn(plugin, Member("b")).answer, Success());
  EXPECT_EQ(plugin.scheduling().allowed(), (std::vector<std::string>{"uid-a"}));
}

TEST(JobGang, AWaitingMemberActivatesTheOthers) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  for (const PodSpec& pod : {Member("a"), Member("b"), Member("x", "other")}) {
    plugin.AddPendingPod(pod);
  }
  plugin.AssumePod("a", "n");
  EXPECT_EQ(plugin.Permit(Member("a"), "n").answer.code, BERTH_WAIT);
  EXPECT_EQ(plugin.scheduling().activated(), (std::vector<std::string>{"uid-b"}));
}

TEST(JobGang, CountsPodsThatRunAlready) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(Member("a"))}});
  EXPECT_EQ(PlaceOn(plugin, Member("b")).answer, Success());
  plugin.RemovePod("a", "n");
  plugin.RemovePod("b", "n", BERTH_CHANGE_FLAG_FORGOTTEN);
  EXPECT_EQ(PlaceOn(plugin, Member("c")).answer.code, BERTH_WAIT);
}

TEST(JobGang, PodsWithoutJobOrSizeAreAlone) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  EXPECT_EQ(PlaceOn(plugin, MakePod("plain")).answer, Success());
  for (const char* size : {"", "many", "2x", "-1"}) {
    EXPECT_EQ(PlaceOn(plugin, Member(std::string("p") + size, "train", size)).answer, Success())
        << size;
  }
  EXPECT_EQ(PlaceOn(plugin, Member("one", "single", "1")).answer, Success());
}

TEST(JobGang, PodsOfAJobAreOneEntity) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  EXPECT_EQ(plugin.Entity(Member("a")), "train");
  EXPECT_EQ(plugin.Entity(Member("x", "other")), "other");
  EXPECT_EQ(plugin.Entity(Member("b", "train", "many")), "");
  EXPECT_EQ(plugin.Entity(MakePod("plain")), "");
}

TEST(JobGang, AFailureRejectsTheWaitingMembers) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  for (const PodSpec& pod : {Member("a"), Member("x", "other")}) {
    EXPECT_EQ(PlaceOn(plugin, pod).answer.code, BERTH_WAIT);
    plugin.AddWaiting(pod);
  }
  plugin.FailAttempt(Member("b"), {.message = "no room"});
  EXPECT_EQ(RejectedUids(plugin), (std::vector<std::string>{"uid-a"}));
}

TEST(JobGang, AFailureAfterCompletionRejectsNothing) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Pod(Member("a")).Pod(Member("b"))}});
  plugin.AddWaiting(Member("c"));
  plugin.FailAttempt(Member("d"));
  EXPECT_TRUE(RejectedUids(plugin).empty());
}

}  // namespace
}  // namespace berth::testing
