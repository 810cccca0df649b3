// The observer of every change of the cache.
#ifndef BERTH_HOST_CACHE_CACHE_OBSERVER_H_
#define BERTH_HOST_CACHE_CACHE_OBSERVER_H_

#include "host/api/objects.h"
#include "host/cache/node_table.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_CACHE_OBSERVER_H_
