// The objects that the services of all plugin instances use.
#ifndef BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_

#include "host/base/interner.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/plan/instance_context.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/scheduler_requests.h"

namespace berth::host {

// The context of every instance whose services are those of this folder. Owned by the process and
// shared by all instances. The services that need a null pointer are not served.
// Lifetime: see InstanceContext.
struct HostServices : InstanceContext {
  HostServices(Interner& the_interner, ObjectStore& the_objects);

  ObjectStore& objects;
  // Passes requests that plugins make on their own threads, and the client's answers, to the
  // scheduling thread. If null, both are processed on the thread on which they arrive.
  Inbox* inbox = nullptr;
  // berth.nodes/1, berth.nominator/1, berth.activate/1, berth.waiting/1, berth.whatif/1; evictions.
  SchedulerRequests* scheduler = nullptr;
  // berth.api/1.
  DecisionWriter* client = nullptr;
  // berth.timer/1, which also needs the inbox and the clock, and the time limits of requests.
  TimerQueue* timers = nullptr;
  // berth.metrics/1.
  MetricStore* metrics = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_
