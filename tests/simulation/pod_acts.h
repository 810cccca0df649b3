// The random acts of users, controllers, kubelets and other schedulers on pods.
#ifndef BERTH_TESTS_SIMULATION_POD_ACTS_H_
#define BERTH_TESTS_SIMULATION_POD_ACTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/api/objects.h"
#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/node_acts.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sketch.h"
#include "tests/simulation/storage_acts.h"

namespace berth::host {

// Each act does nothing if there is no pod to act on.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class PodActs {
 public:
  // Returns the names of the pods that are being bound. These pods are changed more often than
  // others.
  using BindingPods = std::function<std::vector<std::string>()>;

  PodActs(const Scenario& scenario, Random& random, ClusterWriter& writer, StorageActs& storage,
          NodeActs& nodes, BindingPods binding_pods);
  PodActs(const PodActs&) = delete;
  PodActs& operator=(const PodActs&) = delete;

  // Completes the deletion of all terminating pods.
  void FinishAllDeletions();

  // ---- Acts -------------------------------------------------------------------------------------

  // Creates a pod. Deletes one if there are enough.
  void Create();
  void Delete();
  // Replaces a pod by another one with the same name and another uid.
  void Replace();
  void Relabel();
  void AddToleration();
  void RemoveGate();
  // Resizes a pod in place to half of its cpu.
  void Shrink();
  // Lets a pod on a node succeed.
  void Finish();
  // Completes some deletions, as kubelets do.
  void FinishDeletions();
  // Marks a pod as terminating although it may have no node, as if finalizers kept it.
  void MarkTerminating();
  // Nominates a pod to a node or clears its nomination, as a cluster autoscaler does.
  void Nominate();
  // Binds any pod, as another scheduler does.
  void BindAsOtherScheduler();
  // Creates and binds a pod of another scheduler.
  void BindForeignPod();

 private:
  PodSketch MakePod(std::string name);
  void AddChaos(PodSketch& pod);
  void AddSpread(PodSketch& pod);
  void AddAffinity(PodSketch& pod);
  PodSketch* PickPod();
  PodRef Stored(const PodSketch& pod) const;
  std::vector<PodRef> Terminating() const;
  void FinishDeletion(const Pod& pod);
  void CreatePod(const PodSketch& pod);
  void Update(const PodSketch& pod);

  const Scenario& scenario_;
  Random& random_;
  ClusterWriter& writer_;
  StorageActs& storage_;
  NodeActs& nodes_;
  const BindingPods binding_pods_;
  std::map<std::string, PodSketch> pods_;  // Existing pods by name.
  uint64_t last_pod_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_POD_ACTS_H_
