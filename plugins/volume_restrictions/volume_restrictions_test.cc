#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;
const Answer kNoDisk = Unschedulable("node(s) had no available disk");
const Answer kInUse = Unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod");

VolumeSpec Disk(uint32_t kind, const std::string& source, bool read_only = false) {
  return {.name = "v", .kind = kind, .source = source, .read_only = read_only};
}

VolumeSpec Rbd(const std::string& image, const std::string& pool, std::vector<std::string> monitors,
               bool read_only = false) {
  return {.name = "v",
          .kind = BERTH_VOLUME_RBD,
          .source = image,
          .pool = pool,
          .hosts = std::move(monitors),
          .read_only = read_only};
}

VolumeSpec ClaimVolume(const std::string& claim) {
  return {.name = "v", .kind = BERTH_VOLUME_CLAIM, .source = claim};
}

ObjectSpec Claim(const std::string& name, const std::string& mode) {
  return MakeObject("v1/PersistentVolumeClaim", "default", name,
                    R"({"spec": {"accessModes": ["ReadOnlyMany", ")" + mode + R"("]}})");
}

TEST(VolumeRestrictions, RejectsANodeWithAConflictingDisk) {
  const struct {
    const char* name;
    VolumeSpec wanted;
    VolumeSpec there;
    bool conflict;
  } cases[] = {
      {"the same GCE disk", Disk(BERTH_VOLUME_GCE_DISK, "d"), Disk(BERTH_VOLUME_GCE_DISK, "d"),
       true},
      {"another GCE disk", Disk(BERTH_VOLUME_GCE_DISK, "d"), Disk(BERTH_VOLUME_GCE_DISK, "e"),
       false},
      {"GCE disk, the pod on the node writes", Disk(BERTH_VOLUME_GCE_DISK, "d", true),
       Disk(BERTH_VOLUME_GCE_DISK, "d"), true},
      {"GCE disk, the new pod writes", Disk(BERTH_VOLUME_GCE_DISK, "d"),
       Disk(BERTH_VOLUME_GCE_DISK, "d", true), true},
      {"GCE disk, both read", Disk(BERTH_VOLUME_GCE_DISK, "d", true),
       Disk(BERTH_VOLUME_GCE_DISK, "d", true), false},
      {"EBS, both read", Disk(BERTH_VOLUME_AWS_DISK, "d", true),
       Disk(BERTH_VOLUME_AWS_DISK, "d", true), true},
      {"another EBS disk", Disk(BERTH_VOLUME_AWS_DISK, "d"), Disk(BERTH_VOLUME_AWS_DISK, "e"),
       false},
      {"the same iSCSI disk", Disk(BERTH_VOLUME_ISCSI, "iqn"), Disk(BERTH_VOLUME_ISCSI, "iqn"),
       true},
      {"iSCSI, both read", Disk(BERTH_VOLUME_ISCSI, "iqn", true),
       Disk(BERTH_VOLUME_ISCSI, "iqn", true), false},
      {"the same name in different kinds", Disk(BERTH_VOLUME_ISCSI, "d"),
       Disk(BERTH_VOLUME_GCE_DISK, "d"), false},
      {"RBD, one common monitor", Rbd("i", "p", {"a", "b"}), Rbd("i", "p", {"c", "b"}), true},
      {"RBD, both read", Rbd("i", "p", {"a"}, true), Rbd("i", "p", {"a"}, true), false},
      {"RBD, no common monitor", Rbd("i", "p", {"a"}), Rbd("i", "p", {"c"}), false},
      {"RBD, another pool", Rbd("i", "p", {"a"}), Rbd("i", "q", {"a"}), false},
      {"RBD, another image", Rbd("i", "p", {"a"}), Rbd("j", "p", {"a"}), false},
      {"a kind of disk that is not restricted", Disk(BERTH_VOLUME_CINDER, "d"),
       Disk(BERTH_VOLUME_CINDER, "d"), false},
  };
  for (const auto& c : cases) {
    PluginUnderTest plugin(
        {.nodes = {MakeNode("a").Pod(MakePod("there").Volume(c.there)), MakeNode("b")}});
    // Up to 16 disks of a pod are compared one by one.
    for (const int others : {0, 15, 16}) {
      SCOPED_TRACE(c.name + (" beside " + std::to_string(others) + " disks"));
      PodSpec pod = MakePod("p");
      for (int i = 0; i < others; ++i) {
        pod.Volume(Disk(BERTH_VOLUME_GCE_DISK, "other" + std::to_string(i)));
      }
      const FilterResult result = plugin.Filter(pod.Volume(c.wanted));
      EXPECT_EQ(result.On("a"), c.conflict ? kNoDisk : Success());
      EXPECT_EQ(result.On("b"), Success());
    }
  }
}

