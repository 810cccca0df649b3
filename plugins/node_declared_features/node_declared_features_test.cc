#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kReason = "node(s) didn't match Pod's required features";
constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
constexpr const char* kUsers = "UserNamespacesHostNetworkSupport";

PodSpec Restarts() { return MakePod("restarts").Container("c").RestartsAll(); }
PodSpec MapsUsers() { return MakePod("maps-users").HostNetwork().HostUsersFalse(); }

TEST(NodeDeclaredFeatures, Filter) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("none"), MakeNode("other").Feature("GuaranteedQoSPodCPUResize"),
                 MakeNode("restart").Feature(kRestart), MakeNode("users").Feature(kUsers),
                 MakeNode("both").Feature("A").Feature(kRestart).Feature("Z").Feature(kUsers)}});
  const Answer yes = Success();
  const Answer no = Unresolvable(kReason);
  const struct {
    const char* name;
    PodSpec pod;
    Answer on_restart;
    Answer on_users;
  } cases[] = {
      {"a container with the action RestartAllContainers", Restarts(), yes, no},
      {"an init container with this action",
       MakePod("p").Container("c").InitContainer("i").RestartsAll(), yes, no},
      {"a sidecar with this action", MakePod("p").Container("c").Sidecar("s").RestartsAll(), yes,
       no},
      {"host network with a user namespace", MapsUsers(), no, yes},
      {"both features", Restarts().HostNetwork().HostUsersFalse(), no, no},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.On("none"), no);
    EXPECT_EQ(result.On("other"), no);
    EXPECT_EQ(result.On("restart"), c.on_restart);
    EXPECT_EQ(result.On("users"), c.on_users);
    EXPECT_EQ(result.On("both"), yes);
  }
}

TEST(NodeDeclaredFeatures, APodThatNeedsNoFeatureIsSkipped) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}});
  for (const PodSpec& pod :
       {MakePod("p").Container("c"), MakePod("p").HostNetwork(), MakePod("p").HostUsersFalse(),
        MakePod("p").Container("c").PodLevelRequest("cpu", "1")}) {
    EXPECT_EQ(plugin.Filter(pod).pre_filter, Answer{BERTH_SKIP});
  }
}

TEST(NodeDeclaredFeatures, FilterNeedsPreFilter) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}});
  const PodHandle pod(Restarts(), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kFilter).call,
            Error("Filter requires the State of the plugin, which no method has emplaced in "
                  "this cycle: PreFilter was not called (the profile must run the plugin at "
                  "PreFilter), or it did not call Emplace"));
}

TEST(NodeDeclaredFeatures, NodeEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const NodeSpec plain = MakeNode("a");
  const auto hint = [&](uint32_t action, std::vector<NodeSpec> before) {
    return plugin.Hint(Restarts(), {.resource = BERTH_RESOURCE_NODE,
                                    .action = action,
                                    .old_node = std::move(before),
                                    .new_node = {MakeNode("a").Feature(kRestart)}});
  };
  EXPECT_EQ(hint(BERTH_ACTION_ADD, {}), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE, {plain}), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(BERTH_ACTION_UPDATE_NODE_LABEL, {plain}), uint32_t{BERTH_HINT_SKIP});
}

TEST(NodeDeclaredFeatures, PodEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const auto hint = [&](PodSpec before, PodSpec after) {
    return plugin.Hint(before, {.resource = BERTH_RESOURCE_POD_ANY,
                                .action = BERTH_ACTION_UPDATE,
                                .old_pod = {before},
                                .new_pod = {std::move(after)}});
  };
  const PodSpec pod = MapsUsers();
  EXPECT_EQ(hint(pod, MakePod(pod.name).HostNetwork()), uint32_t{BERTH_HINT_QUEUE})
      << "the pod no longer needs the feature";
  EXPECT_EQ(hint(pod, MapsUsers().Label("a", "b")), uint32_t{BERTH_HINT_SKIP})
      << "the pod needs the same features";
  EXPECT_EQ(hint(pod, MakePod("another")), uint32_t{BERTH_HINT_SKIP}) << "another pod";
}

}  // namespace
}  // namespace berth::testing
