#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

namespace {

AttemptSignature Sign(const Cycle& cycle, Step step) {
  const Instance& instance = cycle.instance();
  const berth_dependence* declared = DependenceOf(instance, step);
  if (declared == nullptr || declared->sign == nullptr) return {};
  berth_signature signature = {};
  const Answer answer = cycle.Invoke("sign", kCycle, [&](berth_status*) {
    return declared->sign(instance.self(), cycle.abi(), &signature);
  });
  if (!answer.ok()) return {.is_reusable = false};
  return {.low = signature.low, .high = signature.high};
}

}  // namespace

std::unique_ptr<Block> TableBlock(const Cycle& cycle) {
  const std::vector<uint32_t> allowed = cycle.AllowedRows();
  const bool all = allowed.size() == cycle.table().rows.size();
  return std::make_unique<Block>(cycle.table(), cycle.columns(), cycle.AllRows(),
                                 all ? nullptr : &allowed, Layout{});
}

BlockAnswer EvaluateTable(Cycle& cycle, Step step, const std::string& where) {
  return Evaluate(cycle, *TableBlock(cycle), step, where);
}

Prober::Prober(const World& world, std::vector<ObjectHandle> objects, int64_t now_ns, Step step)
    : world_(world), objects_(std::move(objects)), now_ns_(now_ns), step_(step) {}

Attempt Prober::Try(const Table& table, const PodHandle& pod, uint32_t block_size) const {
  Attempt attempt;
  attempt.instance = std::make_unique<Instance>(world_, objects_, now_ns_);
  if (!attempt.instance->ok()) {
    attempt.before = attempt.instance->created();
    return attempt;
  }
  attempt.instance->Replay(table);
  std::unique_ptr<Instance> instance = std::move(attempt.instance);
  attempt = TryOn(*instance, table, pod, block_size);
  attempt.instance = std::move(instance);
  return attempt;
}

Attempt Prober::TryOn(Instance& instance, const Table& table, const PodHandle& pod,
                      uint32_t block_size) const {
  Attempt attempt;
  attempt.cycle = std::make_unique<Cycle>(&instance, &table, pod, block_size);
  attempt.before = attempt.cycle->PreFilter();
  if (step_ == Step::kScore && (attempt.before.ok() || attempt.before.code == BERTH_SKIP)) {
    attempt.before = attempt.cycle->PreScore();
  }
  if (!attempt.before.ok()) return attempt;
  attempt.asked = true;
  attempt.signature = Sign(*attempt.cycle, step_);
  attempt.table = EvaluateTable(*attempt.cycle, step_);
  return attempt;
}

const berth_dependence* DependenceOf(const Instance& instance, Step step) {
  return step == Step::kFilter ? instance.filter->dependence : instance.score->dependence;
}

bool HaveEqualSignatures(const Attempt& a, const Attempt& b) {
  return a.signature.is_reusable && a.signature == b.signature;
}

std::string Subject(Step step, const PodHandle& pod) {
  return std::string(StepName(step)) + " of pod " + pod.spec().ns + "/" + pod.name();
}

std::optional<std::string> Difference(Step step, const Attempt& a, const Attempt& b,
                                      const std::function<bool(const Row&)>& compare) {
  if (!a.asked || !b.asked) return std::nullopt;
  if (a.table.call.code != b.table.call.code) {
    return "it returns " + ToString(a.table.call) + ", then " + ToString(b.table.call);
  }
  if (!a.table.call.ok()) return std::nullopt;
  std::unordered_map<std::string_view, uint32_t> in_b;  // Allowed rows by the name of the node.
  for (const uint32_t row : b.cycle->AllowedRows()) {
    in_b.emplace(b.cycle->table().rows[row].node.name(), row);
  }
  for (const uint32_t row : a.cycle->AllowedRows()) {
    const Row& node = a.cycle->table().rows[row];
    const auto other = in_b.find(node.node.name());
    if (other == in_b.end() || !compare(node) || a.On(row) == b.On(other->second)) continue;
    return "node \"" + node.node.name() + "\": " + ToString(step, a.On(row)) + ", then " +
           ToString(step, b.On(other->second));
  }
  return std::nullopt;
}

std::vector<uint32_t> SampleRows(const std::vector<uint32_t>& rows, size_t most) {
  if (rows.size() <= most) return rows;
  std::vector<uint32_t> sample;
  for (size_t i = 0; i < most; ++i) sample.push_back(rows[i * (rows.size() - 1) / (most - 1)]);
  return sample;
}

PodSpec CopyOf(const PodSpec& pod, const std::string& node, const std::string& suffix) {
  PodSpec copy = pod;
  copy.name += "-" + suffix;
  copy.uid += "-" + suffix;
  return copy.NodeName(node).Phase(BERTH_PHASE_RUNNING);
}

NodeSpec CopyOf(const NodeSpec& node, const std::string& suffix) {
  NodeSpec copy = node;
  copy.name += "-" + suffix;
  copy.uid += "-" + suffix;
  const auto hostname = copy.labels.find("kubernetes.io/hostname");
  if (hostname != copy.labels.end() && hostname->second == node.name) hostname->second = copy.name;
  for (PodSpec& pod : copy.pods) {
    pod.name += "-" + suffix;
    pod.uid += "-" + suffix;
    pod.node_name = copy.name;
  }
  return copy;
}

}  // namespace berth::testing