TEST(VolumeRestrictions, OneWriterOfManyVolumesConflicts) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("a").Pod(MakePod("there").Volume(Rbd("i", "p", {"m20"}, true)))}});
  std::vector<std::string> monitors;
  for (int i = 0; i < 30; ++i) monitors.push_back("m" + std::to_string(i));
  const PodSpec reads = MakePod("p").Volume(Rbd("i", "p", monitors, true));
  EXPECT_EQ(plugin.Filter(reads).On("a"), Success());
  EXPECT_EQ(plugin.Filter(PodSpec(reads).Volume(Rbd("i", "p", {"m1"}))).On("a"), Success());
  EXPECT_EQ(plugin.Filter(PodSpec(reads).Volume(Rbd("i", "p", {"m20"}))).On("a"), kNoDisk);
}

TEST(VolumeRestrictions, EveryVolumeOfEveryPodCounts) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")
                                        .Pod(MakePod("q"))
                                        .Pod(MakePod("r")
                                                 .Volume(Disk(BERTH_VOLUME_OTHER, ""))
                                                 .Volume(Disk(BERTH_VOLUME_AWS_DISK, "d")))}});
  const PodSpec pod = MakePod("p").Namespace("other").Volume(Disk(BERTH_VOLUME_GCE_DISK, "d"));
  EXPECT_EQ(plugin.Filter(pod).On("a"), Success());
  EXPECT_EQ(plugin.Filter(PodSpec(pod).Volume(Disk(BERTH_VOLUME_AWS_DISK, "d"))).On("a"), kNoDisk);
}

TEST(VolumeRestrictions, SkipsPodsWithoutSuchVolumes) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("a").Pod(MakePod("q").Volume(ClaimVolume("shared")))},
       .objects = {Claim("shared", "ReadWriteOnce"), Claim("free", "ReadWriteOncePod")}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip());
  EXPECT_EQ(plugin.Filter(MakePod("p").Volume(ClaimVolume("shared"))).pre_filter, Skip());
  EXPECT_EQ(plugin.Filter(MakePod("p").Volume(ClaimVolume("free"))).pre_filter, Skip());
  EXPECT_EQ(
      plugin.Filter(MakePod("p").Volume({.name = "v", .kind = BERTH_VOLUME_EPHEMERAL})).pre_filter,
      Skip());
}

TEST(VolumeRestrictions, AMissingClaimRejectsThePod) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}, .objects = {Claim("c", "ReadWriteOnce")}});
  EXPECT_EQ(
      plugin.Filter(MakePod("p").Volume(ClaimVolume("c")).Volume(ClaimVolume("d"))).pre_filter,
      Unresolvable("persistentvolumeclaim \"d\" not found"));
  EXPECT_EQ(plugin.Filter(MakePod("p").Namespace("other").Volume(ClaimVolume("c"))).pre_filter,
            Unresolvable("persistentvolumeclaim \"c\" not found"));
}

