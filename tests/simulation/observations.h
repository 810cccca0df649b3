// The events and bind requests of one scheduler that a simulation has observed.
#ifndef BERTH_TESTS_SIMULATION_OBSERVATIONS_H_
#define BERTH_TESTS_SIMULATION_OBSERVATIONS_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "host/api/objects.h"
#include "tests/simulation/bind_audit.h"

namespace berth::host {

struct Observations {
  const BindAudit& binds;  // Shared by all schedulers.
  // The objects that the scheduler has received and that were not deleted.
  std::map<std::string, PodRef, std::less<>> delivered_pods = {};    // By uid.
  std::map<std::string, NodeRef, std::less<>> delivered_nodes = {};  // By name.
  std::set<std::string, std::less<>> open_binds = {};  // Uids with an unanswered bind request.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_OBSERVATIONS_H_
