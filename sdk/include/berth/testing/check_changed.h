// Checks that berth_dependence.changed reports every node whose result may differ.
#ifndef BERTH_TESTING_CHECK_CHANGED_H_
#define BERTH_TESTING_CHECK_CHANGED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/instance.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Checks one pod in one cluster. It changes the cluster step by step (pods, nodes, pending pods,
// nominations, objects, kinds that are served, time), makes an attempt after each step, and asks
// `changed` about every earlier state. The results of rows that the plugin does not name must be
// those of the earlier state, except rows whose node was added since. A state whose token is 0 is
// not compared, because its results are not reused; at least one state must have another token.
// There is nothing to check without BERTH_DEPENDS_OTHER or `changed`.
class ChangedChecker {
 public:
  // `others` are pods that are added to nodes.
  ChangedChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                 std::span<const PodSpec> others);

  void Run();

 private:
  // A state of the cluster, and the results and the token in it.
  struct State {
    std::string how = {};  // "pod web-copy was added to node \"a\""; empty: the first state
    std::unique_ptr<Table> table = {};  // must outlive the attempt
    std::set<uint32_t> nodes = {};      // the rows whose node object changed in this step
    std::set<uint32_t> replaced = {};   // the rows whose node was added or removed in this step
    std::set<uint32_t> pods = {};       // the rows whose pods changed in this step
    std::vector<ObjectHandle> objects = {};  // those that were added or removed in this step
    Attempt attempt = {};
    uint64_t token = 0;
  };
  // The result of `changed`.
  struct Report {
    uint32_t result = BERTH_STALE_ALL;
    std::set<uint32_t> rows;
  };

  Table& NewTable(std::string how);
  // Makes the attempt of the newest state and compares it with the earlier ones.
  void Finish();
  void ExpectToken() const;

  void ChangePods();
  void AddPod(uint32_t index, const PodSpec& pod);
  void ChangePod(uint32_t index);
  void RemovePods(uint32_t index);
  void ChangeNodes();
  void CopyNode(const NodeSpec& from, uint32_t index);
  void AddNode(const NodeSpec& node);
  // Removes the node of a row and adds another one on the row, in one step.
  void ReplaceNode(uint32_t index);
  void RemoveFrom(Table& table, uint32_t index);
  void ChangePending();
  void MovePending(const PodHandle& pod, bool assume);
  void ChangeNominations();
  void ChangeObjects();
  void ChangeServed();
  // Adds or removes an object of the newest table, and reports it.
  void PutObject(const ObjectHandle& object, bool add);

  static std::string What(const Report& report);  // "2 rows"
  Report Ask(const Attempt& attempt, uint64_t* token) const;
  void Compare(const State& then, const State& now);
  // Returns the rows that the host evaluates again, whatever `changed` reports.
  std::set<uint32_t> RowsThatChanged(const State& then) const;
  // Adds the rows whose column of an object changed between two states.
  void AddRowsOfObjects(const State& state, std::set<uint32_t>* rows) const;

  const Prober& prober_;
  const PodHandle& pod_;
  const std::span<const PodSpec> others_;
  std::unique_ptr<Instance> instance_;
  const berth_dependence* declared_ = nullptr;
  std::vector<State> states_;
  bool failed_ = false;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_CHANGED_H_
