// An index of the cluster's claims, volumes, drivers and attachments. Filter uses it because block
// calls must not get objects from the host.
#ifndef BERTH_PLUGINS_NODE_VOLUME_LIMITS_VOLUME_INDEX_H_
#define BERTH_PLUGINS_NODE_VOLUME_LIMITS_VOLUME_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <berth/host.h>
#include <berth/kube_version.h>
#include <berth/needed_kind.h>
#include <berth/value.h>

namespace limits {

// The kinds that the index watches.
inline constexpr const char* kClaims = "v1/PersistentVolumeClaim";
inline constexpr const char* kVolumes = "v1/PersistentVolume";
inline constexpr const char* kClasses = "storage.k8s.io/v1/StorageClass";
inline constexpr const char* kCsiNodes = "storage.k8s.io/v1/CSINode";
inline constexpr const char* kCsiDrivers = "storage.k8s.io/v1/CSIDriver";
inline constexpr const char* kAttachments = "storage.k8s.io/v1/VolumeAttachment";

// Identifies a volume that is attached to nodes. Two equal names denote the same volume.
// Lifetime: valid as long as the objects and strings that it was read from.
struct VolumeName {
  std::string_view driver;  // Empty if the volume counts against no limit.
  std::string_view handle;
  // If not BERTH_ID_NONE, the volume does not exist yet: `ns` and `handle` name its claim.
  berth_id ns = BERTH_ID_NONE;
  bool migrated = false;  // An in-tree volume. It only counts on nodes with a CSINode.

  // Compares without `migrated`: an in-tree volume and a CSI volume may be the same volume.
  friend bool operator==(const VolumeName& a, const VolumeName& b) {
    return a.driver == b.driver && a.handle == b.handle && a.ns == b.ns;
  }
  friend bool operator<(const VolumeName& a, const VolumeName& b) {
    if (a.driver != b.driver) return a.driver < b.driver;
    return a.handle != b.handle ? a.handle < b.handle : a.ns < b.ns;
  }
};

struct Claim {
  std::string volume;         // spec.volumeName
  std::string storage_class;  // Empty if the claim has no class.
  std::string controller;     // The uid of the controlling owner; empty if there is none.
};

struct CsiNode {
  struct Driver {
    std::string name;
    std::optional<int64_t> limit;
  };
  std::vector<Driver> drivers;

  const Driver* Find(std::string_view driver) const;
};

struct Attachment {
  std::string name;
  std::string driver;
  std::string volume;  // The persistent volume's name.
};

// The driver and handle of a persistent volume. Both are empty if the volume does not count.
struct Volume {
  std::string driver;
  std::string handle;
  bool migrated = false;

  friend bool operator==(const Volume& a, const Volume& b) {
    return a.driver == b.driver && a.handle == b.handle && a.migrated == b.migrated;
  }
};

// Reads a PersistentVolumeClaim.
Claim ReadClaim(const berth_object& claim);
// Reads a PersistentVolume.
Volume ReadVolume(const berth::Value& volume);
// Returns the drivers of a CSINode and their limits.
CsiNode ReadCsiNode(const berth::Value& csi_node);
// Returns whether a CSIDriver may require that it is installed on the nodes of pods that use it.
// 1.36: no. The feature gate VolumeLimitScaling is off, so that the field has no effect.
// 1.37: yes, by spec.preventPodSchedulingIfMissing.
// kube-scheduler: nodevolumelimits/csi.go, checkCSIDriverOnNode; kubernetes/kubernetes#140612
constexpr bool DriversMayBeRequired(berth::KubeVersion version) {
  return version >= berth::KubeVersion{1, 37};
}
// Returns whether pods with volumes of this CSIDriver must not be scheduled to nodes on which it is
// not installed.
bool PreventsSchedulingIfMissing(const berth::Value& csi_driver, berth::KubeVersion version);

// Watches the kinds above and answers lookups for PreFilter and Filter.
//
// Threading: watch callbacks: [event]; lookups: [cycle], [block].
// Lifetime:  the result of a lookup is valid until the next watch callback.
class VolumeIndex {
 public:
  // Starts to watch the kinds above.
  // Errors: throws berth::Error if the host does not support watches.
  explicit VolumeIndex(const berth::Host& host);
  VolumeIndex(const VolumeIndex&) = delete;
  VolumeIndex& operator=(const VolumeIndex&) = delete;

