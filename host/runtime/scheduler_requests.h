// What plugins may ask of the scheduler through the services of <berth/abi.h>. The scheduling loop
// answers.
#ifndef BERTH_HOST_RUNTIME_SCHEDULER_REQUESTS_H_
#define BERTH_HOST_RUNTIME_SCHEDULER_REQUESTS_H_

#include <functional>
#include <memory>
#include <string_view>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/queue/nominator.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Threading: the scheduling thread. What changes queue or bindings is put down and carried out
//            between cycles, never within the call: plugins ask in the middle of one.
class SchedulerRequests {
 public:
  virtual ~SchedulerRequests() = default;

  virtual const Nominator& nominator() const = 0;
  // Here and in the pod's status. False: it has none.
  virtual bool ClearNomination(std::string_view uid) = 0;

  virtual void Activate(std::string_view uid) = 0;

  // Until `each` returns false. Pods that somebody has already rejected or allowed altogether are
  // not among them.
  virtual void EachWaiting(const std::function<bool(const Pod& pod)>& each) const = 0;
  // False: it does not wait.
  virtual bool Allow(std::string_view uid, PluginId plugin) = 0;
  virtual bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) = 0;

  // Makes room: see berth_api.evict. `pod` has a uid; its texts need to live until the call
  // returns. Errors of the API server as Client::DeletePod gives them, but for one that is gone:
  // success.
  virtual void Evict(const PodName& pod, std::string_view message, Done done) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SCHEDULER_REQUESTS_H_
