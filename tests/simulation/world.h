// Simulates the random acts of users, controllers, kubelets and other schedulers on a cluster.
#ifndef BERTH_TESTS_SIMULATION_WORLD_H_
#define BERTH_TESTS_SIMULATION_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sketch.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/volume_sketch.h"

namespace berth::host {

// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive the world.
class World {
 public:
  // `in_binding` returns the names of the pods that are being bound. These pods are changed more
  // often than others.
  World(const Scenario& scenario, Random random, Decoder& decoder, EmbeddedCluster& cluster,
        std::function<std::vector<std::string>()> in_binding, Trace& trace);

  // Creates the initial nodes, pods and storage objects.
  void Populate();
  // Performs one random act.
  void PerformAct();
  // Completes the deletion of all terminating pods.
  void FinishAllDeletions();

  // Returns the plugins whose earlier rejections may be outdated without an event that they
  // registered for.
  const std::set<std::string, std::less<>>& unannounced() const { return unannounced_; }
  // Clears unannounced(). Called when all parked pods have been tried again.
  void ClearUnannounced() { unannounced_.clear(); }

 private:
  using ActFunction = void (World::*)();
  struct WeightedAct {
    uint32_t weight;
    ActFunction function;
  };

  // --- pods ---
  void CreatePod();
  void DeletePod();
  void ReplacePod();
  void RelabelPod();
  void TolerateMore();
  void RemoveGate();
  void ShrinkPod();
  void FinishPod();
  void FinishDeletions();
  void MarkDeleted();
  void Nominate();
  void BindAsOther();
  void BindForeign();
  // --- nodes ---
  void AddNode();
  void RemoveNode();
  void ReplaceNode();
  void Cordon();
  void Taint();
  void RelabelNode();
  void GrowNode();
  void ShrinkNode();
  void TouchNode();
  // --- storage ---
  void ChangeClaim();
  void ChangeVolume();
  void ChangeClass();
  void ChangeCsiNode();

  PodSketch MakePod(std::string name);
  void MakeChaos(PodSketch& pod);
  NodeSketch MakeNode(std::string name);
  void PopulateVolumes();
  void MakeVolumes(PodSketch& pod);
  ClassSketch MakeClass(std::string name);
  VolumeSketch MakeVolume(const std::string& number);
  void CreateClaim(const std::string& name);
  std::string ClaimName();
  void PutCsiNode(const std::string& node);
  void RemoveCsiNode(const std::string& node);
  void OnNodeAdded(const std::string& name);
  void OnNodeRemoved(const std::string& name);
  void AddUnannounced(const char* plugin) { unannounced_.insert(plugin); }
  void CreateObject(const char* kind, std::string_view ns, std::string_view name,
                    const std::string& json);
  void PutObject(std::string_view name, const std::string& json);
  // Returns false if the object does not exist.
  bool RemoveObject(const char* kind, std::string_view ns, std::string_view name);
  ObjectRef DecodeObject(const std::string& json);
  // These functions return null if there is none.
  PodSketch* AnyPod();
  NodeSketch* AnyNode();
  PodRef Stored(const PodSketch& pod) const;
  std::vector<PodRef> Terminating() const;
  void Finish(const Pod& pod);
  void Create(const PodSketch& pod);
  void Put(const PodSketch& pod);
  void Create(const NodeSketch& node);
  void Put(const NodeSketch& node);
  void TraceAct(std::string_view act, std::string_view name, std::string_view details = {});

  const Scenario& scenario_;
  Random random_;
  Decoder& decoder_;
  EmbeddedCluster& cluster_;
  const std::function<std::vector<std::string>()> in_binding_;
  Trace& trace_;
  std::vector<WeightedAct> acts_;
  uint32_t total_weight_ = 0;
  std::map<std::string, PodSketch> pods_;    // Existing pods by name.
  std::map<std::string, NodeSketch> nodes_;  // Existing nodes by name.
  std::map<std::string, NodeSketch> removed_nodes_;
  std::map<std::string, ClaimSketch> claims_;  // Existing claims by name.
  std::set<std::string, std::less<>> unannounced_;
  uint64_t last_pod_ = 0;
  uint64_t last_touch_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_WORLD_H_
