// What is done about a pod that was not placed: back to the queue, an event, the pod's condition.
#ifndef BERTH_HOST_CYCLE_FAILURE_HANDLER_H_
#define BERTH_HOST_CYCLE_FAILURE_HANDLER_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/cluster/client.h"
#include "host/cycle/decision_sink.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// (kube-scheduler: pkg/scheduler/schedule_one.go, handleSchedulingFailure)
// Threading: the scheduling thread.
// Lifetime:  what it was made of must outlive it.
class FailureHandler {
 public:
  FailureHandler(SchedulingQueue& queue, Client& client, const Clock& clock, DecisionSink& sink)
      : queue_(queue),
        client_(client),
        clock_(clock),
        sink_(sink),
        unheard_(std::make_shared<Unheard>()) {}

  // In this order: the pod goes back to the queue, as the cluster last said it is; its nomination
  // is noted; the event; the condition PodScheduled and status.nominatedNodeName, where they
  // change since it was last told. A pod that was deleted or bound meanwhile is forgotten, and
  // nothing is said.
  // `node`: the node that it had been given; empty: none.
  // REQUIRES: the pod is in flight.
  void Handle(std::string_view uid, std::string_view node, const Failure& failure);
  // The same but for the first: the pod has gone back, with its group.
  void Tell(const PodRef& pod, std::string_view node, const Failure& failure);

 private:
  // The pods whose condition was not told: the client says so on a thread of its own, perhaps when
  // the handler is gone. They are told again when they fail again, whatever the reason.
  struct Unheard {
    std::mutex mutex;
    std::vector<std::string> uids;
  };

  void Nominate(const PodRef& pod, const Failure& failure);
  void PatchStatus(const PodRef& pod, const Failure& failure);
  Done NoteWhenUnheard(const Pod& pod) const;
  void ForgetUnheard();

  SchedulingQueue& queue_;
  Client& client_;
  const Clock& clock_;
  DecisionSink& sink_;
  std::shared_ptr<Unheard> unheard_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_FAILURE_HANDLER_H_
