#include <string>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;
const Answer kConflict = Unresolvable("node(s) had no available volume zone");
const std::string kZone = "topology.kubernetes.io/zone";
const std::string kRegion = "topology.kubernetes.io/region";
const std::string kBetaZone = "failure-domain.beta.kubernetes.io/zone";
const std::string kBetaRegion = "failure-domain.beta.kubernetes.io/region";

PodSpec PodWith(const std::string& claim) {
  return MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_CLAIM, .source = claim});
}

ObjectSpec Claim(const std::string& name, const std::string& spec) {
  return MakeObject("v1/PersistentVolumeClaim", "default", name, R"({"spec": )" + spec + "}");
}

ObjectSpec Bound(const std::string& name, const std::string& volume) {
  return Claim(name, R"({"volumeName": ")" + volume + "\"}");
}

ObjectSpec Volume(const std::string& name) { return MakeObject("v1/PersistentVolume", "", name); }

ObjectSpec Class(const std::string& name, const std::string& mode) {
  const std::string json = mode.empty() ? "{}" : R"({"volumeBindingMode": ")" + mode + "\"}";
  return MakeObject("storage.k8s.io/v1/StorageClass", "", name, json);
}

// Returns the verdict of Filter on `node` for a pod with `volume`.
Answer On(const NodeSpec& node, const ObjectSpec& volume) {
  PluginUnderTest plugin({.nodes = {node, MakeNode("other").Label(kZone, "elsewhere")},
                          .objects = {Bound("c", volume.name), volume}});
  return plugin.Filter(PodWith("c")).On(node.name);
}

TEST(VolumeZone, RejectsNodesOutsideTheVolumesZone) {
  const ObjectSpec volume = Volume("pv").Label(kZone, "a");
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a"), volume), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "b"), volume), kConflict);
  EXPECT_EQ(On(MakeNode("n").Label(kZone, ""), volume), kConflict);
  EXPECT_EQ(On(MakeNode("n").Label(kRegion, "a"), volume), kConflict) << "it has no zone label";
  EXPECT_EQ(On(MakeNode("n").Label("disk", "a"), volume), Success())
      << "it has none of the four labels";
}

TEST(VolumeZone, AVolumeMayBeInSeveralZones) {
  const ObjectSpec volume = Volume("pv").Label(kZone, "a__b");
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a"), volume), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "b"), volume), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "c"), volume), kConflict);
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a__b"), volume), kConflict);
}

TEST(VolumeZone, EveryLabelOfTheVolumeMustMatch) {
  const ObjectSpec volume = Volume("pv").Label(kZone, "a").Label(kRegion, "r");
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a").Label(kRegion, "r"), volume), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a").Label(kRegion, "s"), volume), kConflict);
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a"), volume), kConflict);
}

TEST(VolumeZone, BetaVolumeLabelsMatchGaNodeLabels) {
  const ObjectSpec old = Volume("pv").Label(kBetaZone, "a");
  EXPECT_EQ(On(MakeNode("n").Label(kBetaZone, "a"), old), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kZone, "a"), old), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kBetaZone, "b").Label(kZone, "a"), old), kConflict)
      << "the node's beta label takes precedence";
  EXPECT_EQ(On(MakeNode("n").Label(kRegion, "r"), Volume("pv").Label(kBetaRegion, "r")), Success());
  EXPECT_EQ(On(MakeNode("n").Label(kBetaZone, "a"), Volume("pv").Label(kZone, "a")), kConflict)
      << "a GA label of a volume does not match a beta label";
}

TEST(VolumeZone, LabelsWithEmptyPartsAreIgnored) {
  for (const char* value : {"", "__", "a__", "__a", "a____b"}) {
    PluginUnderTest plugin({.nodes = {MakeNode("n").Label(kZone, "z")},
                            .objects = {Bound("c", "pv"), Volume("pv").Label(kZone, value)}});
    EXPECT_EQ(plugin.Filter(PodWith("c")).pre_filter, Skip()) << value;
  }
}

TEST(VolumeZone, SkipsPodsWithoutSuchVolumes) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Label(kZone, "a")},
                          .objects = {Bound("c", "pv"), Volume("pv").Label("color", "red"),
                                      Claim("waits", R"({"storageClassName": "late"})"),
                                      Class("late", "WaitForFirstConsumer")}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip());
  EXPECT_EQ(plugin.Filter(PodWith("c")).pre_filter, Skip());
  EXPECT_EQ(plugin.Filter(PodWith("waits")).pre_filter, Skip());
  const PodSpec ephemeral = MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_EPHEMERAL});
  EXPECT_EQ(plugin.Filter(ephemeral).pre_filter, Skip());
}

