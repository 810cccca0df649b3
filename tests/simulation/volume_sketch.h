// The specifications of simulated storage objects, from which manifests are made.
#ifndef BERTH_TESTS_SIMULATION_VOLUME_SKETCH_H_
#define BERTH_TESTS_SIMULATION_VOLUME_SKETCH_H_

#include <cstdint>
#include <string>

namespace berth::host {

inline constexpr const char* kClaimKind = "v1/PersistentVolumeClaim";
inline constexpr const char* kVolumeKind = "v1/PersistentVolume";
inline constexpr const char* kClassKind = "storage.k8s.io/v1/StorageClass";
inline constexpr const char* kCsiNodeKind = "storage.k8s.io/v1/CSINode";
inline constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";

// A PersistentVolumeClaim in the namespace "default".
struct ClaimSketch {
  std::string name;
  std::string storage_class;
  bool is_read_write_once_pod = false;
  std::string volume;  // Empty if the claim is not bound.

  std::string Json() const;
};

// A PersistentVolume of the only driver of the simulation.
struct VolumeSketch {
  std::string name;
  std::string zones;  // The value of the zone label, such as "a" or "a__b"; empty for no label.

  std::string Json() const;
};

struct ClassSketch {
  std::string name;
  bool waits_for_pod = false;

  std::string Json() const;
};

struct CsiNodeSketch {
  std::string node;
  int64_t limit = 0;  // 0 for no limit.

  std::string Json() const;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_VOLUME_SKETCH_H_
