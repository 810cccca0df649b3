#include "host/cycle/handled_fields.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HandledFieldsTest : public ::testing::Test {
 protected:
  // Returns the unhandled fields of a pod with this spec, if plugins handle `handled`.
  std::vector<std::string_view> Unhandled(const std::string& spec,
                                          std::set<std::string> handled = {}) {
    return HandledFields(std::move(handled))
        .Unhandled(objects_.Pod({.name = "p", .spec = spec})->view());
  }

  TestObjects objects_;
};

struct Use {
  const char* spec;
  const char* field;
};

constexpr Use kUses[] = {
    {R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms":[]}}})",
     "/spec/affinity/nodeAffinity"},
    {R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
        [{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}})",
     "/spec/affinity/nodeAffinity"},
    {R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        [{"topologyKey":"zone","labelSelector":{}}]}})",
     "/spec/affinity/podAffinity"},
    {R"("affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
        [{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{}}}]}})",
     "/spec/affinity/podAffinity"},
    {R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        [{"topologyKey":"zone","labelSelector":{}}]}})",
     "/spec/affinity/podAntiAffinity"},
    {R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
        [{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{}}}]}})",
     "/spec/affinity/podAntiAffinity"},
    {R"("containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":80}]}])",
     "/spec/containers/ports/hostPort"},
    {R"("nodeSelector":{"a":"b"})", "/spec/nodeSelector"},
    {R"("resourceClaims":[{"name":"r","resourceClaimName":"x"}])", "/spec/resourceClaims"},
    {R"("schedulingGates":[{"name":"g"}])", "/spec/schedulingGates"},
    {R"("schedulingGroup":{"podGroupName":"g"})", "/spec/schedulingGroup"},
    {R"("tolerations":[{"operator":"Exists"}])", "/spec/tolerations"},
    {R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
        "whenUnsatisfiable":"DoNotSchedule"}])",
     "/spec/topologySpreadConstraints"},
    {R"("volumes":[{"name":"v","awsElasticBlockStore":{"volumeID":"x"}}])",
     "/spec/volumes/awsElasticBlockStore"},
    {R"("volumes":[{"name":"v","azureDisk":{"diskName":"x","diskURI":"u"}}])",
     "/spec/volumes/azureDisk"},
    {R"("volumes":[{"name":"v","azureFile":{"shareName":"x","secretName":"s"}}])",
     "/spec/volumes/azureFile"},
    {R"("volumes":[{"name":"v","cinder":{"volumeID":"x"}}])", "/spec/volumes/cinder"},
    {R"("volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}])",
     "/spec/volumes/ephemeral"},
    {R"("volumes":[{"name":"v","gcePersistentDisk":{"pdName":"x"}}])",
     "/spec/volumes/gcePersistentDisk"},
    {R"("volumes":[{"name":"v","iscsi":{"targetPortal":"p","iqn":"i","lun":0}}])",
     "/spec/volumes/iscsi"},
    {R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}}])",
     "/spec/volumes/persistentVolumeClaim"},
    {R"("volumes":[{"name":"v","portworxVolume":{"volumeID":"x"}}])",
     "/spec/volumes/portworxVolume"},
    {R"("volumes":[{"name":"v","rbd":{"monitors":["m"],"image":"i"}}])", "/spec/volumes/rbd"},
    {R"("volumes":[{"name":"v","vsphereVolume":{"volumePath":"x"}}])",
     "/spec/volumes/vsphereVolume"},
};

TEST_F(HandledFieldsTest, ReportsEveryUsedField) {
  for (const Use& use : kUses) {
    SCOPED_TRACE(use.spec);
    EXPECT_THAT(Unhandled(use.spec), ElementsAre(use.field));
    EXPECT_THAT(Unhandled(use.spec, {use.field}), IsEmpty());
  }
}

TEST_F(HandledFieldsTest, AHandledFieldCoversTheFieldsBelowIt) {
  for (const Use& use : kUses) {
    SCOPED_TRACE(use.spec);
    EXPECT_THAT(Unhandled(use.spec, {"/spec"}), IsEmpty());
    EXPECT_THAT(Unhandled(use.spec, {std::string(use.field) + "/more"}), ElementsAre(use.field));
  }
  const std::string affinity = kUses[0].spec;
  EXPECT_THAT(Unhandled(affinity, {"/spec/affinity"}), IsEmpty());
  // A common prefix alone does not make a field a parent.
  EXPECT_THAT(Unhandled(affinity, {"/spec/affinity/node"}), ElementsAre(kUses[0].field));
}

TEST_F(HandledFieldsTest, APlainPodUsesNoField) {
  EXPECT_THAT(Unhandled(""), IsEmpty());
  EXPECT_THAT(Unhandled(R"("volumes":[{"name":"a","configMap":{"name":"x"}},
                                      {"name":"b","emptyDir":{}},
                                      {"name":"c","hostPath":{"path":"/x"}},
                                      {"name":"d","nfs":{"server":"s","path":"/x"}},
                                      {"name":"e","csi":{"driver":"x"}}])"),
              IsEmpty());
  EXPECT_THAT(Unhandled(R"("priority":5,"hostNetwork":true)"), IsEmpty());
}

TEST_F(HandledFieldsTest, SortsTheFields) {
  EXPECT_THAT(Unhandled(R"("tolerations":[{"operator":"Exists"}],"nodeSelector":{"a":"b"},
                           "schedulingGates":[{"name":"g"}])",
                        {"/spec/schedulingGates"}),
              ElementsAre("/spec/nodeSelector", "/spec/tolerations"));
}

TEST_F(HandledFieldsTest, MessageListsTheFields) {
  EXPECT_EQ(HandledFields::Message({"/spec/nodeSelector"}),
            "pod uses spec.nodeSelector, which no installed plugin handles");
  EXPECT_EQ(HandledFields::Message({"/spec/a", "/spec/b/c"}),
            "pod uses spec.a and spec.b.c, which no installed plugin handles");
  EXPECT_EQ(HandledFields::Message({"/spec/a", "/spec/b", "/spec/c"}),
            "pod uses spec.a, spec.b and spec.c, which no installed plugin handles");
}

}  // namespace
}  // namespace berth::host
