// Simulates the random acts of users, controllers, kubelets and other schedulers on a cluster.
#ifndef BERTH_TESTS_SIMULATION_WORLD_H_
#define BERTH_TESTS_SIMULATION_WORLD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/api/decode.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/namespace_acts.h"
#include "tests/simulation/node_acts.h"
#include "tests/simulation/pod_acts.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/storage_acts.h"
#include "tests/simulation/tenant_acts.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Chooses the acts. All random numbers come from one stream, so that a seed determines the acts.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the world.
class World {
 public:
  World(const Scenario& scenario, Random random, Decoder& decoder, EmbeddedCluster& cluster,
        PodActs::BindingPods binding_pods, Trace& trace);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // See ClusterWriter::Listen().
  void Listen(std::function<void(const std::string& json)> listener) {
    writer_.Listen(std::move(listener));
  }
  // Creates the initial nodes, pods and storage objects.
  void Populate();
  // Performs one random act.
  void PerformAct();

  PodActs& pods() { return pods_; }
  StorageActs& storage() { return storage_; }

 private:
  struct WeightedAct {
    uint32_t weight;
    std::function<void()> perform;
  };

  void AddActs();

  const Scenario& scenario_;
  Random random_;
  ClusterWriter writer_;
  StorageActs storage_;
  NodeActs nodes_;
  PodActs pods_;
  TenantActs tenant_;
  NamespaceActs namespaces_;
  std::vector<WeightedAct> acts_;
  uint32_t total_weight_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_WORLD_H_
