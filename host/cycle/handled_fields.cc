#include "host/cycle/handled_fields.h"

#include <algorithm>

#include "host/api/objects.h"

namespace berth::host {
namespace {

bool UsesNodeAffinity(const berth_pod& pod) {
  return pod.affinity->has_required_node_terms != 0 ||
         pod.affinity->preferred_node_terms.count != 0;
}

bool UsesPodAffinity(const berth_pod& pod) {
  return pod.affinity->required_pod_terms.count != 0 ||
         pod.affinity->preferred_pod_terms.count != 0;
}

bool UsesPodAntiAffinity(const berth_pod& pod) {
  return pod.affinity->required_pod_anti_terms.count != 0 ||
         pod.affinity->preferred_pod_anti_terms.count != 0;
}

template <uint32_t... kKinds>
bool UsesVolume(const berth_pod& pod) {
  return std::ranges::any_of(Elements<berth_volume>(pod.volumes), [](const berth_volume& volume) {
    return ((volume.kind == kKinds) || ...);
  });
}

struct Field {
  std::string_view pointer;
  bool (*used)(const berth_pod& pod);
};

// Sorted by pointer. Fields that only affect the order of nodes (images) are not listed, because a
// scheduler may ignore them. Volumes that fit on every node (host paths, NFS, inline CSI) are not
// listed either.
constexpr std::array kFields{
    Field{"/spec/affinity/nodeAffinity", UsesNodeAffinity},
    Field{"/spec/affinity/podAffinity", UsesPodAffinity},
    Field{"/spec/affinity/podAntiAffinity", UsesPodAntiAffinity},
    Field{"/spec/containers/ports/hostPort",
          [](const berth_pod& pod) { return pod.host_ports.count != 0; }},
    Field{"/spec/nodeSelector", [](const berth_pod& pod) { return pod.node_selector.count != 0; }},
    Field{"/spec/resourceClaims",
          [](const berth_pod& pod) { return pod.resource_claims.count != 0; }},
    Field{"/spec/schedulingGates",
          [](const berth_pod& pod) { return pod.scheduling_gates.count != 0; }},
    Field{"/spec/schedulingGroup", [](const berth_pod& pod) { return pod.pod_group.len != 0; }},
    Field{"/spec/tolerations", [](const berth_pod& pod) { return pod.tolerations.count != 0; }},
    Field{"/spec/topologySpreadConstraints",
          [](const berth_pod& pod) { return pod.spreads.count != 0; }},
    Field{"/spec/volumes/awsElasticBlockStore", UsesVolume<BERTH_VOLUME_AWS_DISK>},
    Field{"/spec/volumes/azureDisk", UsesVolume<BERTH_VOLUME_AZURE_DISK>},
    Field{"/spec/volumes/azureFile", UsesVolume<BERTH_VOLUME_AZURE_FILE>},
    Field{"/spec/volumes/cinder", UsesVolume<BERTH_VOLUME_CINDER>},
    Field{"/spec/volumes/ephemeral", UsesVolume<BERTH_VOLUME_EPHEMERAL>},
    Field{"/spec/volumes/gcePersistentDisk", UsesVolume<BERTH_VOLUME_GCE_DISK>},
    Field{"/spec/volumes/iscsi", UsesVolume<BERTH_VOLUME_ISCSI>},
    Field{"/spec/volumes/persistentVolumeClaim", UsesVolume<BERTH_VOLUME_CLAIM>},
    Field{"/spec/volumes/portworxVolume", UsesVolume<BERTH_VOLUME_PORTWORX>},
    Field{"/spec/volumes/rbd", UsesVolume<BERTH_VOLUME_RBD>},
    Field{"/spec/volumes/vsphereVolume", UsesVolume<BERTH_VOLUME_VSPHERE>},
};

}  // namespace

bool HandledFields::Handles(std::string_view field) const {
  return std::ranges::any_of(fields_, [field](std::string_view handled) {
    return field == handled ||
           (field.starts_with(handled) && field.substr(handled.size()).starts_with('/'));
  });
}

std::vector<std::string_view> HandledFields::Unhandled(const berth_pod& pod) const {
  std::vector<std::string_view> unhandled;
  for (const Field& field : kFields) {
    if (field.used(pod) && !Handles(field.pointer)) unhandled.push_back(field.pointer);
  }
  return unhandled;
}

std::string HandledFields::Message(const std::vector<std::string_view>& unhandled) {
  std::string message = "pod uses ";
  for (size_t i = 0; i < unhandled.size(); ++i) {
    if (i > 0) message += i + 1 == unhandled.size() ? " and " : ", ";
    std::string dotted(unhandled[i].substr(1));
    std::ranges::replace(dotted, '/', '.');
    message += dotted;
  }
  return message + ", which no installed plugin handles";
}

}  // namespace berth::host
