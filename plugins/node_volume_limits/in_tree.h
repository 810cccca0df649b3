// Translates in-tree volumes to the names of the CSI drivers that replace the in-tree plugins.
// kube-scheduler: staging/src/k8s.io/csi-translation-lib
#ifndef BERTH_PLUGINS_NODE_VOLUME_LIMITS_IN_TREE_H_
#define BERTH_PLUGINS_NODE_VOLUME_LIMITS_IN_TREE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/value.h>

namespace limits {

// A volume plugin that was part of Kubernetes, and the CSI driver that replaces it.
struct InTree {
  std::string_view plugin;  // The provisioner in a StorageClass: "kubernetes.io/aws-ebs".
  std::string_view driver;  // The CSI driver: "ebs.csi.aws.com".
  std::string_view source;  // The source field of a volume: "awsElasticBlockStore".
  std::string_view id;      // The field of the source that names the disk: "volumeID".
  uint32_t kind;            // The BERTH_VOLUME_ constant: BERTH_VOLUME_AWS_DISK.
  bool counted;             // Whether its volumes count against the driver's limit.
};

// These functions return null if the volume or provisioner belongs to no in-tree plugin, or to one
// that no CSI driver replaces.
const InTree* FindByProvisioner(std::string_view provisioner);
const InTree* FindByVolume(const berth_volume& volume);
const InTree* FindBySource(const berth::Value& persistent_volume);

// These functions return the driver's handle of the volume, or nullopt if the volume's id cannot be
// translated.
// REQUIRES: FindByVolume or FindBySource returned `in_tree` for the same volume.
std::optional<std::string> HandleOf(const InTree& in_tree, const berth_volume& volume);
std::optional<std::string> HandleOf(const InTree& in_tree, const berth::Value& persistent_volume);

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_IN_TREE_H_
