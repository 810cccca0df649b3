// The requests of plugins to the scheduler, through the services of <berth/abi.h>. The scheduling
// loop implements the interface.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SCHEDULER_REQUESTS_H_
#define BERTH_HOST_RUNTIME_SERVICES_SCHEDULER_REQUESTS_H_

#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/cluster/client.h"
#include "host/queue/nominator.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Threading: the scheduling thread. Requests that change the queue or bindings are recorded and
//            carried out between cycles, because plugins make them during a cycle.
class SchedulerRequests {
 public:
  virtual ~SchedulerRequests() = default;

  // Returns the row of a node; kNoRow if there is no such node.
  virtual Row FindNode(std::string_view name) const = 0;

  virtual const Nominator& nominator() const = 0;
  // Clears the pod's nomination, here and in its status. Returns false if it has none.
  virtual bool ClearNomination(std::string_view uid) = 0;

  virtual void Activate(std::string_view uid) = 0;

  // Returns the pods that wait on Permit for the plugin, without those that were already rejected.
  virtual std::vector<PodRef> Waiting(PluginId plugin) const = 0;
  // Returns false if the pod does not wait for the plugin.
  virtual bool Allow(std::string_view uid, PluginId plugin) = 0;
  // Returns false if the pod does not wait.
  virtual bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) = 0;

  // Evicts a pod: see berth_api.evict. `pod` has a uid; its texts must live until the call returns.
  // Errors: those of DecisionWriter::DeletePod, except that a pod that does not exist is a success.
  virtual void Evict(const PodName& pod, std::string_view message, StatusCallback done) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SCHEDULER_REQUESTS_H_
