#include "tests/simulation/volume_sketch.h"

#include <nlohmann/json.hpp>

namespace berth::host {
namespace {

using nlohmann::json;

constexpr const char* kDriver = "csi.example.com";

}  // namespace

std::string ClaimSketch::Json() const {
  const char* mode = is_read_write_once_pod ? "ReadWriteOncePod" : "ReadWriteOnce";
  json spec = {{"accessModes", json::array({mode})}, {"storageClassName", storage_class}};
  if (!volume.empty()) spec["volumeName"] = volume;
  const json claim = {{"kind", "PersistentVolumeClaim"},
                      {"apiVersion", "v1"},
                      {"metadata", {{"name", name}, {"namespace", "default"}}},
                      {"spec", std::move(spec)}};
  return claim.dump();
}

std::string VolumeSketch::Json() const {
  json labels = json::object();
  if (!zones.empty()) labels[kZoneLabel] = zones;
  const json volume = {{"kind", "PersistentVolume"},
                       {"apiVersion", "v1"},
                       {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                       {"spec", {{"csi", {{"driver", kDriver}, {"volumeHandle", name}}}}}};
  return volume.dump();
}

std::string ClassSketch::Json() const {
  const json storage_class = {
      {"kind", "StorageClass"},
      {"apiVersion", "storage.k8s.io/v1"},
      {"metadata", {{"name", name}}},
      {"provisioner", kDriver},
      {"volumeBindingMode", waits_for_pod ? "WaitForFirstConsumer" : "Immediate"}};
  return storage_class.dump();
}

std::string CsiNodeSketch::Json() const {
  json driver = {{"name", kDriver}, {"nodeID", node}};
  if (limit > 0) driver["allocatable"] = {{"count", limit}};
  const json csi_node = {{"kind", "CSINode"},
                         {"apiVersion", "storage.k8s.io/v1"},
                         {"metadata", {{"name", node}}},
                         {"spec", {{"drivers", json::array({std::move(driver)})}}}};
  return csi_node.dump();
}

}  // namespace berth::host
