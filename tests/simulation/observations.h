// The events, bind requests and decisions that a simulation has observed.
#ifndef BERTH_TESTS_SIMULATION_OBSERVATIONS_H_
#define BERTH_TESTS_SIMULATION_OBSERVATIONS_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "host/api/objects.h"

namespace berth::host {

struct Observations {
  // The objects that the current scheduler has received and that were not deleted.
  std::map<std::string, PodRef, std::less<>> delivered_pods;    // By uid.
  std::map<std::string, NodeRef, std::less<>> delivered_nodes;  // By name.

  // These members cover all schedulers of the simulation, because a scheduler may be restarted.
  std::set<std::string, std::less<>> open_binds;          // Uids with an unanswered bind request.
  std::map<std::string, std::string, std::less<>> bound;  // Nodes by uid, bound in the cluster.
  std::set<std::string, std::less<>> reported_bound;      // Uids that a scheduler reported.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_OBSERVATIONS_H_
