// The random acts of users on namespaces.
#ifndef BERTH_TESTS_SIMULATION_NAMESPACE_ACTS_H_
#define BERTH_TESTS_SIMULATION_NAMESPACE_ACTS_H_

#include "tests/simulation/cluster_writer.h"
#include "tests/simulation/random.h"

namespace berth::host {

// Creates, relabels and deletes the Namespace objects of the pods, whose labels the namespace
// selectors of pods match. A deleted namespace keeps its pods, so that a selector also meets pods
// in a namespace that does not exist.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class NamespaceActs {
 public:
  NamespaceActs(Random& random, ClusterWriter& writer) : random_(random), writer_(writer) {}
  NamespaceActs(const NamespaceActs&) = delete;
  NamespaceActs& operator=(const NamespaceActs&) = delete;

  // Creates, relabels or deletes a random namespace.
  void Change();

 private:
  Random& random_;
  ClusterWriter& writer_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_NAMESPACE_ACTS_H_
