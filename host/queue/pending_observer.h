// The observer of the pods in the queue.
#ifndef BERTH_HOST_QUEUE_PENDING_OBSERVER_H_
#define BERTH_HOST_QUEUE_PENDING_OBSERVER_H_

#include <string_view>

#include "host/api/objects.h"

namespace berth::host {

// Threading: the scheduling thread.
// Must not:  change the queue.
class PendingObserver {
 public:
  virtual ~PendingObserver() = default;

  // Called: when a pod enters the queue or gets a new version there, also in flight, before
  //         PreEnqueue runs for it. It may be called again with the same version.
  virtual void OnQueued(const PodRef& pod) = 0;
  // Called: when a pod leaves the queue: it was deleted, was bound, or no profile is responsible
  //         for it any more. A pod in flight leaves the queue at once, although its attempt goes
  //         on.
  virtual void OnUnqueued(std::string_view uid) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_PENDING_OBSERVER_H_
