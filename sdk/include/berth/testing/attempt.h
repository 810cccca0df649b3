// A whole attempt on a separate instance, which the kit compares after it changed the pod or the
// cluster.
#ifndef BERTH_TESTING_ATTEMPT_H_
#define BERTH_TESTING_ATTEMPT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Returns a block of all nodes of the cycle's table, in which those are selected that PreFilter
// allows. The table must outlive it.
std::unique_ptr<Block> TableBlock(const Cycle& cycle);

// Runs the step over TableBlock(). The result's `rows` are indexed by table row.
BlockAnswer EvaluateTable(Cycle& cycle, Step step, const std::string& where = "");

// The signature of the pod of an attempt.
struct AttemptSignature {
  bool is_reusable = true;  // `sign` did not return SKIP or an error
  uint64_t low = 0;         // 0 if the plugin has no `sign`
  uint64_t high = 0;

  friend bool operator==(const AttemptSignature&, const AttemptSignature&) = default;
};

struct Attempt {
  std::unique_ptr<Instance> instance;  // must outlive the cycle; null: the instance is not its own
  std::unique_ptr<Cycle> cycle;
  Answer before;               // the result of PreFilter, or of PreScore if PreFilter succeeded
  bool asked = false;          // the step was called: PreFilter and PreScore allowed it
  AttemptSignature signature;  // valid if `asked`
  BlockAnswer table;           // valid if `asked`

  const RowAnswer& On(uint32_t row) const { return table.rows[row]; }
};

// Makes attempts.
class Prober {
 public:
  Prober(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns, Step step);

  // Makes an attempt: creates an instance, reports `table` to it, and runs a cycle for `pod`:
  // PreFilter, PreScore for Score, and the step itself.
  Attempt Try(const Table& table, const PodHandle& pod,
              uint32_t block_size = Cycle::kBlockSize) const;

  // Does the same with an instance that lives longer and already has the content of `table`.
  Attempt TryOn(Instance& instance, const Table& table, const PodHandle& pod,
                uint32_t block_size = Cycle::kBlockSize) const;

  const World& world() const { return world_; }
  Reporter& reporter() const { return *world_.reporter; }
  Step step() const { return step_; }
  const std::vector<ObjectHandle>& objects() const { return objects_; }
  int64_t now_ns() const { return now_ns_; }

 private:
  const World& world_;
  const std::vector<ObjectHandle> objects_;
  const int64_t now_ns_;
  const Step step_;
};

// Returns what the step of this instance declares to depend on; null if it declares nothing.
const berth_dependence* DependenceOf(const Instance& instance, Step step);

// Returns whether the host takes the results of both attempts for equal, as far as the signature
// decides.
bool HaveEqualSignatures(const Attempt& a, const Attempt& b);

// "Filter of pod default/web"
std::string Subject(Step step, const PodHandle& pod);

// Returns the first difference between two attempts, over the nodes that are in both and for which
// `compare` holds. Returns std::nullopt if there is none, or if one of them did not call the step.
std::optional<std::string> Difference(Step step, const Attempt& a, const Attempt& b,
                                      const std::function<bool(const Row&)>& compare);

// Returns at most `most` rows, spread evenly over all.
std::vector<uint32_t> SampleRows(const std::vector<uint32_t>& rows, size_t most);

// Returns a copy of `pod` that runs on `node`.
PodSpec CopyOf(const PodSpec& pod, const std::string& node, const std::string& suffix = "copy");
// Returns another node like `node`, with as many pods. Names, uids and the label of the host name
// are new, as in a cluster.
NodeSpec CopyOf(const NodeSpec& node, const std::string& suffix);

}  // namespace berth::testing

#endif  // BERTH_TESTING_ATTEMPT_H_
