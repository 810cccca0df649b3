#include "tests/simulation/world.h"

#include <utility>

namespace berth::host {

World::World(const Scenario& scenario, Random random, Decoder& decoder, EmbeddedCluster& cluster,
             PodActs::BindingPods binding_pods, Trace& trace)
    : scenario_(scenario),
      random_(random),
      writer_(decoder, cluster, trace),
      storage_(scenario, random_, writer_),
      nodes_(scenario, random_, writer_, storage_),
      pods_(scenario, random_, writer_, storage_, nodes_, std::move(binding_pods)),
      tenant_(scenario, random_, writer_),
      namespaces_(random_, writer_) {
  AddActs();
  for (const WeightedAct& act : acts_) total_weight_ += act.weight;
}

// The weights and the order of the acts determine which act a random number selects.
void World::AddActs() {
  acts_ = {{30, [this] { pods_.Create(); }},          {10, [this] { pods_.Delete(); }},
           {6, [this] { pods_.Replace(); }},          {8, [this] { pods_.Relabel(); }},
           {4, [this] { pods_.AddToleration(); }},    {8, [this] { pods_.RemoveGate(); }},
           {3, [this] { pods_.Shrink(); }},           {8, [this] { pods_.Finish(); }},
           {10, [this] { pods_.FinishDeletions(); }}, {2, [this] { pods_.MarkTerminating(); }},
           {4, [this] { pods_.Nominate(); }},         {5, [this] { nodes_.Add(); }},
           {3, [this] { nodes_.Remove(); }},          {3, [this] { nodes_.Replace(); }},
           {6, [this] { nodes_.Cordon(); }},          {6, [this] { nodes_.Taint(); }},
           {4, [this] { nodes_.Relabel(); }},         {4, [this] { nodes_.Grow(); }},
           {2, [this] { nodes_.Touch(); }},           {5, [this] { tenant_.Create(); }},
           {1, [this] { tenant_.Delete(); }},         {6, [this] { namespaces_.Change(); }}};
  if (scenario_.has_other_schedulers) {
    acts_.push_back({4, [this] { pods_.BindAsOtherScheduler(); }});
    acts_.push_back({4, [this] { pods_.BindForeignPod(); }});
    acts_.push_back({3, [this] { nodes_.Shrink(); }});
  }
  if (scenario_.has_volumes) {
    acts_.push_back({20, [this] { storage_.ChangeClaim(); }});
    acts_.push_back({6, [this] { storage_.ChangeVolume(); }});
    acts_.push_back({2, [this] { storage_.ChangeClass(); }});
    acts_.push_back({4, [this] { nodes_.ChangeCsiNode(); }});
  }
}

void World::Populate() {
  storage_.Populate();
  const size_t nodes = random_.Below(scenario_.max_nodes + 1);
  for (size_t i = 0; i < nodes; ++i) nodes_.Add();
  const size_t pods = random_.Below(scenario_.max_pods);
  for (size_t i = 0; i < pods; ++i) pods_.Create();
}

void World::PerformAct() {
  size_t left = random_.Below(total_weight_);
  for (const WeightedAct& act : acts_) {
    if (left < act.weight) return act.perform();
    left -= act.weight;
  }
}

}  // namespace berth::host