  // These lookups return null if the object does not exist.
  const Claim* FindClaim(berth_id ns, std::string_view name) const;
  // Returns what a CSINode states. `csi_node` is the value of the column of CSINodes; may be null.
  const CsiNode* Read(const berth_object* csi_node) const;
  // Returns the name of the claim's volume. If the claim has none, returns a name of its own with
  // the driver of its class. Without either, the name has no driver.
  VolumeName NameOf(const Claim& claim, berth_id ns, std::string_view claim_name) const;
  // Returns the attachments to the node.
  std::span<const Attachment> AttachmentsTo(std::string_view node) const;
  // Returns the name of the attached volume. It has no driver if the volume does not exist or is
  // not a CSI volume.
  VolumeName NameOf(const Attachment& attachment) const;
  // Returns whether pods with volumes of the driver must not be scheduled to nodes on which it is
  // not installed.
  bool MustBeInstalled(std::string_view driver) const;

  // The kinds of objects on which the decision about a pod depends.
  struct Needs {
    bool claims = false;   // A volume is that of a claim.
    bool volumes = false;  // A claim has a volume.
    bool classes = false;  // A claim without a volume has a class.
    bool limits = false;   // A volume counts against the limit of a driver.
  };
  // Adds what the name of a claim's volume depends on. `claim` is null if it does not exist.
  static void AddNeeds(const Claim* claim, Needs& needs);
  // Adds what the names of the volumes of all claims depend on.
  void AddNeedsOfClaims(Needs& needs) const {
    needs.volumes |= with_volume_ > 0;
    needs.classes |= with_class_only_ > 0;
  }
  // Returns whether the cluster has no claims, and the host was not told that they are needed.
  bool MayLackClaims() const { return claims_.empty() && claim_need_.is_open(); }
  // Tells the host which kinds the decision in progress depends on.
  void Note(const Needs& needs);

  // Watch callbacks.
  void OnClaim(const berth::ObjectChange& change);
  void OnVolume(const berth::ObjectChange& change);
  void OnClass(const berth::ObjectChange& change);
  void OnCsiNode(const berth::ObjectChange& change);
  void OnCsiDriver(const berth::ObjectChange& change);
  void OnAttachment(const berth::ObjectChange& change);

 private:
  struct ClaimKey {
    berth_id ns = BERTH_ID_NONE;  // Interned by the plugin instance.
    std::string name;
  };
  struct ClaimView {
    berth_id ns;
    std::string_view name;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    size_t operator()(const ClaimView& claim) const {
      return (*this)(claim.name) ^ claim.ns * size_t{0x9e3779b97f4a7c15};
    }
    size_t operator()(const ClaimKey& claim) const {
      return (*this)(ClaimView{claim.ns, claim.name});
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const requires requires {
      a.ns, b.ns;
    }
    { return a.ns == b.ns && a.name == b.name; }
  };
  template <class T>
  using ByName = std::unordered_map<std::string, T, Hash, Equal>;

  struct StorageClass {
    std::string driver;  // Empty if the volumes of the class do not count.
    bool migrated = false;
  };

  berth::Host host_;
  berth::NeededKind claim_need_{host_, kClaims};
  berth::NeededKind volume_need_{host_, kVolumes};
  berth::NeededKind class_need_{host_, kClasses};
  berth::NeededKind csi_node_need_{host_, kCsiNodes};
  berth::NeededKind csi_driver_need_{host_, kCsiDrivers};
  berth::NeededKind attachment_need_{host_, kAttachments};
  // Counts a claim, or counts it no longer: `by` is 1 or -1.
  void Count(const Claim& claim, int by);

  std::unordered_map<ClaimKey, Claim, Hash, Equal> claims_;
  int64_t with_volume_ = 0;      // Claims with a volume.
  int64_t with_class_only_ = 0;  // Claims with a class and without a volume.
  ByName<Volume> volumes_;
  ByName<StorageClass> classes_;
  std::unordered_map<const berth_object*, CsiNode> csi_nodes_;  // The current CSINodes.
  ByName<std::vector<Attachment>> attachments_;                 // Keyed by node name.
  std::unordered_set<std::string, Hash, Equal> must_be_installed_;
};

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_VOLUME_INDEX_H_
