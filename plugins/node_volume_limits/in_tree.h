// Volumes of old, under the names of the CSI drivers that took them over.
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

// One of the plugins that were part of Kubernetes.
struct InTree {
  std::string_view plugin;  // "kubernetes.io/aws-ebs": the provisioner of a class
  std::string_view driver;  // "ebs.csi.aws.com"
  std::string_view source;  // "awsElasticBlockStore": the source of a persistent volume
  std::string_view id;      // "volumeID": what names the disk there
  uint32_t kind;            // BERTH_VOLUME_AWS_DISK
  bool counted;             // Its volumes count against the driver's limit.
};

// Null where there is none: another driver's, or one that nobody took over.
const InTree* FindByProvisioner(std::string_view provisioner);
const InTree* FindByVolume(const berth_volume& volume);
const InTree* FindBySource(const berth::Value& persistent_volume);

// How the driver calls the volume. REQUIRES: found by it. Nothing where it cannot be told.
std::optional<std::string> HandleOf(const InTree& in_tree, const berth_volume& volume);
std::optional<std::string> HandleOf(const InTree& in_tree, const berth::Value& persistent_volume);

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_IN_TREE_H_
