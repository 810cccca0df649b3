// Records and checks the bindings that the cluster has executed.
#ifndef BERTH_TESTS_SIMULATION_BIND_AUDIT_H_
#define BERTH_TESTS_SIMULATION_BIND_AUDIT_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/room_audit.h"

namespace berth::host {

// Covers all schedulers of a simulation, also those that run at the same time.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the audit.
class BindAudit {
 public:
  BindAudit(EmbeddedCluster& cluster, RoomAudit& room, Findings& findings)
      : cluster_(cluster), room_(room), findings_(findings) {}
  BindAudit(const BindAudit&) = delete;
  BindAudit& operator=(const BindAudit&) = delete;

  // Checks that no pod is bound twice, and that the cluster has bound this pod to this node.
  // Called: after the cluster has executed a bind request, with its result.
  void OnExecuted(const PodName& pod, std::string_view node, const Status& status);
  // Returns the node that a scheduler of the simulation has bound the pod to; empty if none has.
  std::string_view NodeOf(std::string_view uid) const;
  // Records that a scheduler reported the pod as bound. Returns false if one did so before.
  bool Report(std::string_view uid) { return reported_.emplace(uid).second; }
  bool IsReported(std::string_view uid) const { return reported_.contains(uid); }

 private:
  EmbeddedCluster& cluster_;
  RoomAudit& room_;
  Findings& findings_;
  std::map<std::string, std::string, std::less<>> bound_;  // Nodes by uid.
  std::set<std::string, std::less<>> reported_;            // Uids.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_BIND_AUDIT_H_
