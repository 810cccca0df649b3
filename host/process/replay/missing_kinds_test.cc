#include "host/process/replay/missing_kinds.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/process/replay/embedded_scheduler.h"
#include "tests/harness/default_profile.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KubectlResource, FollowsTheRulesOfKubernetes) {
  const struct {
    const char* kind;
    const char* plural;
    const char* resource;
  } cases[] = {
      {"v1/Namespace", "Namespaces", "namespaces"},
      {"apps/v1/ReplicaSet", "ReplicaSets", "replicasets"},
      {"storage.k8s.io/v1/StorageClass", "StorageClasses", "storageclasses"},
      {"storage.k8s.io/v1/CSIStorageCapacity", "CSIStorageCapacities", "csistoragecapacities"},
      {"resource.k8s.io/v1|v1beta1/ResourceClaim", "ResourceClaims", "resourceclaims"},
      {"v1/Proxy", "Proxies", "proxies"},
      {"v1/Relay", "Relays", "relays"},
      {"acme.example.com/v1/Quota", "Quotas", "quota.acme.example.com"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(PluralOf(c.kind), c.plural);
    EXPECT_EQ(KubectlResource(c.kind), c.resource);
  }
}

TEST(WarningsAbout, NameEachKindAndOneCommand) {
  EXPECT_THAT(WarningsAbout({}), IsEmpty());
  EXPECT_THAT(WarningsAbout({.list = {}, .present = {"v1/Service"}}), IsEmpty());
  EXPECT_THAT(
      WarningsAbout({.list = {{"v1/Namespace", {"A", "B"}, "web/a"}, {"a.io/v1/Rack", {"C"}, ""}},
                     .present = {"v1/Service"}}),
      ElementsAre("the input has no Namespaces, which A and B read for pod web/a; the answer may "
                  "differ on the cluster",
                  "the input has no Racks, which C reads; the answer may differ on the cluster",
                  "read them too: kubectl get nodes,pods,services,namespaces,rack.a.io -A -o json; "
                  "if the cluster has none, use --complete"));
}

// The plugins of the default profile, in a cluster where a plugin handles claims.
class ClaimNeedsTest : public ::testing::Test {
 protected:
  // Returns the missing kinds, with their plugins, after an attempt to place the pod "web".
  static std::vector<std::string> MissingIn(const std::string& objects) {
    const VirtualClock clock(0);
    auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    EXPECT_TRUE(plugins->AddDirectory(DefaultPluginDirectory()).ok());
    SchedulerOptions options;
    options.profiles.push_back(DefaultPlanSpec(plugins->catalog()));
    options.plugins = std::move(plugins);
    options.loop.clock = &clock;
    options.loop.ignored_pod_fields = {"/spec/volumes/persistentVolumeClaim"};
    EmbeddedScheduler scheduler(std::move(options));
    const std::string cluster = R"(
apiVersion: v1
kind: Node
metadata: {name: w-1, uid: u}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}
)";
    const Status status = scheduler.cluster().AddManifest("cluster", cluster + objects);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(scheduler.Start().ok());
    while (scheduler.Step()) {
    }
    std::vector<std::string> missing;
    for (const MissingKind& each : FindMissingKinds(scheduler.cluster(), scheduler.loop()).list) {
      std::string line = each.kind;
      for (const std::string& plugin : each.plugins) line += " " + plugin;
      missing.push_back(line + (each.pod.empty() ? "" : " " + each.pod));
    }
    return missing;
  }
  static std::string Object(const std::string& api_version, const std::string& kind,
                            const std::string& name, const std::string& more = "") {
    return "---\napiVersion: " + api_version + "\nkind: " + kind + "\nmetadata: {name: " + name +
           "}\n" + more;
  }
  const std::string drivers_ = Object("storage.k8s.io/v1", "CSINode", "w-1") +
                               Object("storage.k8s.io/v1", "CSIDriver", "d") +
                               Object("storage.k8s.io/v1", "VolumeAttachment", "a");
};

TEST_F(ClaimNeedsTest, APodWithClaimNeedsClaimsAndMore) {
  EXPECT_THAT(MissingIn(drivers_),
              ElementsAre("v1/PersistentVolumeClaim VolumeRestrictions default/web"));
  const auto claim = [](const std::string& spec) {
    return Object("v1", "PersistentVolumeClaim", "data", "spec: {" + spec + "}\n");
  };
  const std::string bound = drivers_ + claim("volumeName: pv");
  EXPECT_THAT(MissingIn(bound),
              ElementsAre("v1/PersistentVolume NodeVolumeLimits VolumeZone default/web"));
  EXPECT_THAT(MissingIn(bound + Object("v1", "PersistentVolume", "pv")), IsEmpty());
  const std::string unbound = drivers_ + claim("storageClassName: fast");
  EXPECT_THAT(
      MissingIn(unbound),
      ElementsAre("storage.k8s.io/v1/StorageClass NodeVolumeLimits VolumeZone default/web"));
  EXPECT_THAT(MissingIn(unbound + Object("storage.k8s.io/v1", "StorageClass", "fast",
                                         "volumeBindingMode: WaitForFirstConsumer\n")),
              IsEmpty());
  EXPECT_THAT(MissingIn(claim("volumeName: pv") + Object("v1", "PersistentVolume", "pv")),
              ElementsAre("storage.k8s.io/v1/CSIDriver NodeVolumeLimits default/web",
                          "storage.k8s.io/v1/CSINode NodeVolumeLimits default/web",
                          "storage.k8s.io/v1/VolumeAttachment NodeVolumeLimits default/web"));
}

}  // namespace
}  // namespace berth::host
