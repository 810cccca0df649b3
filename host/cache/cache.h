// The cache: records which pods are on which nodes, and whether the cluster has confirmed it.
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

#include <string_view>

#include "host/api/objects.h"
#include "host/base/keyed_set.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"

namespace berth::host {

// --- cache observer ------------------------------------------------------------------------------
//
// The observer of every change of the cache.

// Methods are called in order, after the change; OnPodRemoved and OnNodeRemoved are called before
// it. So the pod or node of a call (for a change, the new object) is in the table during the call.
// References live until the call returns, and the objects as long as they are in the cache.
// Threading: the scheduling thread.
// Must not:  change the cache.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  // `assumed`: this scheduler assumed the pod, and the cluster has not confirmed it yet.
  virtual void OnPodAdded(Row row, const PodRef& pod, bool assumed) = 0;
  // Also called when the cluster confirms an assumed pod on its row.
  virtual void OnPodChanged(Row row, const PodRef& old, const PodRef& pod) = 0;
  // `forgotten`: an assumed pod was removed by ForgetPod().
  virtual void OnPodRemoved(Row row, const PodRef& pod, bool forgotten) = 0;
  virtual void OnNodeAdded(Row row, const NodeRef& node) = 0;
  virtual void OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) = 0;
  virtual void OnNodeRemoved(Row row, const NodeRef& node) = 0;
};

// --- cache ---------------------------------------------------------------------------------------

// Owns the node table. Every pod that has a node, or that this scheduler assumed on one, is in the
// cache exactly once, by uid.
//
// Threading: the scheduling thread.
class Cache {
 public:
  // `objects`: see NodeTable.
  explicit Cache(Interner& interner, ObjectStore* objects = nullptr) : table_(interner, objects) {}

  NodeTable& table() { return table_; }
  const NodeTable& table() const { return table_; }

  // Sets the observer of every change from now on; null for none. Lifetime: until another observer
  // is set.
  void SetObserver(CacheObserver* observer) { observer_ = observer; }

  // Adds the node, or replaces the node object of that name.
  void SetNode(NodeRef node);
  // Removes the node. Does nothing if the node is not in the cache.
  void RemoveNode(std::string_view name);

  // Assumes a pending pod on `row`, for which this scheduler chose it: the pod counts there from
  // now on.
  // Errors: AlreadyExists when the pod is in the cache in any state.
  Status AssumePod(PodRef pod, Row row);
  // Removes an assumed pod. Does nothing if the pod is not in the cache.
  // Errors: Conflict when the cluster has confirmed the pod.
  Status ForgetPod(std::string_view uid);
  // Adds a pod that has a node according to the cluster, which takes precedence over an assumption:
  // a pod that was assumed on that node keeps its row, and one that was assumed elsewhere moves.
  // Errors: AlreadyExists when the pod was added before; InvalidArgument when it has no node.
  Status AddPod(PodRef pod);
  // Replaces the object of an added pod.
  // Errors: NotFound when the pod is absent or only assumed; Conflict when its node changed, which
  // no API server allows.
  Status UpdatePod(PodRef pod);
  // Removes an added or assumed pod. Errors: NotFound when the pod is absent.
  Status RemovePod(std::string_view uid);

  bool IsAssumed(std::string_view uid) const;
  size_t pod_count() const { return pods_.size(); }
  size_t assumed_count() const { return assumed_count_; }
  // Returns the row of a pod; kNoRow when the pod is absent.
  Row RowOf(std::string_view uid) const;
  // Returns the pod object in the cache, which names its node; null when the pod is absent.
  PodRef PodOf(std::string_view uid) const;

 private:
  struct CachedPod {
    PodRef pod;
    Row row = kNoRow;
    bool assumed = false;
  };
  struct UidOf {
    std::string_view operator()(const CachedPod& cached) const { return cached.pod->uid(); }
  };

  void Insert(PodRef pod, Row row, bool assumed);
  void Replace(CachedPod& cached, PodRef pod);
  void Erase(const CachedPod& cached, bool forgotten);

  NodeTable table_;
  CacheObserver* observer_ = nullptr;
  KeyedSet<CachedPod, UidOf> pods_;
  size_t assumed_count_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_CACHE_H_
