// Checks that results depend only on what berth_dependence names.
#ifndef BERTH_TESTING_CHECK_DEPENDENCE_H_
#define BERTH_TESTING_CHECK_DEPENDENCE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Checks one pod in one cluster. Without a declaration there is nothing to check, because no result
// is reused.
class DependenceChecker {
 public:
  // `mutated`: the mutations of the pod. `others` are pods that are added to nodes.
  DependenceChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                    MutatedPods& mutated, std::span<const PodSpec> others);

  void Run();

 private:
  const berth_dependence* Declared() const;

  void CheckPart(int part, uint64_t declared);

  // Adds pods to, and removes pods from, the node of `row`. `own_pods`: the result for this node
  // may depend on them.
  void CheckPodsOn(uint32_t row, bool own_pods);

  // Removes the node of `row`, and adds another node like it.
  void CheckNode(uint32_t row);

  // Returns true, and reports it, if there is a difference.
  bool Compare(const Table& changed, const std::string& what,
               const std::function<bool(const Row&)>& rows, const std::string& how);

  // A pod that conflicts with many others: it requests much, uses a host port and has anti-affinity
  // to every pod.
  static PodSpec ConflictingPod(const std::string& node);

  void Fail(const std::string& text);

  const Prober& prober_;
  const Table& table_;
  MutatedPods& mutated_;
  const PodHandle& pod_;
  const std::span<const PodSpec> others_;
  const Attempt base_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_DEPENDENCE_H_
