// Holds the scheduler to its promise: nothing lost, nothing twice, no node overcommitted by us.
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

// Sees what the scheduler was told and what it does, and works out by itself where each pod must
// be. The first finding counts: what comes after it may be its consequence.
//
// Threading: one thread.
// Lifetime:  what it was made of outlives it.
class Audit final : public LineObserver, public DecisionSink {
 public:
  Audit(const Scenario& scenario, EmbeddedCluster& cluster, const Clock& clock, Trace& trace);

  // Another scheduler starts: it knows nothing yet. Null: there is none.
  void SetLoop(SchedulingLoop* loop);
  // What plugins and the loop say.
  void OnLog(uint32_t level, std::string_view plugin, std::string_view message);

  // ---- Checks -----------------------------------------------------------------------------------

  // Between any two steps: every pod that the scheduler was told of is in the one place where it
  // must be, and nothing else is anywhere.
  void CheckPlaces();
  // In truth, on every node, where nobody else places pods.
  void CheckRoom();
  // With everything delivered and nothing under way: the cache is the cluster, and nothing is held.
  void CheckRest();
  // The cache, and what Filters make of it, are those of `fresh`: another scheduler that has just
  // been told what there is. REQUIRES: as CheckRest(), for this and the next one.
  void CompareWithFresh(SchedulingLoop& fresh);
  // No pod waits that nothing holds back and some node would take. Left out are those that a plugin
  // in `unannounced` has rejected. `when`: for the finding.
  using PluginNames = std::set<std::string, std::less<>>;
  void CheckParked(const char* when, SchedulingLoop& fresh, const PluginNames& unannounced);
  // The plugins are gone, and have given everything back.
  void CheckLedger();

  void Complain(std::string finding);
  // Empty: none.
  const std::string& finding() const { return finding_; }

  // ---- LineObserver -----------------------------------------------------------------------------

  void OnTold(const WatchEvent& event) override;
  void OnBindAsked(const PodName& pod, std::string_view node) override;
  void OnBindCarriedOut(const PodName& pod, std::string_view node, const Status& status) override;
  void OnBindAnswered(const PodName& pod, const Status& status) override;

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
  void CheckToldPod(const Pod& pod);
  void CheckPending(const Pod& pod);
  void CheckQueued(const QueuedEntity& entity);
  void CheckQueuedPod(const QueuedEntity& entity, const Pod& pod);
  void CheckCache();
  void CheckCachedPod(Row row, const Pod& pod);
  void CheckNodes();
  void CheckSums(std::string_view node, Row row);
  bool IsJudged(const QueuedEntity& entity, const PluginNames& unannounced) const;
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

  // What the scheduler was told is there, by uid and by name.
  std::map<std::string, PodRef, std::less<>> told_pods_;
  std::map<std::string, NodeRef, std::less<>> told_nodes_;

  std::set<std::string, std::less<>> open_binds_;          // uids
  std::map<std::string, std::string, std::less<>> bound_;  // Nodes by uid: the cluster's word.
  std::set<std::string, std::less<>> said_bound_;          // uids: the scheduler's word.
  Reservations reservations_;
};

// Whether PreEnqueue holds it back: a scheduling gate, or the label of a chaos plugin.
bool IsHeld(const Pod& pod);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_AUDIT_H_
