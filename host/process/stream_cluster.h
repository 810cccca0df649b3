// A stream of watch events on its way into the embedded cluster.
#ifndef BERTH_HOST_PROCESS_STREAM_CLUSTER_H_
#define BERTH_HOST_PROCESS_STREAM_CLUSTER_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/stream_event.h"

namespace berth::host {

// Takes a stream as a watch would send it: a change may come twice, ADDED may mean what is there
// already, MODIFIED what is not, DELETED what has gone. What was decided here stays (see
// EmbeddedCluster::Put), since whoever recorded the stream did not know of it.
//
// An object in a version that was seen before, or in an older one, changes nothing. Versions are
// compared as numbers where they are numbers (Kubernetes' are, and grow); an object without one is
// always new. A pod that was deleted here has gone for good: the stream may go on about it.
//
// Threading: the owner's thread of the cluster.
// Lifetime:  the cluster must outlive it.
class StreamCluster {
 public:
  // How many objects that have gone are remembered, so that a late repetition does not bring them
  // back. The oldest are forgotten first.
  static constexpr size_t kMaxGone = 100'000;

  explicit StreamCluster(EmbeddedCluster& cluster, size_t max_gone = kMaxGone)
      : cluster_(cluster), max_gone_(max_gone) {}

  // The object is in the cluster, in the version that it says.
  void NoteLoaded(const AnyObject& object);

  // Returns: whether anything has changed; the errors of EmbeddedCluster::Put, then nothing has.
  Result<bool> Apply(const StreamEvent& event);

 private:
  // What the stream said last of an object.
  struct Seen {
    std::string version;
    std::string uid;
    bool is_gone = false;
  };

  Result<bool> Put(StreamType type, const AnyObject& object);
  // Whether what the stream says of the object is of one that went here and not there.
  bool WentHere(StreamType type, const AnyObject& object, const Seen& seen) const;
  bool Delete(const AnyObject& object);
  void Note(const AnyObject& object, Seen& seen);
  void NoteGone(std::string key);

  EmbeddedCluster& cluster_;
  const size_t max_gone_;
  StringMap<Seen> seen_;          // By kind, namespace and name.
  std::deque<std::string> gone_;  // Keys in the order in which they went; some are back.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_STREAM_CLUSTER_H_
