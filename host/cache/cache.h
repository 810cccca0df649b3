// The cache: which pods are where, and how certain we are of it.
//
//        AssumePod             AddPod (the cluster confirms)
//   absent ------> assumed ---------------------------------> added
//     ^               |                                         |
//     |   ForgetPod   |                          RemovePod      |
//     +---------------+-----------------------------------------+
//     +----------------------- AddPod --------------------------> added
//
// (kube-scheduler: pkg/scheduler/backend/cache/cache.go)
#ifndef BERTH_HOST_CACHE_CACHE_H_
#define BERTH_HOST_CACHE_CACHE_H_

#include <cstdint>
#include <string_view>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cache/cache_observer.h"
#include "host/cache/node_table.h"

namespace berth::host {

// Owner of the node table. Every pod that has a node, or that we gave one, is here exactly once,
// by uid.
//
// Threading: the scheduling thread.
class Cache {
 public:
  explicit Cache(Interner& interner) : table_(interner) {}

  NodeTable& table() { return table_; }
  const NodeTable& table() const { return table_; }

  // Who is told of every change from now on; null: nobody. Lifetime: until another is set.
  void SetObserver(CacheObserver* observer) { observer_ = observer; }

  void SetNode(NodeRef node);
  // One that is not here is no error.
  void RemoveNode(std::string_view name);

  // We chose `row` for a pending pod: it counts there from now on.
  // Errors: AlreadyExists when the pod is here in any state.
  Status AssumePod(PodRef pod, Row row);
  // Takes an assumed pod back; one that is absent is no error.
  // Errors: Conflict when the cluster has confirmed the pod.
  Status ForgetPod(std::string_view uid);
  // The cluster says that the pod has a node. Its word wins over what was assumed: a pod that is
  // where we put it keeps its row, another one moves.
  // Errors: AlreadyExists when the cluster said so before; InvalidArgument without a node.
  Status AddPod(PodRef pod);
  // Errors: NotFound when the pod is absent or only assumed; Conflict when its node changed, which
  // no API server allows.
  Status UpdatePod(PodRef pod);
  // Errors: NotFound.
  Status RemovePod(std::string_view uid);

  bool IsAssumed(std::string_view uid) const;
  size_t pod_count() const { return pods_.size(); }
  size_t assumed_count() const { return assumed_count_; }
  // The row of a pod; kNoRow when it is absent.
  Row RowOf(std::string_view uid) const;
  // The pod as it is here, with its node; null when it is absent.
  PodRef PodOf(std::string_view uid) const;

 private:
  struct Place {
    PodRef pod;
    Row row = kNoRow;
    bool assumed = false;
  };

  void Put(PodRef pod, Row row, bool assumed);
  void Replace(Place& place, PodRef pod);
  void Drop(StringMap<Place>::iterator place, bool forgotten);

  NodeTable table_;
  CacheObserver* observer_ = nullptr;
  StringMap<Place> pods_;  // By uid.
  size_t assumed_count_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_CACHE_H_
