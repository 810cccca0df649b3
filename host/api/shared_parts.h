// Lets decoded objects share the memory of equal parts. Most pods of a cluster come from few
// templates, and most nodes from few machine types: they differ in their names, but not in their
// containers, tolerations or images.
#ifndef BERTH_HOST_API_SHARED_PARTS_H_
#define BERTH_HOST_API_SHARED_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"

namespace berth::host {

// Remembers decoded objects whose memory later objects may share.
//
// A pod shares the parts that scheduling reads from the template's spec if all of them are equal.
// Labels, annotations, owners, volumes and conditions are shared if they are equal, and copied
// otherwise. A node shares its images and declared features if both are equal, and then its
// allocatable and its capacity, each if it is equal; all else is copied.
//
// Whether parts of pods are equal is decided by their hashes, see berth_pod.part_hashes.
//
// Threading: one thread at a time. The objects may be used and dropped on any thread.
// Lifetime: an object keeps the one alive whose memory it shares, also after that one was deleted
// in the cluster. The object whose memory is shared shares none itself, so that no chain forms.
// Remembering an object does not keep it alive.
class SharedParts {
 public:
  // Returns a pod with this view and metadata that shares parts with a remembered pod; null if
  // there is none, and then the caller makes the pod from its own memory and passes it to Add().
  // REQUIRES: `hashes` are those of `view`; the caller holds the ids of the view.
  PodRef MakePod(const berth_pod& view, const berth_meta& meta, const PartHashes& hashes) const;
  NodeRef MakeNode(const berth_node& view, const berth_meta& meta) const;

  // Remembers an object, in place of another one that has the same place in the table.
  // REQUIRES: the object shares no memory.
  void Add(const PodRef& pod);
  void Add(const NodeRef& node);

 private:
  // The templates and machine types of a large cluster. If there are more, less is shared.
  static constexpr size_t kPods = 1024;
  static constexpr size_t kNodes = 256;

  static size_t PlaceOf(const PartHashes& hashes);
  static size_t PlaceOf(const berth_node& view);

  // Each has its full size, or none before the first Add().
  std::vector<std::weak_ptr<const Pod>> pods_;
  std::vector<std::weak_ptr<const Node>> nodes_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_SHARED_PARTS_H_
