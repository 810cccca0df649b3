// A bad line to a good cluster: what lies between a scheduler and its API server, with the faults
// that the contract of cluster::Client allows, by the dice.
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
#include "tests/simulation/dice.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Nothing set: a good line.
struct Faults {
  // Of watch events.
  uint32_t late_percent = 0;  // Each waits for up to max_late_ns, and those of its kind behind it.
  int64_t max_late_ns = 0;
  uint32_t doubled_percent = 0;  // Told once more, unchanged, as after a relist.
  uint32_t gap_percent = 0;  // Behind it the watch is lost, and listed anew after up to max_gap_ns.
  int64_t max_gap_ns = 0;
  // Of requests for pods.
  uint32_t refused_percent = 0;  // Not carried out: Unavailable, or Conflict.
  uint32_t slow_percent = 0;     // Carried out late.
  uint32_t lost_percent = 0;  // Carried out or not, and answered late: by what the pod looks like.
  int64_t max_slow_ns = 0;
};

// Who is told what passes. Called before the scheduler hears of it.
class LineObserver {
 public:
  virtual ~LineObserver() = default;

  virtual void OnTold(const WatchEvent& event) = 0;
  virtual void OnBindAsked(const PodName& pod, std::string_view node) = 0;
  // What the cluster made of it.
  virtual void OnBindCarriedOut(const PodName& pod, std::string_view node,
                                const Status& status) = 0;
  virtual void OnBindAnswered(const PodName& pod, const Status& status) = 0;
};

// Nothing happens by itself: the owner of the clock calls HappenOne() until nothing is due, and
// moves the clock to NextNs(). Events of one kind keep their order; answers for one pod too; all
// else that is due comes in any order. Leases and Request() pass untouched, but for the moment of
// their answer.
//
// Threading: the owner's thread.
// Lifetime:  what it was made of outlives it.
class FaultyClient final : public Client {
 public:
  FaultyClient(EmbeddedCluster& cluster, const Clock& clock, Dice dice, LineObserver& observer,
               Trace& trace);
  ~FaultyClient() override;
  FaultyClient(const FaultyClient&) = delete;
  FaultyClient& operator=(const FaultyClient&) = delete;

  // Of what begins from now on.
  void SetFaults(const Faults& faults) { faults_ = faults; }

  // Lets one thing happen that is due: hands out an answer or some events, lets a request reach the
  // cluster, ends a gap. False: nothing is due.
  bool HappenOne();
  // When the next thing is due; none: nothing is under way. REQUIRES: HappenOne() has just said
  // false.
  std::optional<int64_t> NextNs() const;

  // ---- Client -----------------------------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, Done done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch, Done done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds, Done done) override;
  void CreateEvent(Event event, Done done) override;
  void GetLease(std::string_view ns, std::string_view name, Answer<Lease> answer) override;
  void CreateLease(const Lease& lease, Answer<Lease> answer) override;
  void UpdateLease(const Lease& lease, Answer<Lease> answer) override;
  void Request(ApiRequest request, Answer<std::string> answer) override;
  // As when the process ends: of requests that are under way some still reach the cluster.
  void Stop() override;

 private:
  class Pipe;
  class PipeEnd;

  // A request for a pod, from the call to its answer.
  struct Order {
    uint64_t number = 0;
    std::string ns, name, uid;
    std::string node;                                        // Of a binding; otherwise empty.
    std::function<void(const PodName& pod, Done done)> ask;  // Asks the cluster.
    Done done;
    bool arrives = true;      // False: it never reaches the cluster.
    bool is_answered = true;  // False: the answer never reaches us.
    Status refusal = Status::Unavailable("the line was cut");
    std::optional<Status> outcome;  // Set when the cluster has spoken.

    PodName pod() const { return {ns, name, uid}; }
  };
  using OrderRef = std::shared_ptr<Order>;
  struct PodLine {
    int64_t carried_out_ns = 0;
    int64_t answered_ns = 0;
  };

  void At(int64_t at_ns, std::function<void()> happen);
  void Begin(const PodName& pod, OrderRef order);
  void CarryOut(const OrderRef& order);
  void OnOutcome(const OrderRef& order, Status status);
  void Reply(const OrderRef& order);
  Status ReadBack(const Order& order) const;

  EmbeddedCluster& cluster_;
  const Clock& clock_;
  Dice dice_;
  LineObserver& observer_;
  Trace& trace_;
  Faults faults_;
  bool stopped_ = false;

  uint64_t last_number_ = 0;
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> agenda_;  // By time and number.
  std::map<uint64_t, OrderRef> orders_;                                   // By number.
  std::map<std::string, PodLine, std::less<>> lines_;                     // By namespace and name.
  std::map<uint64_t, Pipe*> pipes_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_FAULTY_CLIENT_H_