TEST(VolumeZone, FilterNeedsPreFilterForVolumes) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Label(kZone, "a")}});
  const auto filter = [&plugin](const PodSpec& spec) {
    const PodHandle pod(spec, plugin.ids());
    Cycle cycle(&plugin.instance(), &plugin.table(), pod);
    return EvaluateTable(cycle, Step::kFilter).call;
  };
  EXPECT_EQ(filter(PodWith("c")),
            Error("Filter requires the State of the plugin, which no method has emplaced in "
                  "this cycle: PreFilter was not called (the profile must run the plugin at "
                  "PreFilter), or it did not call Emplace"));
  EXPECT_EQ(filter(MakePod("p")), Success());
}

TEST(VolumeZone, RejectsMissingAndUnboundClaims) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("n")},
       .objects = {Bound("lost", "gone"), Claim("bare", "{}"),
                   Claim("unknown", R"({"storageClassName": "none"})"),
                   Claim("now", R"({"storageClassName": "immediate"})"),
                   Claim("odd", R"({"storageClassName": "no-mode"})"),
                   Claim("old", R"({"storageClassName": "none"})")
                       .Annotation("volume.beta.kubernetes.io/storage-class", "immediate"),
                   Class("immediate", "Immediate"), Class("no-mode", "")}});
  const struct {
    const char* claim;
    const char* want;
  } cases[] = {
      {"", "PersistentVolumeClaim had no name"},
      {"missing", "persistentvolumeclaim \"missing\" not found"},
      {"lost", "persistentvolume \"gone\" not found"},
      {"bare", "PersistentVolumeClaim had no pv name and storageClass name"},
      {"unknown", "storageclass.storage.k8s.io \"none\" not found"},
      {"now", "PersistentVolume had no name"},
      {"odd", "VolumeBindingMode not set for StorageClass \"no-mode\""},
      {"old", "PersistentVolume had no name"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(plugin.Filter(PodWith(c.claim)).pre_filter, Unresolvable(c.want)) << c.claim;
  }
  EXPECT_EQ(plugin.Filter(PodWith("bare").Namespace("other")).pre_filter,
            Unresolvable("persistentvolumeclaim \"bare\" not found"));
}

uint32_t Hint(const PodSpec& pod, uint32_t resource, uint32_t action,
              std::vector<ObjectSpec> before, std::vector<ObjectSpec> after) {
  PluginUnderTest plugin({.nodes = {}});
  return plugin.Hint(pod, {.resource = resource,
                           .action = action,
                           .old_object = std::move(before),
                           .new_object = std::move(after)});
}

TEST(VolumeZoneHints, Claims) {
  const auto hint = [](const ObjectSpec& claim) {
    const PodSpec pod = PodWith("c");
    const uint32_t added = Hint(pod, BERTH_RESOURCE_PVC, BERTH_ACTION_ADD, {}, {claim});
    EXPECT_EQ(Hint(pod, BERTH_RESOURCE_PVC, BERTH_ACTION_UPDATE, {claim}, {claim}), added);
    return added;
  };
  EXPECT_EQ(hint(Bound("c", "pv")), kQueue);
  EXPECT_EQ(hint(Bound("d", "pv")), kSkip);
  ObjectSpec elsewhere = Bound("c", "pv");
  elsewhere.ns = "other";
  EXPECT_EQ(hint(elsewhere), kSkip);
}

TEST(VolumeZoneHints, Volumes) {
  const auto changed = [](const ObjectSpec& before, const ObjectSpec& after) {
    return Hint(PodWith("c"), BERTH_RESOURCE_PV, BERTH_ACTION_UPDATE, {before}, {after});
  };
  EXPECT_EQ(Hint(PodWith("c"), BERTH_RESOURCE_PV, BERTH_ACTION_ADD, {}, {Volume("pv")}), kQueue);
  EXPECT_EQ(changed(Volume("pv"), Volume("pv").Label(kZone, "a")), kQueue);
  EXPECT_EQ(changed(Volume("pv").Label(kZone, "a"), Volume("pv").Label(kZone, "b")), kQueue);
  EXPECT_EQ(changed(Volume("pv").Label(kZone, "a__b"), Volume("pv").Label(kZone, "b__a")), kSkip);
  EXPECT_EQ(changed(Volume("pv").Label(kZone, "a"), Volume("pv").Label(kZone, "a").Label("x", "y")),
            kSkip);
}

TEST(VolumeZoneHints, ClassesAndNodes) {
  const auto added = [](const ObjectSpec& storage_class) {
    return Hint(PodWith("c"), BERTH_RESOURCE_STORAGE_CLASS, BERTH_ACTION_ADD, {}, {storage_class});
  };
  EXPECT_EQ(added(Class("s", "WaitForFirstConsumer")), kQueue);
  EXPECT_EQ(added(Class("s", "Immediate")), kSkip);
  EXPECT_EQ(added(Class("s", "")), kSkip);
  EXPECT_EQ(Hint(PodWith("c"), BERTH_RESOURCE_NODE, BERTH_ACTION_UPDATE_NODE_LABEL, {}, {}),
            kQueue);
  EXPECT_EQ(Hint(PodWith("c"), BERTH_RESOURCE_NODE, BERTH_ACTION_UPDATE_NODE_TAINT, {}, {}), kSkip);
}

}  // namespace
}  // namespace berth::testing
