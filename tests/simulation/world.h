// What users, controllers, kubelets and other schedulers do to a cluster, by the dice.
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
#include "tests/simulation/dice.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sketch.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/volume_sketch.h"

namespace berth::host {

// Threading: one thread.
// Lifetime:  what it was made of outlives it.
class World {
 public:
  // `busy` names pods that the scheduler is just placing: the most interesting ones to change.
  World(const Scenario& scenario, Dice dice, Decoder& decoder, EmbeddedCluster& cluster,
        std::function<std::vector<std::string>()> busy, Trace& trace);

  // The first nodes and pods.
  void Populate();
  // Something happens.
  void Act();
  // Users do nothing more, and every pod that is being deleted goes.
  void Calm();

  // Plugins of whose rejections some may have become wrong without an event that they asked for.
  const std::set<std::string, std::less<>>& unannounced() const { return unannounced_; }
  // Everything that is parked has been tried again.
  void ForgetUnannounced() { unannounced_.clear(); }

 private:
  using Deed = void (World::*)();
  struct Weighted {
    uint32_t weight;
    Deed deed;
  };

  // --- pods ---
  void CreatePod();
  void DeletePod();
  void ReplacePod();
  void RelabelPod();
  void TolerateMore();
  void TakeGateOff();
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
  void OnNodeGone(const std::string& name);
  void Unannounced(const char* plugin) { unannounced_.insert(plugin); }
  void CreateObject(const char* kind, std::string_view ns, std::string_view name,
                    const std::string& json);
  void PutObject(std::string_view name, const std::string& json);
  // False: it is not there.
  bool RemoveObject(const char* kind, std::string_view ns, std::string_view name);
  ObjectRef DecodeObject(const std::string& json);
  // Null: there is none.
  PodSketch* AnyPod();
  NodeSketch* AnyNode();
  PodRef Stored(const PodSketch& pod) const;
  std::vector<PodRef> Terminating() const;
  void Finish(const Pod& pod);
  void Create(const PodSketch& pod);
  void Put(const PodSketch& pod);
  void Create(const NodeSketch& node);
  void Put(const NodeSketch& node);
  void Say(std::string_view what, std::string_view whom, std::string_view more = {});

  const Scenario& scenario_;
  Dice dice_;
  Decoder& decoder_;
  EmbeddedCluster& cluster_;
  const std::function<std::vector<std::string>()> busy_;
  Trace& trace_;
  std::vector<Weighted> deeds_;
  uint32_t total_weight_ = 0;
  std::map<std::string, PodSketch> pods_;    // Those that are there, by name.
  std::map<std::string, NodeSketch> nodes_;  // Those that are there, by name.
  std::map<std::string, NodeSketch> gone_nodes_;
  std::map<std::string, ClaimSketch> claims_;  // Those that are there, by name.
  std::set<std::string, std::less<>> unannounced_;
  uint64_t last_pod_ = 0;
  uint64_t last_touch_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_WORLD_H_
