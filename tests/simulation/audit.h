// Checks the scheduler's invariants: no pod is lost, no pod is in two places or bound twice, and
// the scheduler overcommits no node.
#ifndef BERTH_TESTS_SIMULATION_AUDIT_H_
#define BERTH_TESTS_SIMULATION_AUDIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/simulation/faulty_client.h"
#include "tests/simulation/reservations.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Observes the events that the scheduler receives and its decisions, and derives where each pod
// must be. Only the first finding is kept, because later ones may be its consequences.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the audit.
class Audit final : public ClientObserver, public DecisionSink {
 public:
  Audit(const Scenario& scenario, EmbeddedCluster& cluster, const Clock& clock, Trace& trace);

  // Sets the scheduler to check, which has received no events yet. `loop` is null while no
  // scheduler runs.
  void SetLoop(SchedulingLoop* loop);
  // Checks a log message of the scheduler or a plugin. `plugin` is empty for the scheduler.
  void OnLog(uint32_t level, std::string_view plugin, std::string_view message);

  // ---- Checks -----------------------------------------------------------------------------------

  // Checks that every pod that was delivered to the scheduler is in exactly the place where it must
  // be, and that the scheduler has no other pods. Holds between any two steps.
  void CheckPlaces();
  // Checks that no node of the cluster is overcommitted. Does nothing if other schedulers place
  // pods.
  void CheckRoom();
  // Checks that the cache equals the cluster and that nothing is assumed or reserved.
  // REQUIRES: all events are delivered, and no request or binding is in flight.
  void CheckRest();
  // Checks that the cache and the results of Filter equal those of `fresh`, a scheduler that has
  // just received the state of the cluster. REQUIRES: as for CheckRest().
  void CompareWithFresh(SchedulingLoop& fresh);
  // Checks that no pod is parked or gated although `fresh` has a node for it and PreEnqueue accepts
  // it. Leaves out pods that a plugin in `unannounced` has rejected. `when` is a part of the
  // finding.
  // REQUIRES: as for CheckRest().
  using PluginNames = std::set<std::string, std::less<>>;
  void CheckParked(const char* when, SchedulingLoop& fresh, const PluginNames& unannounced);
  // Checks that the plugins hold no reservation.
  void CheckReservations();

  // Records `finding` if it is the first one.
  void AddFinding(std::string finding);
  // Returns the first finding, or an empty string.
  const std::string& finding() const { return finding_; }

  // ---- ClientObserver ---------------------------------------------------------------------------

  void OnDelivered(const WatchEvent& event) override;
  void OnBindRequested(const PodName& pod, std::string_view node) override;
  void OnBindExecuted(const PodName& pod, std::string_view node, const Status& status) override;
  void OnBindCompleted(const PodName& pod, const Status& status) override;

  // ---- DecisionSink -----------------------------------------------------------------------------

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;

  struct Counts {
    uint64_t assumed = 0, bound = 0, failed = 0, skipped = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  bool IsOurs(const Pod& pod) const;
  void CheckRoomOn(std::string_view node);
  void CheckDeliveredPod(const Pod& pod);
  void CheckPending(const Pod& pod);
  void CheckQueued(const QueuedEntity& entity);
  void CheckQueuedPod(const QueuedEntity& entity, const Pod& pod);
  void CheckCache();
  void CheckCachedPod(Row row, const Pod& pod);
  void CheckNodes();
  void CheckSums(std::string_view node, Row row);
  bool IsCheckedWhileParked(const QueuedEntity& entity, const PluginNames& unannounced) const;
  std::set<std::string> NodesFor(SchedulingLoop& loop, const PodRef& pod);
  void CompareColumn(ColumnIndex column, const ColumnSpec& spec, SchedulingLoop& fresh);

  const Scenario& scenario_;
  EmbeddedCluster& cluster_;
  const Clock& clock_;
  Trace& trace_;
  SchedulingLoop* loop_ = nullptr;
  std::string finding_;
  Counts counts_;
  uint64_t audits_ = 0;

  // The objects that the scheduler has received and that were not deleted, by uid and by name.
  std::map<std::string, PodRef, std::less<>> delivered_pods_;
  std::map<std::string, NodeRef, std::less<>> delivered_nodes_;

  std::set<std::string, std::less<>> open_binds_;          // Uids with an unanswered bind request.
  std::map<std::string, std::string, std::less<>> bound_;  // Nodes by uid, bound in the cluster.
  std::set<std::string, std::less<>> reported_bound_;      // Uids that the scheduler reported.
  Reservations reservations_;
};

// Returns whether PreEnqueue rejects the pod, because of a scheduling gate or the label of a chaos
// plugin.
bool IsRejectedByPreEnqueue(const Pod& pod);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_AUDIT_H_
