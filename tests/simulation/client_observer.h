// Observes what passes between a scheduler and its client.
#ifndef BERTH_TESTS_SIMULATION_CLIENT_OBSERVER_H_
#define BERTH_TESTS_SIMULATION_CLIENT_OBSERVER_H_

#include <string_view>

#include "host/base/status.h"
#include "host/cluster/client.h"

namespace berth::host {

// Observes events and bind requests. Called before the scheduler receives the event or answer.
class ClientObserver {
 public:
  virtual ~ClientObserver() = default;

  virtual void OnDelivered(const WatchEvent& event) = 0;
  virtual void OnBindRequested(const PodName& pod, std::string_view node) = 0;
  // Called when the cluster has executed the request. `status` is the cluster's result.
  virtual void OnBindExecuted(const PodName& pod, std::string_view node, const Status& status) = 0;
  virtual void OnBindCompleted(const PodName& pod, const Status& status) = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_CLIENT_OBSERVER_H_
