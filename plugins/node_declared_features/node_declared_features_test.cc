#include <string>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kReason = "node(s) didn't match Pod's required features";
constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
constexpr const char* kUsers = "UserNamespacesHostNetworkSupport";
constexpr const char* kMounts = "VolumeBindMountOptions";
constexpr KubeVersion kOld{1, 36};
constexpr KubeVersion kNew{1, 37};

PodSpec Restarts() { return MakePod("restarts").Container("c").RestartsAll(); }
PodSpec MapsUsers() { return MakePod("maps-users").HostNetwork().HostUsersFalse(); }
PodSpec MountsWithOptions() { return MakePod("mounts").BindMountOptions(); }

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

TEST(NodeDeclaredFeatures, BindMountOptionsNeedFeatureSinceKube137) {
  const std::vector<NodeSpec> nodes = {MakeNode("none"), MakeNode("mounts").Feature(kMounts),
                                       MakeNode("both").Feature(kMounts).Feature(kRestart)};
  using Names = std::vector<std::string>;
  const struct {
    const char* name;
    PodSpec pod;
    Answer old;     // The answer of PreFilter in 1.36; it is Success in 1.37.
    Names fit_old;  // Empty if Filter is skipped.
    Names fit_now;
  } cases[] = {
      {"options", MountsWithOptions(), Skip(), {}, {"both", "mounts"}},
      {"options and a restart rule", Restarts().BindMountOptions(), Success(), {"both"}, {"both"}},
  };
  PluginUnderTest old({.nodes = nodes, .emulated_version = kOld});
  PluginUnderTest now({.nodes = nodes, .emulated_version = kNew});
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult in_old = old.Filter(c.pod);
    EXPECT_EQ(in_old.pre_filter, c.old);
    EXPECT_EQ(in_old.Fitting(), c.fit_old);
    const FilterResult in_now = now.Filter(c.pod);
    EXPECT_EQ(in_now.pre_filter, Success());
    EXPECT_EQ(in_now.Fitting(), c.fit_now);
    EXPECT_EQ(in_now.On("none"), Unresolvable(kReason));
  }
}

// kube-scheduler 1.37 infers these features for updates of a pod only, or never, so that a node
// without them is not rejected.
TEST(NodeDeclaredFeatures, OtherFeaturesAreNotNeeded) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .emulated_version = kNew});
  const struct {
    const char* feature;
    PodSpec pod;
  } cases[] = {
      {"InPlacePodVerticalScalingMemoryBackedVolumes",
       MakePod("p").Container("c").Volume({.name = "v", .kind = BERTH_VOLUME_OTHER})},
      {"DRANodeAllocatableResources", MakePod("p").Claim({.name = "c", .claim_name = "c"})},
      {"DRAOptionalNodeOperations", MakePod("p").Claim({.name = "c", .template_name = "t"})},
  };
  for (const auto& c : cases) EXPECT_EQ(plugin.Filter(c.pod).pre_filter, Skip()) << c.feature;
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
  PluginUnderTest old({.nodes = {}, .emulated_version = kOld});
  const auto hint_of = [](PluginUnderTest& of, const PodSpec& before, PodSpec after) {
    return of.Hint(before, {.resource = BERTH_RESOURCE_POD_ANY,
                            .action = BERTH_ACTION_UPDATE,
                            .old_pod = {before},
                            .new_pod = {std::move(after)}});
  };
  const auto hint = [&](const PodSpec& before, PodSpec after) {
    return hint_of(plugin, before, std::move(after));
  };
  const PodSpec pod = MapsUsers();
  EXPECT_EQ(hint(pod, MakePod(pod.name).HostNetwork()), uint32_t{BERTH_HINT_QUEUE})
      << "the pod no longer needs the feature";
  EXPECT_EQ(hint(pod, MapsUsers().Label("a", "b")), uint32_t{BERTH_HINT_SKIP})
      << "the pod needs the same features";
  EXPECT_EQ(hint(pod, MakePod("another")), uint32_t{BERTH_HINT_SKIP}) << "another pod";
  const PodSpec with_options = MapsUsers().BindMountOptions();
  EXPECT_EQ(hint(pod, with_options), uint32_t{BERTH_HINT_QUEUE}) << "one more feature";
  EXPECT_EQ(hint_of(old, pod, with_options), uint32_t{BERTH_HINT_SKIP}) << "unknown to 1.36";
}

}  // namespace
}  // namespace berth::testing
