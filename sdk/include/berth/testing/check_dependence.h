// Checks that results depend only on what berth_dependence names.
#ifndef BERTH_TESTING_CHECK_DEPENDENCE_H_
#define BERTH_TESTING_CHECK_DEPENDENCE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/parts.h>
#include <berth/testing/table.h>

namespace berth::testing {

// Checks one pod in one cluster. Without a declaration there is nothing to check, because no result
// is reused.
class DependenceChecker {
 public:
  // `others` are pods whose parts are copied to this pod.
  DependenceChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                    std::span<const PodSpec> others)
      : prober_(prober), table_(table), pod_(pod), others_(others), base_(prober.Try(table, pod)) {}

  void Run() {
    if (!base_.asked || Declared() == nullptr) return;
    const uint64_t parts = Declared()->pod_parts;
    for (int part = 0; part < BERTH_PART_COUNT; ++part) {
      if ((parts >> part & 1) == 0) CheckPart(part, parts);
    }
    const uint32_t cluster = Declared()->cluster;
    if ((cluster & BERTH_DEPENDS_OTHER) != 0) return;
    for (const uint32_t row : SampleRows(base_.cycle->AllRows(), 4)) {
      CheckPodsOn(row, (cluster & BERTH_DEPENDS_NODE_PODS) != 0);
      CheckNode(row);
    }
  }

 private:
  const berth_dependence* Declared() const {
    const Instance& instance = *base_.instance;
    return prober_.step() == Step::kFilter ? instance.filter->dependence
                                           : instance.score->dependence;
  }

  // Returns the signature of an attempt's pod, or std::nullopt if the plugin returned none.
  static std::optional<uint64_t> Sign(const Attempt& attempt, const berth_dependence& declared) {
    uint64_t signature = 0;
    const Answer answer = attempt.cycle->Invoke("sign", kCycle, [&](berth_status*) {
      return declared.sign(attempt.instance->self(), attempt.cycle->abi(), &signature);
    });
    if (!answer.ok()) return std::nullopt;
    return signature;
  }

  void CheckPart(int part, uint64_t declared) {
    const PartHashes before = HashParts(pod_.spec());
    for (Mutation& mutation : MutatePart(part, pod_.spec(), others_)) {
      if (DifferIn(declared, before, HashParts(mutation.pod))) continue;
      const PodHandle changed(std::move(mutation.pod), *prober_.world().ids);
      const Attempt attempt = prober_.Try(table_, changed);
      if (!attempt.asked || SignatureDiffers(attempt)) continue;
      const auto difference =
          Difference(prober_.step(), base_, attempt, [](const Row&) { return true; });
      if (!difference) continue;
      Fail("the pod's " + std::string(PartName(part)) +
           ", which dependence.pod_parts does not name: " + *difference + " with this part " +
           mutation.how);
      return;
    }
  }

  bool SignatureDiffers(const Attempt& attempt) const {
    if (Declared()->sign == nullptr) return false;
    const auto now = Sign(attempt, *Declared());
    const auto then = Sign(base_, *Declared());
    return !now || !then || *now != *then;
  }

  // Adds pods to, and removes pods from, the node of `row`. `own_pods`: the result for this node
  // may depend on them.
  void CheckPodsOn(uint32_t row, bool own_pods) {
    const std::string& node = table_.rows[row].node.name();
    const auto compare = [&](const Row& other) { return !own_pods || other.node.name() != node; };
    const std::string what = own_pods ? "the pods on other nodes" : "the pods on nodes";
    std::vector<PodSpec> guests = {CopyOf(pod_.spec(), node), ConflictingPod(node)};
    for (const PodSpec& other : others_.first(std::min<size_t>(others_.size(), 2))) {
      guests.push_back(CopyOf(other, node, "guest"));
    }
    for (const PodSpec& guest : guests) {
      Table changed = table_;
      changed.rows[row].pods.emplace_back(guest, *prober_.world().ids);
      if (Compare(changed, what, compare, "with pod " + guest.name + " on node \"" + node + "\""))
        return;
    }
    if (table_.rows[row].pods.empty()) return;
    Table changed = table_;
    changed.rows[row].pods.clear();
    Compare(changed, what, compare, "without the pods on node \"" + node + "\"");
  }

  // Removes the node of `row`, and adds another node like it.
  void CheckNode(uint32_t row) {
    const std::string node = table_.rows[row].node.name();
    const auto others = [&](const Row& other) { return other.node.name() != node; };
    Table without = table_;
    without.rows.erase(without.rows.begin() + static_cast<std::ptrdiff_t>(row));
    if (Compare(without, "other nodes", others, "without node \"" + node + "\"")) return;
    NodeSpec copy = table_.rows[row].node.spec();
    copy.name += "-copy";
    Table with = table_;
    with.Add(copy);
    Compare(
        with, "other nodes", [](const Row&) { return true; },
        "with another node like \"" + node + "\"");
  }

  // Returns true, and reports it, if there is a difference.
  bool Compare(const Table& changed, const std::string& what,
               const std::function<bool(const Row&)>& rows, const std::string& how) {
    const Attempt attempt = prober_.Try(changed, pod_);
    // The signature may cover what PreFilter computed from the cluster.
    if (!attempt.asked || SignatureDiffers(attempt)) return false;
    const auto difference = Difference(prober_.step(), base_, attempt, rows);
    if (difference)
      Fail(what + ", which dependence.cluster does not name: " + *difference + " " + how);
    return difference.has_value();
  }

  // A pod that conflicts with many others: it requests much, uses a host port and has anti-affinity
  // to every pod.
  static PodSpec ConflictingPod(const std::string& node) {
    return MakePod("stranger")
        .NodeName(node)
        .Phase(BERTH_PHASE_RUNNING)
        .CpuMilli(1000)
        .Memory(int64_t{1} << 30)
        .HostPort(80)
        .Label("app", "stranger")
        .PodAntiAffinity("kubernetes.io/hostname", {});
  }

  void Fail(const std::string& text) {
    prober_.reporter().Fail(Check::kDependence,
                            Subject(prober_.step(), pod_) + " depends on " + text);
  }

  const Prober& prober_;
  const Table& table_;
  const PodHandle& pod_;
  const std::span<const PodSpec> others_;
  const Attempt base_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_DEPENDENCE_H_
