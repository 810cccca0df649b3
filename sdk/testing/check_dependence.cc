#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/attempt.h>
#include <berth/testing/check_changed.h>
#include <berth/testing/check_dependence.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/parts.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

DependenceChecker::DependenceChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                                     MutatedPods& mutated, std::span<const PodSpec> others)
    : prober_(prober),
      table_(table),
      mutated_(mutated),
      pod_(pod),
      others_(others),
      base_(prober.Try(table, pod_)) {}

void DependenceChecker::Run() {
  if (!base_.asked || Declared() == nullptr) return;
  const uint64_t parts = Declared()->pod_parts;
  for (int part = 0; part < BERTH_PART_COUNT; ++part) {
    if ((parts >> part & 1) == 0) CheckPart(part, parts);
  }
  const uint32_t cluster = Declared()->cluster;
  if ((cluster & BERTH_DEPENDS_OTHER) != 0) {
    ChangedChecker(prober_, table_, pod_, others_).Run();
    return;
  }
  for (const uint32_t row : SampleRows(base_.cycle->AllRows(), 4)) {
    CheckPodsOn(row, (cluster & BERTH_DEPENDS_NODE_PODS) != 0);
    CheckNode(row);
  }
}

const berth_dependence* DependenceChecker::Declared() const {
  return DependenceOf(*base_.instance, prober_.step());
}

void DependenceChecker::CheckPart(int part, uint64_t declared) {
  for (const Mutation& mutation : mutated_.Of(part)) {
    if (DifferIn(declared, mutated_.hashes(), mutation.hashes)) continue;
    const PodHandle changed(mutation.pod, *prober_.world().ids);
    const Attempt attempt = prober_.Try(table_, changed);
    if (!attempt.asked || !HaveEqualSignatures(base_, attempt)) continue;
    const auto difference =
        Difference(prober_.step(), base_, attempt, [](const Row&) { return true; });
    if (!difference) continue;
    Fail("the pod's " + std::string(PartName(part)) +
         ", which dependence.pod_parts does not name: " + *difference + " with this part " +
         mutation.how);
    return;
  }
}

void DependenceChecker::CheckPodsOn(uint32_t row, bool own_pods) {
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

void DependenceChecker::CheckNode(uint32_t row) {
  const std::string node = table_.rows[row].node.name();
  const auto others = [&](const Row& other) { return other.node.name() != node; };
  Table without = table_;
  without.rows.erase(without.rows.begin() + static_cast<std::ptrdiff_t>(row));
  if (Compare(without, "other nodes", others, "without node \"" + node + "\"")) return;
  Table with = table_;
  with.Add(CopyOf(table_.rows[row].node.spec(), "copy"));
  Compare(
      with, "other nodes", [](const Row&) { return true; },
      "with another node like \"" + node + "\"");
}

bool DependenceChecker::Compare(const Table& changed, const std::string& what,
                                const std::function<bool(const Row&)>& rows,
                                const std::string& how) {
  const Attempt attempt = prober_.Try(changed, pod_);
  // The signature may cover what PreFilter computed from the cluster.
  if (!attempt.asked || !HaveEqualSignatures(base_, attempt)) return false;
  const auto difference = Difference(prober_.step(), base_, attempt, rows);
  if (difference)
    Fail(what + ", which dependence.cluster does not name: " + *difference + " " + how);
  return difference.has_value();
}

PodSpec DependenceChecker::ConflictingPod(const std::string& node) {
  return MakePod("stranger")
      .NodeName(node)
      .Phase(BERTH_PHASE_RUNNING)
      .CpuMilli(1000)
      .Memory(int64_t{1} << 30)
      .HostPort(80)
      .Label("app", "stranger")
      .PodAntiAffinity("kubernetes.io/hostname", {});
}

void DependenceChecker::Fail(const std::string& text) {
  prober_.reporter().Fail(Check::kDependence,
                          Subject(prober_.step(), pod_) + " depends on " + text);
}

}  // namespace berth::testing
