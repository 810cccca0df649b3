// Lets decoded objects share the memory of equal parts. Most pods of a cluster come from few
// templates, and most nodes from few machine types: they differ in their names, but not in their
// containers, tolerations or images.
#ifndef BERTH_HOST_API_SHARED_PARTS_H_
#define BERTH_HOST_API_SHARED_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"

namespace berth::host {

// Remembers decoded objects whose memory later objects may share.
//
// Pods that are equal in all parts from BERTH_OWN_PARTS on are of one kind. A pod of a kind that is
// new shares what it can with another pod of its template: the parts that scheduling reads from the
// template's spec, which must be equal, and each other part that is equal. All else is copied. The
// second pod of the kind, which has another uid, shares nothing, and all later ones share the parts
// and their hashes with it. A kind whose first pod is also the first of its template needs no
// second one for that.
//
// A node shares its images and declared features if both are equal, and then its allocatable and
// its capacity, each if it is equal; all else is copied.
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
  PodRef MakePod(const berth_pod& view, const berth_meta& meta, const PartHashes& hashes);
  NodeRef MakeNode(const berth_node& view, const berth_meta& meta) const;

  // Remembers an object, in place of another one that has the same place in the table.
  // REQUIRES: the object shares no memory.
  void Add(const PodRef& pod);
  void Add(const NodeRef& node);

 private:
  // The templates and machine types of a large cluster. If there are more, less is shared.
  static constexpr size_t kPods = 1024;
  static constexpr size_t kNodes = 256;

  struct Kind {
    uint64_t hash = 0;                  // The hash of the parts that are equal.
    uint64_t uid_hash = 0;              // The hash of the uid of the first pod.
    std::weak_ptr<const Pod> pod = {};  // The pod that later ones share memory with, if any.
  };

  static size_t PlaceOf(const berth_node& view);
  // Returns the pod to share parts with; null if there is none.
  PodRef SourceFor(std::string_view uid, const PartHashes& hashes);

  // Each has its full size, or none before the first Add().
  std::vector<std::weak_ptr<const Pod>> pods_;  // By the hash of the template's parts.
  std::vector<Kind> kinds_;                     // By their hash.
  std::vector<std::weak_ptr<const Node>> nodes_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_SHARED_PARTS_H_
