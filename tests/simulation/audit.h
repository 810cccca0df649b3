// Checks the scheduler's invariants: no pod is lost, no pod is in two places or bound twice, and
// the scheduler overcommits no node.
#ifndef BERTH_TESTS_SIMULATION_AUDIT_H_
#define BERTH_TESTS_SIMULATION_AUDIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/simulation/bind_audit.h"
#include "tests/simulation/client_observer.h"
#include "tests/simulation/constraint_audit.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/observations.h"
#include "tests/simulation/place_audit.h"
#include "tests/simulation/reservations.h"
#include "tests/simulation/rest_audit.h"
#include "tests/simulation/room_audit.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Records and checks the events that the scheduler receives, its bind requests and its decisions.
// Compares the state of the scheduler with them on request.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the audit.
class Audit final : public ClientObserver, public DecisionSink, public LogSink {
 public:
  Audit(const Scenario& scenario, EmbeddedCluster& cluster, const Clock& clock, Trace& trace,
        RoomAudit& room, BindAudit& binds, Findings& findings);

  // Sets the scheduler to check, which has received no events yet. `loop` is null while no
  // scheduler runs.
  void SetLoop(SchedulingLoop* loop);

  // ---- Checks -----------------------------------------------------------------------------------

  // Checks the place of every pod: see PlaceAudit. Called between any two steps.
  // REQUIRES: a scheduler runs.
  void CheckPlaces();
  // Checks that everything agrees with the cluster, and that nothing is assumed or reserved.
  // REQUIRES: a scheduler runs; all events are delivered, and no request or binding is in flight.
  void CheckRest();
  // Checks that the plugins hold no reservation.
  void CheckReservations();

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

  // ---- LogSink ----------------------------------------------------------------------------------

  bool IsOn(uint32_t level) const override { return level >= BERTH_LOG_INFO; }
  // Checks a record of the scheduler or of a plugin.
  void Write(const LogRecord& record) override;

  struct Counts {
    uint64_t assumed = 0, bound = 0, failed = 0, skipped = 0;
    // Checked hard spread constraints, and pods with required affinity or anti-affinity.
    uint64_t spread_checks = 0, affinity_checks = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  const Scenario& scenario_;
  EmbeddedCluster& cluster_;
  const Clock& clock_;
  Trace& trace_;
  RoomAudit& room_;
  BindAudit& binds_;
  Findings& findings_;
  Counts counts_;
  Observations observed_{binds_};
  ConstraintAudit constraints_{findings_};
  Reservations reservations_;
  SchedulingLoop* loop_ = nullptr;
  // Set while loop_ is set.
  std::optional<PlaceAudit> places_;
  std::optional<RestAudit> rest_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_AUDIT_H_
