// Conflicts between the volumes of two pods on one node.
#ifndef BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
#define BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/pod.h>

namespace restrictions {

// The GCE, EBS, iSCSI and RBD disks of a pod. Pods on one node can share such a disk only if there
// is no conflict.
//
// Lifetime: that of the pod.
class Disks {
 public:
  Disks() = default;
  explicit Disks(const berth::Pod& pod);

  // Returns true if the pod has no such disk.
  bool empty() const { return few_.empty() && many_.empty(); }
  // Returns whether `other` uses a disk of the pod and cannot share it. Costs time in proportion to
  // the volumes of `other`, however many disks the pod has.
  bool Conflict(const berth::Pod& other) const;

 private:
  // What two volumes have in common if they are the same disk.
  struct Disk {
    uint32_t kind = 0;
    std::string_view source;
    std::string_view pool;  // Of RBD, as is the host: one of the monitors.
    std::string_view host;

    friend bool operator==(const Disk&, const Disk&) = default;
  };
  struct Hash {
    std::size_t operator()(const Disk& disk) const {
      std::size_t hash = disk.kind;
      for (const std::string_view text : {disk.source, disk.pool, disk.host}) {
        hash = hash * std::size_t{0x9e3779b97f4a7c15} + std::hash<std::string_view>()(text);
      }
      return hash;
    }
  };

  bool ConflictsWith(const berth_volume& volume) const;

  std::vector<const berth_volume*> few_;  // The disks, if they are few.
  // The disks otherwise, with whether all volumes of the pod that use the disk only read it.
  std::unordered_map<Disk, bool, Hash> many_;
};

}  // namespace restrictions

#endif  // BERTH_PLUGINS_VOLUME_RESTRICTIONS_CONFLICTS_H_
