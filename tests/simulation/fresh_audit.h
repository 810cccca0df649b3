// Compares the scheduler with a fresh one that receives the state of the cluster without faults.
#ifndef BERTH_TESTS_SIMULATION_FRESH_AUDIT_H_
#define BERTH_TESTS_SIMULATION_FRESH_AUDIT_H_

#include <cstdint>
#include <set>
#include <string>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/cycle/scheduling_loop.h"
#include "host/queue/nominator.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// REQUIRES: `fresh` has just received the state of the cluster and schedules nothing. All events
// are delivered to `loop`, and no request or binding is in flight. This applies to every check.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class FreshAudit {
 public:
  FreshAudit(Trace& trace, Findings& findings) : trace_(trace), findings_(findings) {}
  FreshAudit(const FreshAudit&) = delete;
  FreshAudit& operator=(const FreshAudit&) = delete;

  // Checks that the cache and the results of Filter of `loop` equal those of `fresh`.
  void Compare(SchedulingLoop& loop, SchedulingLoop& fresh);
  // Checks that no pod is parked or gated although `fresh` has a node for it and PreEnqueue accepts
  // it. Before a flush, this is the case only if the plugins registered all events that help.
  // `when` is a part of the finding.
  void CheckParked(const char* when, SchedulingLoop& loop, SchedulingLoop& fresh);

 private:
  void CompareColumn(const ColumnSpec& spec, ColumnIndex column, SchedulingLoop& loop,
                     SchedulingLoop& fresh);
  void CompareFilters(SchedulingLoop& loop, SchedulingLoop& fresh);
  // Returns the nodes that pass all Filters of `loop`, with the nominations in `nominator`, because
  // a fresh scheduler has none. Does not run PostFilter, which may have side effects.
  std::set<std::string> NodesFor(const PodRef& pod, SchedulingLoop& loop,
                                 const Nominator& nominator);

  Trace& trace_;
  Findings& findings_;
  uint64_t attempts_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_FRESH_AUDIT_H_
