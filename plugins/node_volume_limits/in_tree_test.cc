#include "in_tree.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <berth/testing/builders.h>

namespace limits {
namespace {

using berth::testing::Ids;
using berth::testing::MakeObject;
using berth::testing::ObjectHandle;
using berth::testing::ObjectSpec;

berth_volume Inline(uint32_t kind, const char* source, const char* pool = "") {
  berth_volume volume = {};
  volume.kind = kind;
  volume.source = berth::Str(std::string_view(source));
  volume.pool = berth::Str(std::string_view(pool));
  return volume;
}

std::string InlineHandle(uint32_t kind, const char* source, const char* pool = "") {
  const berth_volume volume = Inline(kind, source, pool);
  const InTree* const in_tree = FindByVolume(volume);
  return in_tree == nullptr ? "none" : HandleOf(*in_tree, volume).value_or("unknown");
}

ObjectSpec Volume(const std::string& source) {
  return MakeObject("v1/PersistentVolume", "", "pv", R"({"spec": )" + source + "}");
}

// Returns "<driver> <handle>", "<driver> unknown" if the volume's id cannot be translated, or
// "none" if no CSI driver replaces the volume's in-tree plugin.
std::string Translated(const ObjectSpec& volume) {
  Ids ids;
  const ObjectHandle handle(volume, ids);
  const berth::Value value(handle->value);
  const InTree* const in_tree = FindBySource(value);
  if (in_tree == nullptr) return "none";
  return std::string(in_tree->driver) + " " + HandleOf(*in_tree, value).value_or("unknown");
}

TEST(InTree, FindByProvisionerReturnsTheDriver) {
  const struct {
    const char* provisioner;
    const char* driver;
    bool counted;
  } cases[] = {
      {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", true},
      {"kubernetes.io/azure-disk", "disk.csi.azure.com", true},
      {"kubernetes.io/azure-file", "file.csi.azure.com", false},
      {"kubernetes.io/cinder", "cinder.csi.openstack.org", true},
      {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true},
      {"kubernetes.io/portworx-volume", "pxd.portworx.com", true},
      {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false},
  };
  for (const auto& c : cases) {
    const InTree* const in_tree = FindByProvisioner(c.provisioner);
    ASSERT_NE(in_tree, nullptr) << c.provisioner;
    EXPECT_EQ(in_tree->driver, c.driver);
    EXPECT_EQ(in_tree->counted, c.counted) << c.provisioner;
  }
  EXPECT_EQ(FindByProvisioner("kubernetes.io/rbd"), nullptr);
  EXPECT_EQ(FindByProvisioner("ebs.csi.aws.com"), nullptr);
}

TEST(InTree, HandlesOfInlineVolumes) {
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_AWS_DISK, "vol-1"), "vol-1");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_GCE_DISK, "disk"),
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_CINDER, "id"), "id");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_AZURE_DISK, "name", "/sub/uri"), "/sub/uri");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_PORTWORX, "id"), "id");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_RBD, "image"), "none");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_CSI, "driver"), "none");
  EXPECT_EQ(InlineHandle(BERTH_VOLUME_OTHER, ""), "none");
}

TEST(InTree, HandlesOfEbsVolumeUrls) {
  const struct {
    const char* id;
    const char* handle;
  } cases[] = {
      {"vol-02399794d890f9375", "vol-02399794d890f9375"},
      {"anything", "anything"},
      {"aws:///vol-1", "vol-1"},
      {"aws://us-east-1/vol-1", "vol-1"},
      {"aws://us-east-1/vol-1/", "vol-1"},
      {"aws://us-east-1//vol-1", "vol-1"},
      {"aws://us-east-1/vol-1?a=b", "vol-1"},
      {"aws://us-east-1/vol-", "vol-"},
      {"aws://us-east-1/disk-1", "unknown"},
      {"aws://us-east-1/a/vol-1", "unknown"},
      {"aws://us-east-1/vol-1/a", "unknown"},
      {"aws://vol-1", "unknown"},
      {"aws://", "unknown"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(InlineHandle(BERTH_VOLUME_AWS_DISK, c.id), c.handle) << c.id;
  }
}

TEST(InTree, HandlesOfPersistentVolumes) {
  EXPECT_EQ(Translated(Volume(R"({"awsElasticBlockStore": {"volumeID": "aws://a/vol-1"}})")),
            "ebs.csi.aws.com vol-1");
  EXPECT_EQ(Translated(Volume(R"({"cinder": {"volumeID": "id"}})")), "cinder.csi.openstack.org id");
  EXPECT_EQ(Translated(Volume(R"({"azureDisk": {"diskName": "n", "diskURI": "/uri"}})")),
            "disk.csi.azure.com /uri");
  EXPECT_EQ(Translated(Volume(R"({"portworxVolume": {"volumeID": "id"}})")), "pxd.portworx.com id");
  EXPECT_EQ(Translated(Volume(R"({"nfs": {"server": "s"}})")), "none");
  EXPECT_EQ(Translated(Volume("{}")), "none");
}

TEST(InTree, HandlesOfGceDisksContainZoneOrRegion) {
  const ObjectSpec disk = Volume(R"({"gcePersistentDisk": {"pdName": "d"}})");
  const std::string zone = "topology.kubernetes.io/zone";
  const std::string beta_zone = "failure-domain.beta.kubernetes.io/zone";
  const std::string before = "pd.csi.storage.gke.io projects/UNSPECIFIED/";
  EXPECT_EQ(Translated(disk), before + "zones/UNSPECIFIED/disks/d");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(zone, "us-east1-b")),
            before + "zones/us-east1-b/disks/d");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(beta_zone, "us-east1-b")),
            before + "zones/us-east1-b/disks/d");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(beta_zone, "a").Label(zone, "b")),
            before + "zones/b/disks/d");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(zone, "us-east1-b__us-east1-c")),
            before + "regions/us-east1/disks/d");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(zone, "us-east1-b__us-west1-c")),
            "pd.csi.storage.gke.io unknown");
  EXPECT_EQ(Translated(ObjectSpec(disk).Label(zone, "us-east1-b__c")),
            "pd.csi.storage.gke.io unknown");
}

}  // namespace
}  // namespace limits
