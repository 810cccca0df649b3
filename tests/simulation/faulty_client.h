// A client that injects random faults between a scheduler and an embedded cluster. It only
// injects faults that the contracts of ObjectSource and DecisionWriter allow.
#ifndef BERTH_TESTS_SIMULATION_FAULTY_CLIENT_H_
#define BERTH_TESTS_SIMULATION_FAULTY_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/forwarding_client.h"
#include "tests/simulation/client_observer.h"
#include "tests/simulation/random.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// The probabilities of faults. By default there are none.
struct Faults {
  // A watch event and all later events of its kind are delayed by up to max_late_ns.
  uint32_t late_percent = 0;
  int64_t max_late_ns = 0;
  // A watch event is delivered twice, as after a relist.
  uint32_t duplicate_percent = 0;
  // The watch is lost after an event. The client relists within max_gap_ns.
  uint32_t gap_percent = 0;
  int64_t max_gap_ns = 0;
  // A request for a pod is not executed and fails with Unavailable or Conflict.
  uint32_t fail_percent = 0;
  // A request for a pod is executed up to max_slow_ns late.
  uint32_t slow_percent = 0;
  // A request for a pod is executed or not, and its answer is lost. After up to max_slow_ns, a bind
  // request is answered from the state of the pod, and any other request with Unavailable.
  uint32_t lost_percent = 0;
  int64_t max_slow_ns = 0;
};

// The client has no thread or timer of its own: the owner of the clock calls RunOne() until nothing
// is due, and advances the clock to NextNs(). Events of one kind keep their order, and so do
// answers for one pod. Everything else that is due happens in random order. Requests that
// are not for a pod (CreateEvent, Request) are passed on without faults.
//
// Threading: the owner's thread.
// Lifetime:  the arguments of the constructor must outlive the client.
class FaultyClient final : public ForwardingClient {
 public:
  FaultyClient(EmbeddedCluster& cluster, const Clock& clock, Random random,
               ClientObserver& observer, Trace& trace);
  ~FaultyClient() override;
  FaultyClient(const FaultyClient&) = delete;
  FaultyClient& operator=(const FaultyClient&) = delete;

  // Sets the faults of later events and requests.
  void SetFaults(const Faults& faults) { faults_ = faults; }

  // Executes one action that is due: delivers an answer or some events, executes a request, or ends
  // a gap. Returns false if nothing is due.
  bool RunOne();
  // Returns when the next action is due, or nullopt if nothing is in flight.
  // REQUIRES: the last call of RunOne() returned false.
  std::optional<int64_t> NextNs() const;

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  // Simulates the end of the process. Some requests in flight still reach the cluster.
  void Stop();

 private:
  class WatchStream;
  class WatchHandle;

  // A request for a pod, from the call to its answer.
  struct PodRequest {
    uint64_t number = 0;
    std::string ns, name, uid;
    std::string node;  // Empty if it is no bind request.
    std::function<void(const PodName& pod, StatusCallback done)> send;  // Calls the cluster.
    StatusCallback done;
    bool reaches_cluster = true;
    bool has_answer = true;  // False if the answer of the cluster is lost.
    Status failure = Status::Unavailable("the connection was lost");  // If !reaches_cluster.
    std::optional<Status> outcome;                                    // Set when it is known.

    PodName pod() const { return {ns, name, uid}; }
  };
  using PodRequestRef = std::shared_ptr<PodRequest>;
  struct PodTimes {
    int64_t executed_ns = 0;
    int64_t completed_ns = 0;
  };

  Client target() override { return cluster_; }
  void Schedule(int64_t at_ns, std::function<void()> callback);
  void StartRequest(const PodName& pod, PodRequestRef request);
  void Execute(const PodRequestRef& request);
  void OnOutcome(const PodRequestRef& request, Status status);
  void Complete(const PodRequestRef& request);
  Status ReadBack(const PodRequest& request) const;

  EmbeddedCluster& cluster_;
  const Clock& clock_;
  Random random_;
  ClientObserver& observer_;
  Trace& trace_;
  Faults faults_;
  bool stopped_ = false;

  uint64_t last_number_ = 0;
  // Keyed by time and number.
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> timers_;
  std::map<uint64_t, PodRequestRef> requests_;              // Keyed by number.
  std::map<std::string, PodTimes, std::less<>> pod_times_;  // Keyed by namespace and name.
  std::map<uint64_t, WatchStream*> streams_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_FAULTY_CLIENT_H_
