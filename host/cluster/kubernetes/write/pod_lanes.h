// Keeps the requests for one pod in order.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_LANES_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_LANES_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "host/base/string_map.h"

namespace berth::host {

// One queue per pod that has requests. Only the first request of a pod is under way.
//
// Threading: one thread.
class PodLanes {
 public:
  // Starts the request. It must lead to one call of Finish() for the same pod, within the call or
  // later.
  using Start = std::function<void()>;

  // Starts the request when those of the same pod before it have finished, perhaps at once.
  void Add(std::string_view ns, std::string_view name, Start start);
  // Records that the request of the pod that is under way has finished, after its callback was
  // called, and starts the next one. REQUIRES: a request of the pod is under way.
  void Finish(std::string_view ns, std::string_view name);

  // Returns how many pods have requests.
  size_t pods() const { return lanes_.size(); }

 private:
  struct Lane {
    std::deque<Start> waiting;
    bool is_under_way = false;
    bool is_starting = false;  // StartNext() runs for this lane.
  };

  // Starts requests until one is under way, and removes the lane if none is left. It is not
  // recursive: a request that finishes within its start returns to the loop.
  void StartNext(const std::string& key, Lane& lane);

  StringMap<Lane> lanes_;  // By "namespace/name". Every lane has a request under way or waiting.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_POD_LANES_H_
