#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;

PodSpec PodWithVolume(VolumeSpec volume) { return MakePod("p").Volume(std::move(volume)); }
PodSpec PodWithClaim(const std::string& claim) {
  return PodWithVolume({.name = "v", .kind = BERTH_VOLUME_CLAIM, .source = claim});
}

ObjectSpec CsiNode(const std::string& drivers) {
  return MakeObject("storage.k8s.io/v1/CSINode", "", "n",
                    R"({"spec": {"drivers": [)" + drivers + "]}}");
}
std::string Driver(const std::string& name, const std::string& count = "") {
  const std::string limit = count.empty() ? "" : R"(, "allocatable": {"count": )" + count + "}";
  return R"({"name": ")" + name + "\"" + limit + "}";
}

uint32_t Hint(const PodSpec& pod, uint32_t resource, uint32_t action,
              std::vector<ObjectSpec> before, std::vector<ObjectSpec> after,
              KubeVersion version = kNewestKubeVersion) {
  PluginUnderTest plugin({.nodes = {}, .emulated_version = version});
  return plugin.Hint(pod, {.resource = resource,
                           .action = action,
                           .old_object = std::move(before),
                           .new_object = std::move(after)});
}

TEST(NodeVolumeLimitsHints, CsiNodes) {
  const auto updated = [](const std::string& before, const std::string& after) {
    return Hint(PodWithClaim("c"), BERTH_RESOURCE_CSI_NODE, BERTH_ACTION_UPDATE, {CsiNode(before)},
                {CsiNode(after)});
  };
  EXPECT_EQ(updated(Driver("d", "1"), Driver("d", "2")), kQueue);
  EXPECT_EQ(updated(Driver("d", "2"), Driver("d", "1")), kSkip);
  EXPECT_EQ(updated(Driver("d", "2"), Driver("d", "2")), kSkip);
  EXPECT_EQ(updated(Driver("d", "2"), Driver("d")), kQueue) << "the limit was removed";
  EXPECT_EQ(updated(Driver("d"), Driver("d", "2")), kSkip);
  EXPECT_EQ(updated("", Driver("d", "1")), kQueue) << "a new driver";
  EXPECT_EQ(updated(Driver("d", "1"), ""), kQueue) << "the driver was removed";
  EXPECT_EQ(
      updated(Driver("d", "1") + "," + Driver("e", "1"), Driver("e", "2") + "," + Driver("d", "1")),
      kQueue);
  EXPECT_EQ(Hint(PodWithClaim("c"), BERTH_RESOURCE_CSI_NODE, BERTH_ACTION_ADD, {}, {CsiNode("")}),
            kQueue);
  EXPECT_EQ(
      Hint(PodWithClaim("c"), BERTH_RESOURCE_CSI_NODE, BERTH_ACTION_DELETE, {CsiNode("")}, {}),
      kQueue)
      << "a node without a CSINode has no limit";
  EXPECT_EQ(Hint(PodWithClaim("c"), BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, {}, {}), kQueue)
      << "a new node has no CSINode and so no limit";
}

TEST(NodeVolumeLimitsHints, CsiDrivers) {
  const auto driver = [](const char* spec) {
    return MakeObject("storage.k8s.io/v1/CSIDriver", "", "d",
                      R"({"spec": )" + std::string(spec) + "}");
  };
  const ObjectSpec strict = driver(R"({"preventPodSchedulingIfMissing": true})");
  const ObjectSpec lenient = driver("{}");
  // Returns the hints in 1.36, where no driver is required, and in 1.37.
  using Hints = std::vector<uint32_t>;
  const auto hints = [](uint32_t action, const ObjectSpec& before, std::vector<ObjectSpec> after) {
    Hints all;
    for (const KubeVersion version : {KubeVersion{1, 36}, KubeVersion{1, 37}}) {
      all.push_back(
          Hint(PodWithClaim("c"), BERTH_RESOURCE_CSI_DRIVER, action, {before}, after, version));
    }
    return all;
  };
  EXPECT_EQ(hints(BERTH_ACTION_UPDATE, strict, {lenient}), (Hints{kSkip, kQueue}));
  EXPECT_EQ(hints(BERTH_ACTION_UPDATE, lenient, {strict}), (Hints{kSkip, kSkip}));
  EXPECT_EQ(hints(BERTH_ACTION_UPDATE, strict, {strict}), (Hints{kSkip, kSkip}));
  EXPECT_EQ(hints(BERTH_ACTION_DELETE, strict, {}), (Hints{kSkip, kQueue}));
}

TEST(NodeVolumeLimitsHints, DeletedPods) {
  const auto gone = [](const PodSpec& pod) {
    PluginUnderTest plugin({.nodes = {}});
    return plugin.Hint(
        PodWithClaim("c"),
        {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_DELETE, .old_pod = {pod}});
  };
  EXPECT_EQ(gone(PodWithClaim("other").NodeName("n")), kQueue);
  EXPECT_EQ(gone(PodWithClaim("other").Nominated("n")), kQueue);
  EXPECT_EQ(gone(PodWithClaim("other")), kSkip) << "it was pending";
  EXPECT_EQ(gone(PodWithVolume({.name = "v", .kind = BERTH_VOLUME_EPHEMERAL}).NodeName("n")),
            kQueue);
  EXPECT_EQ(gone(PodWithVolume({.name = "v", .kind = BERTH_VOLUME_AWS_DISK}).NodeName("n")),
            kQueue);
  EXPECT_EQ(gone(PodWithVolume({.name = "v", .kind = BERTH_VOLUME_NFS}).NodeName("n")), kSkip);
  EXPECT_EQ(gone(MakePod("q").NodeName("n")), kSkip);
}

