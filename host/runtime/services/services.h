// The services of <berth/abi.h>, in one table. Each service_<subject>.cc implements some services:
// their functions, and the states that they keep for each plugin instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/http/http_client.h"
#include "host/plan/instance_context.h"
#include "host/plan/instance_host.h"
#include "host/queue/nominator.h"
#include "host/queue/queue_policy.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/object_needs.h"
#include "host/runtime/services/plugin_work.h"

namespace berth::host {

// How many posts, holds, open requests, waiting events and timers of one instance there may be, of
// each. A plugin that adds them faster than the scheduling thread handles them would otherwise fill
// the memory. <berth/abi.h> states the number.
inline constexpr size_t kMaxWaitingWork = 65'536;

// The requests of plugins to the scheduler, through the services of <berth/abi.h>. The scheduling
// loop implements the interface.
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

  // Receives the result of an eviction. `in_memory`: the pod had a place only in the memory of this
  // scheduler, and nothing was sent to the cluster.
  using EvictionCallback = std::function<void(const Status& status, bool in_memory)>;
  // Evicts a pod: see berth_api.evict. `pod` has a uid; its texts must live until the call returns.
  // Errors: those of DecisionWriter::DeletePod, except that a pod that does not exist is a success.
  virtual void Evict(const PodName& pod, std::string_view message, EvictionCallback done) = 0;
};

// The objects that instances of one library share; see service_shared.cc.
class SharedObjects;
std::shared_ptr<SharedObjects> NewSharedObjects();

// The context of every instance whose services are those of this folder. Owned by the process and
// shared by all instances. The services that need a null pointer are not served.
// Lifetime: see InstanceContext.
struct HostServices : InstanceContext {
  HostServices(Interner& the_interner, ObjectStore& the_objects);

  ObjectStore& objects;
  // Receives what berth.objects/1 looks up for plugins. May be null.
  ObjectNeeds* needs = nullptr;
  // Passes requests that plugins make on their own threads, and the client's answers, to the
  // scheduling thread. If null, both are processed on the thread on which they arrive.
  Inbox* inbox = nullptr;
  // berth.nodes/1, berth.nominator/1, berth.activate/1, berth.waiting/1, berth.whatif/1; evictions.
  SchedulerRequests* scheduler = nullptr;
  // berth.api/1.
  DecisionWriter* client = nullptr;
  // berth.timer/1, which also needs the inbox, the clock and `work`, and the time limits of
  // requests.
  TimerQueue* timers = nullptr;
  // Receives what berth.timer/1 reports about timers and threads.
  PluginWork* work = nullptr;
  // berth.metrics/1.
  MetricStore* metrics = nullptr;
  std::shared_ptr<SharedObjects> shared;  // What berth.shared/1 keeps.
  // berth.http/1, which also needs the inbox and `work`.
  HttpClient* http = nullptr;
};

// The services that have a state, in the order of the table: indices for InstanceHost::state().
// InstanceHost calls the states in this order: metrics begin before objects reach their watchers.
enum class ServiceIndex : uint8_t {
  kStrings,
  kRefs,
  kValues,
  kSelectors,
  kLog,
  kMetrics,
  kObjects,
  kTimer,
  kWhatIf,
  kApi,
  kShared,
  kHttp,
};

// Returns every service.
std::span<const ServiceInfo> Services();

// The parts of the table, in its order.
std::span<const ServiceInfo> DataServices();       // strings, refs, values, selectors
std::span<const ServiceInfo> TelemetryServices();  // log, metrics
std::span<const ServiceInfo> CallbackServices();   // objects, timer
// columns, nodes, random, whatif, nominator, activate, waiting
std::span<const ServiceInfo> SchedulerServices();
std::span<const ServiceInfo> ApiServices();     // completion, api
std::span<const ServiceInfo> SharedServices();  // shared
std::span<const ServiceInfo> HttpServices();    // http

// For tests: the numbers of what an instance has not released, or waits for.
size_t ParsedValueCount(const InstanceHost& host);
size_t ParsedSelectorCount(const InstanceHost& host);
size_t OpenRequestCount(const InstanceHost& host);

// Returns the objects that the services of an instance use. REQUIRES: the host is not retired.
inline HostServices& ServicesOf(const InstanceHost& host) {
  return static_cast<HostServices&>(host.context());
}

// Returns the state of a service, State::kService. CreateState<State> creates it.
// REQUIRES: see InstanceHost::state().
template <class State>
State& StateOf(const InstanceHost& host) {
  return static_cast<State&>(host.state(static_cast<size_t>(State::kService)));
}
template <class State>
std::shared_ptr<ServiceState> CreateState(InstanceHost& host) {
  return std::make_shared<State>(host);
}

// Returns whether the services that ask the scheduler are served.
bool HasScheduler(const InstanceHost& host);

// Returns whether `cycle`, which a plugin passes to a service, is the one that was passed to the
// call in progress. `cycle` may be any pointer.
bool IsCurrent(const InstanceHost& host, const berth_cycle* cycle);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICES_H_