TEST(VolumeRestrictions, ClaimInUseByOnePodRejectsNodes) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("a").Pod(MakePod("q").Volume(ClaimVolume("c"))), MakeNode("b")},
       .objects = {Claim("c", "ReadWriteOncePod")}});
  const PodSpec pod = MakePod("p").Volume(ClaimVolume("c"));
  EXPECT_EQ(plugin.Filter(pod).On("a"), kInUse);
  EXPECT_EQ(plugin.Filter(pod).On("b"), kInUse);
  plugin.RemovePod("q", "a");
  EXPECT_EQ(plugin.Filter(pod).pre_filter, Skip());
  plugin.AddPod(MakePod("r").Namespace("other").Volume(ClaimVolume("c")), "b");
  EXPECT_EQ(plugin.Filter(pod).pre_filter, Skip()) << "a claim with that name in another namespace";
  plugin.AddPod(MakePod("s").Volume(ClaimVolume("c")), "b", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(plugin.Filter(pod).On("a"), kInUse);
  plugin.RemovePod("s", "b", BERTH_CHANGE_FLAG_FORGOTTEN);
  EXPECT_EQ(plugin.Filter(pod).pre_filter, Skip());
}

TEST(VolumeRestrictions, DiskConflictIsReportedBeforeClaimInUse) {
  const VolumeSpec disk = Disk(BERTH_VOLUME_AWS_DISK, "d");
  PluginUnderTest plugin(
      {.nodes = {MakeNode("a").Pod(MakePod("q").Volume(ClaimVolume("c")).Volume(disk)),
                 MakeNode("b")},
       .objects = {Claim("c", "ReadWriteOncePod")}});
  const FilterResult result = plugin.Filter(MakePod("p").Volume(ClaimVolume("c")).Volume(disk));
  EXPECT_EQ(result.On("a"), kNoDisk);
  EXPECT_EQ(result.On("b"), kInUse);
}

uint32_t PodGone(const PodSpec& pod, const PodSpec& gone) {
  PluginUnderTest plugin({.nodes = {}});
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_POD_ANY,
                           .action = BERTH_ACTION_DELETE,
                           .old_pod = {PodSpec(gone).NodeName("n")}});
}

TEST(VolumeRestrictionsHints, DeletedPods) {
  const PodSpec with_disk = MakePod("p").Volume(Disk(BERTH_VOLUME_AWS_DISK, "d"));
  const PodSpec with_claim = MakePod("p").Volume(ClaimVolume("c"));
  const PodSpec gone =
      MakePod("q").Volume(Disk(BERTH_VOLUME_AWS_DISK, "d")).Volume(ClaimVolume("c"));
  EXPECT_EQ(PodGone(with_disk, gone), kQueue);
  EXPECT_EQ(PodGone(with_claim, gone), kQueue);
  EXPECT_EQ(PodGone(with_claim, MakePod("q").Volume(ClaimVolume("d"))), kSkip);
  EXPECT_EQ(PodGone(MakePod("p"), gone), kSkip);
  EXPECT_EQ(PodGone(with_claim, PodSpec(gone).Namespace("other")), kSkip);
  EXPECT_EQ(PodGone(with_disk, PodSpec(gone).Namespace("other")), kQueue)
      << "disks have no namespace";
}

TEST(VolumeRestrictionsHints, AddedClaimsAndNodeEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const PodSpec pod = MakePod("p").Volume(ClaimVolume("c"));
  const auto added = [&](const ObjectSpec& claim) {
    return plugin.Hint(
        pod, {.resource = BERTH_RESOURCE_PVC, .action = BERTH_ACTION_ADD, .new_object = {claim}});
  };
  EXPECT_EQ(added(Claim("c", "ReadWriteOnce")), kQueue);
  EXPECT_EQ(added(Claim("d", "ReadWriteOnce")), kSkip);
  ObjectSpec elsewhere = Claim("c", "ReadWriteOnce");
  elsewhere.ns = "other";
  EXPECT_EQ(added(elsewhere), kSkip);
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD}),
            kQueue);
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_DELETE}),
            kQueue);
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_PVC, .action = BERTH_ACTION_UPDATE}),
            kSkip);
}

}  // namespace
}  // namespace berth::testing
