// What the cluster says of claims, volumes, drivers and attachments, for blocks of Filter, which
// may ask the host for no object.
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
#include <berth/value.h>

namespace limits {

// The kinds that the index watches.
inline constexpr const char* kClaims = "v1/PersistentVolumeClaim";
inline constexpr const char* kVolumes = "v1/PersistentVolume";
inline constexpr const char* kClasses = "storage.k8s.io/v1/StorageClass";
inline constexpr const char* kCsiNodes = "storage.k8s.io/v1/CSINode";
inline constexpr const char* kCsiDrivers = "storage.k8s.io/v1/CSIDriver";
inline constexpr const char* kAttachments = "storage.k8s.io/v1/VolumeAttachment";

// What a claim is to be attached as. Equal names, one volume.
// Lifetime: that of what it was read from.
struct VolumeName {
  std::string_view driver;  // Empty: it counts against no limit.
  std::string_view handle;
  berth_id ns = BERTH_ID_NONE;  // Not 0: there is no volume yet, and `handle` is the claim's name.
  bool migrated = false;        // Counts where the node has a CSINode.

  // The same volume, however it came to its driver.
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
  std::string storage_class;  // Empty: none.
  std::string controller;     // The uid of what manages it.
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

// What a CSINode says.
CsiNode ReadCsiNode(const berth::Value& csi_node);
// Whether a CSIDriver keeps its pods from nodes where it is not installed.
bool KeepsPodsAway(const berth::Value& csi_driver);

// Threading: changes as watches are told, [event]; questions: [cycle], [block].
// Lifetime:  what a question answers, until the next change.
class VolumeIndex {
 public:
  // From now on hears of every change.
  // Errors: berth::Error where the host has no watches.
  explicit VolumeIndex(const berth::Host& host);
  VolumeIndex(const VolumeIndex&) = delete;
  VolumeIndex& operator=(const VolumeIndex&) = delete;

  // Null: there is none.
  const Claim* FindClaim(berth_id ns, std::string_view name) const;
  const CsiNode* FindCsiNode(std::string_view node) const;
  // As what it is attached: as its volume, or, while it has none, as one of its class.
  VolumeName NameOf(const Claim& claim, berth_id ns, std::string_view claim_name) const;
  // To the node.
  std::span<const Attachment> AttachmentsTo(std::string_view node) const;
  // Without a driver where its volume is not that of a CSI driver.
  VolumeName NameOf(const Attachment& attachment) const;
  // Whether pods with volumes of the driver must not go where it is not installed.
  bool MustBeInstalled(std::string_view driver) const;

  // For the watches.
  void OnClaim(const berth_object* old, const berth_object* now);
  void OnVolume(const berth_object* old, const berth_object* now);
  void OnClass(const berth_object* old, const berth_object* now);
  void OnCsiNode(const berth_object* old, const berth_object* now);
  void OnCsiDriver(const berth_object* old, const berth_object* now);
  void OnAttachment(const berth_object* old, const berth_object* now);

 private:
  struct ClaimKey {
    berth_id ns = BERTH_ID_NONE;  // Owned by the instance.
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

  // What a persistent volume is attached as. Both empty: as nothing that counts.
  struct Volume {
    std::string driver;
    std::string handle;
    bool migrated = false;
  };
  struct StorageClass {
    std::string driver;  // Empty: its volumes do not count.
    bool migrated = false;
  };

  static Volume ReadVolume(const berth::Value& volume);

  berth::Host host_;
  std::unordered_map<ClaimKey, Claim, Hash, Equal> claims_;
  ByName<Volume> volumes_;
  ByName<StorageClass> classes_;
  ByName<CsiNode> csi_nodes_;
  ByName<std::vector<Attachment>> attachments_;  // By node.
  std::unordered_set<std::string, Hash, Equal> must_be_installed_;
};

}  // namespace limits

#endif  // BERTH_PLUGINS_NODE_VOLUME_LIMITS_VOLUME_INDEX_H_
