// A whole attempt on a separate instance, which the kit compares after it changed the pod or the
// cluster.
#ifndef BERTH_TESTING_ATTEMPT_H_
#define BERTH_TESTING_ATTEMPT_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/table.h>

namespace berth::testing {

// Runs the step over all nodes of the cycle's table that PreFilter allows, in one block. The
// result's `rows` are indexed by table row.
inline BlockAnswer EvaluateTable(Cycle& cycle, Step step, const std::string& where = "") {
  const std::vector<uint32_t> allowed = cycle.AllowedRows();
  const bool all = allowed.size() == cycle.table().rows.size();
  const Block block(cycle.table(), cycle.columns(), cycle.AllRows(), all ? nullptr : &allowed, {});
  return Evaluate(cycle, block, step, where);
}

struct Attempt {
  std::unique_ptr<Instance> instance;  // must outlive the cycle
  std::unique_ptr<Cycle> cycle;
  Answer before;       // the result of PreFilter, or of PreScore if PreFilter succeeded
  bool asked = false;  // the step was called: PreFilter and PreScore allowed it
  BlockAnswer table;   // valid if `asked`

  const RowAnswer& On(uint32_t row) const { return table.rows[row]; }
};

// Makes attempts.
class Prober {
 public:
  Prober(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns, Step step)
      : world_(world), objects_(std::move(objects)), now_ns_(now_ns), step_(step) {}

  // Makes an attempt: creates an instance, reports `table` to it, and runs a cycle for `pod`:
  // PreFilter, PreScore for Score, and the step itself.
  Attempt Try(const Table& table, const PodHandle& pod,
              uint32_t block_size = Cycle::kBlockSize) const {
    Attempt attempt;
    attempt.instance = std::make_unique<Instance>(world_, objects_, now_ns_);
    if (!attempt.instance->ok()) {
      attempt.before = attempt.instance->created();
      return attempt;
    }
    attempt.instance->Replay(table);
    attempt.cycle = std::make_unique<Cycle>(attempt.instance.get(), &table, pod, block_size);
    attempt.before = attempt.cycle->PreFilter();
    if (step_ == Step::kScore && (attempt.before.ok() || attempt.before.code == BERTH_SKIP)) {
      attempt.before = attempt.cycle->PreScore();
    }
    if (!attempt.before.ok()) return attempt;
    attempt.asked = true;
    attempt.table = EvaluateTable(*attempt.cycle, step_);
    return attempt;
  }

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

// "Filter of pod default/web"
inline std::string Subject(Step step, const PodHandle& pod) {
  return std::string(StepName(step)) + " of pod " + pod.spec().ns + "/" + pod.name();
}

// Returns the first difference between two attempts, over the nodes that are in both and for which
// `compare` holds. Returns std::nullopt if there is none, or if one of them did not call the step.
inline std::optional<std::string> Difference(Step step, const Attempt& a, const Attempt& b,
                                             const std::function<bool(const Row&)>& compare) {
  if (!a.asked || !b.asked) return std::nullopt;
  if (a.table.call.code != b.table.call.code) {
    return "it returns " + ToString(a.table.call) + ", then " + ToString(b.table.call);
  }
  if (!a.table.call.ok()) return std::nullopt;
  for (const uint32_t row : a.cycle->AllowedRows()) {
    const Row& node = a.cycle->table().rows[row];
    if (!compare(node)) continue;
    for (const uint32_t other : b.cycle->AllowedRows()) {
      if (b.cycle->table().rows[other].node.name() != node.node.name()) continue;
      if (a.On(row) == b.On(other)) break;
      return "node \"" + node.node.name() + "\": " + ToString(step, a.On(row)) + ", then " +
             ToString(step, b.On(other));
    }
  }
  return std::nullopt;
}

// Returns at most `most` rows, spread evenly over all.
inline std::vector<uint32_t> SampleRows(const std::vector<uint32_t>& rows, size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<uint32_t> sample;
  for (size_t i = 0; i < most; ++i) sample.push_back(rows[i * (rows.size() - 1) / (most - 1)]);
  return sample;
}

// Returns a copy of `pod` that runs on `node`.
inline PodSpec CopyOf(const PodSpec& pod, const std::string& node,
                      const std::string& suffix = "copy") {
  PodSpec copy = pod;
  copy.name += "-" + suffix;
  copy.uid += "-" + suffix;
  return copy.NodeName(node).Phase(BERTH_PHASE_RUNNING);
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_ATTEMPT_H_
