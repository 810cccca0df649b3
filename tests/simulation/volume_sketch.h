// Storage as the simulated users think of it.
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

// In the namespace "default".
struct ClaimSketch {
  std::string name;
  std::string storage_class;
  bool is_for_one_pod = false;
  std::string volume;  // Empty: not bound yet.

  std::string Json() const;
};

// Of the one driver that there is.
struct VolumeSketch {
  std::string name;
  std::string zones;  // As a label spells them: "a", "a__b"; empty: everywhere.

  std::string Json() const;
};

struct ClassSketch {
  std::string name;
  bool waits_for_pod = false;

  std::string Json() const;
};

struct CsiNodeSketch {
  std::string node;
  int64_t limit = 0;  // 0: none.

  std::string Json() const;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_VOLUME_SKETCH_H_