TEST(NodeVolumeLimitsHints, Claims) {
  const auto added = [](const PodSpec& pod, const std::string& ns, const std::string& name) {
    return Hint(pod, BERTH_RESOURCE_PVC, BERTH_ACTION_ADD, {},
                {MakeObject("v1/PersistentVolumeClaim", ns, name)});
  };
  EXPECT_EQ(added(PodWithClaim("c"), "default", "c"), kQueue);
  EXPECT_EQ(added(PodWithClaim("c"), "default", "d"), kSkip);
  EXPECT_EQ(added(PodWithClaim("c"), "other", "c"), kSkip);
  EXPECT_EQ(added(PodWithVolume({.name = "scratch", .kind = BERTH_VOLUME_EPHEMERAL}), "default",
                  "p-scratch"),
            kQueue);
  EXPECT_EQ(added(PodWithVolume({.name = "c", .kind = BERTH_VOLUME_AWS_DISK, .source = "c"}),
                  "default", "c"),
            kSkip);
}

TEST(NodeVolumeLimitsHints, ChangedClaims) {
  const auto claim = [](const std::string& spec) {
    return std::vector<ObjectSpec>{
        MakeObject("v1/PersistentVolumeClaim", "other", "d", R"({"spec": )" + spec + "}")};
  };
  const auto unbound = claim(R"({"storageClassName": "fast"})");
  const auto bound = claim(R"({"storageClassName": "fast", "volumeName": "v"})");
  const auto changed = [](std::vector<ObjectSpec> before, std::vector<ObjectSpec> after) {
    const uint32_t action = after.empty() ? BERTH_ACTION_DELETE : BERTH_ACTION_UPDATE;
    return Hint(PodWithClaim("c"), BERTH_RESOURCE_PVC, action, std::move(before), std::move(after));
  };
  EXPECT_EQ(changed(unbound, bound), kQueue) << "its volume may count on the node already";
  EXPECT_EQ(changed(bound, bound), kSkip);
  EXPECT_EQ(changed(unbound, claim("{}")), kQueue) << "it has no class any more";
  EXPECT_EQ(changed(bound, {}), kQueue);
}

TEST(NodeVolumeLimitsHints, Volumes) {
  const auto volume = [](const std::string& spec) {
    return std::vector<ObjectSpec>{
        MakeObject("v1/PersistentVolume", "", "v", R"({"spec": )" + spec + "}")};
  };
  const auto one = volume(R"({"csi": {"driver": "d", "volumeHandle": "1"}})");
  const auto changed = [](std::vector<ObjectSpec> before, std::vector<ObjectSpec> after) {
    uint32_t action = BERTH_ACTION_UPDATE;
    if (before.empty()) action = BERTH_ACTION_ADD;
    if (after.empty()) action = BERTH_ACTION_DELETE;
    return Hint(PodWithClaim("c"), BERTH_RESOURCE_PV, action, std::move(before), std::move(after));
  };
  EXPECT_EQ(changed({}, one), kQueue);
  EXPECT_EQ(changed(one, {}), kQueue);
  EXPECT_EQ(changed(one, volume(R"({"csi": {"driver": "d", "volumeHandle": "2"}})")), kQueue);
  EXPECT_EQ(changed(one, volume(R"({"nfs": {}})")), kQueue);
  EXPECT_EQ(changed(one, volume(R"({"csi": {"driver": "d", "volumeHandle": "1"},
                                    "claimRef": {"name": "c"}})")),
            kSkip);
}

TEST(NodeVolumeLimitsHints, Classes) {
  const auto of = [](const std::string& provisioner) {
    return std::vector<ObjectSpec>{MakeObject("storage.k8s.io/v1/StorageClass", "", "fast",
                                              R"({"provisioner": ")" + provisioner + "\"}")};
  };
  const auto changed = [](std::vector<ObjectSpec> before, std::vector<ObjectSpec> after) {
    const uint32_t action = after.empty() ? BERTH_ACTION_DELETE : BERTH_ACTION_UPDATE;
    return Hint(PodWithClaim("c"), BERTH_RESOURCE_STORAGE_CLASS, action, std::move(before),
                std::move(after));
  };
  EXPECT_EQ(changed(of("d"), of("e")), kQueue);
  EXPECT_EQ(changed(of("d"), of("d")), kSkip);
  EXPECT_EQ(changed(of("d"), {}), kQueue);
}

TEST(NodeVolumeLimitsHints, Attachments) {
  const auto gone = [](const PodSpec& pod, const char* driver) {
    return Hint(pod, BERTH_RESOURCE_VOLUME_ATTACHMENT, BERTH_ACTION_DELETE,
                {MakeObject("storage.k8s.io/v1/VolumeAttachment", "", "a",
                            R"({"spec": {"attacher": ")" + std::string(driver) + "\"}}")},
                {});
  };
  const PodSpec ebs =
      PodWithVolume({.name = "v", .kind = BERTH_VOLUME_AWS_DISK, .source = "vol-1"});
  EXPECT_EQ(gone(PodWithClaim("c"), "any"), kQueue);
  EXPECT_EQ(gone(PodWithVolume({.name = "v", .kind = BERTH_VOLUME_EPHEMERAL}), "any"), kQueue);
  EXPECT_EQ(gone(ebs, "ebs.csi.aws.com"), kQueue);
  EXPECT_EQ(gone(ebs, "pd.csi.storage.gke.io"), kSkip);
  EXPECT_EQ(
      gone(PodWithVolume({.name = "v", .kind = BERTH_VOLUME_VSPHERE}), "csi.vsphere.vmware.com"),
      kQueue);
  EXPECT_EQ(gone(MakePod("p"), "ebs.csi.aws.com"), kSkip);
}

}  // namespace
}  // namespace berth::testing
