// The Events (events.k8s.io/v1) of an embedded cluster.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STORED_EVENTS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STORED_EVENTS_H_

#include <cstddef>
#include <deque>

#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/resource_versions.h"

namespace berth::host {

// Stores a limited number of events. The oldest events are removed first.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  `versions` and `clock` must outlive this object.
class StoredEvents {
 public:
  StoredEvents(size_t max_events, ResourceVersions& versions, const Clock& clock)
      : max_events_(max_events), versions_(versions), clock_(clock) {}
  StoredEvents(const StoredEvents&) = delete;
  StoredEvents& operator=(const StoredEvents&) = delete;

  // Adds an event. Sets its eventTime if it has none.
  // Errors: kInvalidArgument for an event that an API server rejects.
  Status Add(Event event);
  // Returns the stored events, the oldest first.
  const std::deque<Event>& events() const { return events_; }

 private:
  const size_t max_events_;
  ResourceVersions& versions_;
  const Clock& clock_;
  std::deque<Event> events_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STORED_EVENTS_H_
