// The random acts of users, kubelets and cluster autoscalers on nodes.
#ifndef BERTH_TESTS_SIMULATION_NODE_ACTS_H_
#define BERTH_TESTS_SIMULATION_NODE_ACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/random.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sketch.h"
#include "tests/simulation/storage_acts.h"

namespace berth::host {

// Each act does nothing if there is no node to act on.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class NodeActs {
 public:
  NodeActs(const Scenario& scenario, Random& random, ClusterWriter& writer, StorageActs& storage)
      : scenario_(scenario), random_(random), writer_(writer), storage_(storage) {}
  NodeActs(const NodeActs&) = delete;
  NodeActs& operator=(const NodeActs&) = delete;

  // Returns a random node, or null if there is none.
  // Lifetime: the node is valid until the next act.
  NodeSketch* PickNode();

  // ---- Acts -------------------------------------------------------------------------------------

  // Adds a new node, or a removed one as it was before, because it may still have pods. Removes a
  // node if there are enough.
  void Add();
  void Remove();
  // Removes a node and immediately adds it again with another uid.
  void Replace();
  void Cordon();
  void Taint();
  void Relabel();
  void Grow();
  void Shrink();
  // Changes an annotation of a node, which does not affect scheduling.
  void Touch();
  // Changes the CSINode of a node.
  void ChangeCsiNode();

 private:
  NodeSketch MakeNode(std::string name);
  void Create(const NodeSketch& node);
  void Update(const NodeSketch& node);

  const Scenario& scenario_;
  Random& random_;
  ClusterWriter& writer_;
  StorageActs& storage_;
  std::map<std::string, NodeSketch> nodes_;  // Existing nodes by name.
  std::map<std::string, NodeSketch> removed_nodes_;
  uint64_t last_touch_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_NODE_ACTS_H_
