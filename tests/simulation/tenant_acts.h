// The random acts of a tenant who may only create and delete pods, and tries to disturb others.
#ifndef BERTH_TESTS_SIMULATION_TENANT_ACTS_H_
#define BERTH_TESTS_SIMULATION_TENANT_ACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"

namespace berth::host {

// The pods have what an API server accepts and hardly anybody writes: long lists, extreme values,
// terms that mean every namespace. Their requests fit on no node or are empty, and their terms mean
// no pod of others, so that a pod of others fits where it would fit without the tenant, except that
// each bound pod counts as one.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class TenantActs {
 public:
  TenantActs(const Scenario& scenario, Random& random, ClusterWriter& writer)
      : scenario_(scenario), random_(random), writer_(writer) {}
  TenantActs(const TenantActs&) = delete;
  TenantActs& operator=(const TenantActs&) = delete;

  // Creates a pod. Deletes one if there are enough.
  void Create();
  void Delete();

 private:
  const Scenario& scenario_;
  Random& random_;
  ClusterWriter& writer_;
  std::vector<std::string> pods_;  // The names of the pods that were not deleted.
  uint64_t last_pod_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_TENANT_ACTS_H_
