// The parts of a scheduler that its cycles work on.
#ifndef BERTH_HOST_CYCLE_SCHEDULER_PARTS_H_
#define BERTH_HOST_CYCLE_SCHEDULER_PARTS_H_

#include "host/base/interner.h"
#include "host/cache/cache.h"
#include "host/cluster/client.h"
#include "host/event/event_router.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/reuse/class_cache.h"

namespace berth::host {

class CycleMeter;
class DecisionSink;
class FailureHandler;
class WaitingPods;

// References to the parts. SchedulingLoop owns most of them and outlives every cycle.
struct SchedulerParts {
  Interner& interner;
  ObjectSource& source;         // The source of the watches.
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

#endif  // BERTH_HOST_CYCLE_SCHEDULER_PARTS_H_
