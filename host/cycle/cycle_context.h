// The state of a scheduler that its scheduling and binding cycles share.
#ifndef BERTH_HOST_CYCLE_CYCLE_CONTEXT_H_
#define BERTH_HOST_CYCLE_CYCLE_CONTEXT_H_

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cache/cache.h"
#include "host/cluster/client.h"
#include "host/event/event_router.h"
#include "host/event/timer_queue.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/reuse/reused_evaluation.h"

namespace berth::host {

class CycleMeter;
class DecisionSink;
class FailureHandler;
class WaitingPods;

// References to objects that outlive every cycle. SchedulingLoop owns most of them.
struct CycleContext {
  Interner& interner;
  ObjectSource& source;    // The source of the watches.
  DecisionWriter& writer;  // Where bindings, events and patches go.
  const Clock& clock;
  TimerQueue& timers;
  const AsyncCalls& calls;      // How PreBind and Bind are called.
  DecisionSink& sink;           // Observes decisions.
  Cache& cache;                 // Nodes and the pods on them, assumed pods included.
  SchedulingQueue& queue;       // Pods without a node.
  EventRouter& router;          // Applies events of the cluster to queue and cache.
  FailureHandler& failures;     // Requeues and reports pods that got no node.
  WaitingPods& waiting_pods;    // Pods that wait on Permit or are being bound.
  CycleMeter* meter = nullptr;  // Observes attempts. May be null.
  ReuseOptions reuse = {};      // How answers of plugins are reused.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_CYCLE_CONTEXT_H_
