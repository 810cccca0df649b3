// Applies a stream of watch events to the embedded cluster.
#ifndef BERTH_HOST_PROCESS_REPLAY_STREAM_CLUSTER_H_
#define BERTH_HOST_PROCESS_REPLAY_STREAM_CLUSTER_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {

// Accepts a stream as a watch sends it: a change may come twice, ADDED may name an object that
// exists, MODIFIED one that does not, DELETED one that has been deleted already. What this
// scheduler decided is kept (see EmbeddedCluster::Put), because the source of the stream does not
// have it.
//
// An object in a resourceVersion that was seen before, or in an older one, changes nothing.
// Versions are compared as numbers if they are numbers (those of Kubernetes are, and they grow); an
// object without a version is always new. A pod that was deleted in this cluster is not created
// again by later events about it.
//
// Threading: the thread that owns the cluster.
// Lifetime:  the cluster must outlive it.
class StreamCluster {
 public:
  // The number of deleted objects that are recorded, so that a repeated event does not create them
  // again. The oldest records are removed first.
  static constexpr size_t kMaxDeleted = 100'000;

  explicit StreamCluster(EmbeddedCluster& cluster, size_t max_deleted = kMaxDeleted)
      : cluster_(cluster), max_deleted_(max_deleted) {}

  // Records that the object was added to the cluster in its resourceVersion.
  void NoteLoaded(const AnyObject& object);

  // Returns true if the event changed anything.
  // Errors: those of EmbeddedCluster::Put. Then nothing has changed.
  Result<bool> Apply(const StreamEvent& event);

 private:
  // The last event of the stream about an object.
  struct Seen {
    std::string version;
    std::string uid;
    bool is_deleted = false;
  };

  Result<bool> Put(StreamType type, const AnyObject& object);
  // Returns true if the event is about an object that was deleted in this cluster and still exists
  // in the source of the stream.
  bool WasDeletedHere(StreamType type, const AnyObject& object, const Seen& seen) const;
  bool Delete(const AnyObject& object);
  static void Record(const AnyObject& object, Seen& seen);
  void RememberDeleted(std::string key);

  EmbeddedCluster& cluster_;
  const size_t max_deleted_;
  StringMap<Seen> seen_;             // Keyed by kind, namespace and name.
  std::deque<std::string> deleted_;  // Keys in the order of the deletions. Some may exist again.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_STREAM_CLUSTER_H_
