// Who is told of every change of the cache.
#ifndef BERTH_HOST_CACHE_CACHE_OBSERVER_H_
#define BERTH_HOST_CACHE_CACHE_OBSERVER_H_

#include "host/api/objects.h"
#include "host/cache/node_table.h"

namespace berth::host {

// Called after the change, in order, except for removals, where the row is still as it was; so that
// what is shown is in the table while it is shown. References live until the call returns; the
// objects as long as they are in the cache.
// Threading: the scheduling thread.
// Must not:  change the cache.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  // `assumed`: we placed it, the cluster has not said so yet.
  virtual void OnPodAdded(Row row, const PodRef& pod, bool assumed) = 0;
  // Also when the cluster confirms an assumed pod where it is.
  virtual void OnPodChanged(Row row, const PodRef& old, const PodRef& pod) = 0;
  // `forgotten`: we took an assumed pod back.
  virtual void OnPodRemoved(Row row, const PodRef& pod, bool forgotten) = 0;
  virtual void OnNodeAdded(Row row, const NodeRef& node) = 0;
  virtual void OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) = 0;
  virtual void OnNodeRemoved(Row row, const NodeRef& node) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_CACHE_OBSERVER_H_
