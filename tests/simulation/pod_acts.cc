#include "tests/simulation/pod_acts.h"

#include <array>
#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/stored_objects.h"

namespace berth::host {
namespace {

constexpr const char* kNs = "default";
constexpr const char* kOtherScheduler = "other-scheduler";
constexpr std::array kGroups{"trio", "band"};
constexpr std::array kNamespaceSelectors{NamespaceSelector::kAll, NamespaceSelector::kTeamX,
                                         NamespaceSelector::kNotTeamX};
constexpr const char* kCordonTaint = "node.kubernetes.io/unschedulable";

}  // namespace

PodActs::PodActs(const Scenario& scenario, Random& random, ClusterWriter& writer,
                 StorageActs& storage, NodeActs& nodes, BindingPods binding_pods)
    : scenario_(scenario),
      random_(random),
      writer_(writer),
      storage_(storage),
      nodes_(nodes),
      binding_pods_(std::move(binding_pods)) {}

PodSketch PodActs::MakePod(std::string name) {
  PodSketch pod;
  pod.name = std::move(name);
  pod.scheduler = random_.OneIn(12) ? kOtherScheduler : random_.Pick(scenario_.profiles);
  if (!random_.OneIn(5)) pod.milli_cpu = 100 * random_.Between(1, 12);
  if (!random_.OneIn(5)) pod.memory_mib = 64 * random_.Between(1, 20);
  if (random_.OneIn(8)) pod.gpus = random_.Between(1, 3);
  if (random_.OneIn(3)) pod.priority = static_cast<int32_t>(random_.Between(-5, 5));
  if (random_.OneIn(8)) pod.host_port = static_cast<int32_t>(8000 + random_.Below(3));
  if (random_.OneIn(4)) pod.tolerations.emplace_back(random_.Pick(kTaints));
  if (random_.OneIn(12)) pod.tolerations.emplace_back(kCordonTaint);
  if (random_.OneIn(5)) pod.node_selector["zone"] = random_.Pick(kZones);
  for (size_t gates = random_.OneIn(6) ? 1 + random_.Below(2) : 0; gates > 0; --gates) {
    pod.gates.push_back("gate-" + std::to_string(gates));
  }
  // A group belongs to one profile: a group with members of two profiles fails for ever.
  if (random_.OneIn(5)) pod.group = random_.Pick(kGroups) + ("-of-" + pod.scheduler);
  pod.labels["color"] = random_.Pick(kColors);
  if (random_.OneIn(4)) AddSpread(pod);
  if (random_.OneIn(4)) AddAffinity(pod);
  storage_.AddVolumes(pod);
  if (scenario_.has_chaos && random_.OneIn(2)) AddChaos(pod);
  return pod;
}

void PodActs::AddSpread(PodSketch& pod) {
  for (size_t count = 1 + random_.Below(2); count > 0; --count) {
    SpreadSketch& spread = pod.spreads.emplace_back();
    spread.key = random_.Pick(kTopologyKeys);
    spread.color = random_.Pick(kColors);
    spread.max_skew = random_.Between(1, 3);
    spread.is_hard = !random_.OneIn(3);
    if (spread.is_hard && random_.OneIn(3)) spread.min_domains = random_.Between(1, 4);
    spread.honors_taints = random_.OneIn(3);
    spread.ignores_affinity = random_.OneIn(3);
  }
}

// Most terms are anti-affinity, because few pods have a place where affinity lets them run.
void PodActs::AddAffinity(PodSketch& pod) {
  for (size_t count = 1 + random_.Below(2); count > 0; --count) {
    AffinitySketch& affinity = pod.affinities.emplace_back();
    affinity.key = random_.Pick(kTopologyKeys);
    affinity.color = random_.Pick(kColors);
    affinity.is_anti = !random_.OneIn(4);
    affinity.is_required = !random_.OneIn(3);
    if (random_.OneIn(2)) affinity.namespaces = random_.Pick(kNamespaceSelectors);
  }
}

// Adds random instructions for test.ChaosA and test.ChaosB; see chaos_plugin.cc.
void PodActs::AddChaos(PodSketch& pod) {
  static constexpr std::array kInstructions{std::pair{"prefilter", "error"},
                                            std::pair{"prefilter", "throw"},
                                            std::pair{"prefilter", "reject"},
                                            std::pair{"prefilter", "unresolvable"},
                                            std::pair{"postfilter", "nominate"},
                                            std::pair{"postfilter", "nominate"},
                                            std::pair{"postfilter", "evict"},
                                            std::pair{"postfilter", "evict"},
                                            std::pair{"postfilter", "clear"},
                                            std::pair{"postfilter", "error"},
                                            std::pair{"postfilter", "throw"},
                                            std::pair{"postfilter", "unresolvable"},
                                            std::pair{"reserve", "error"},
                                            std::pair{"reserve", "throw"},
                                            std::pair{"reserve", "reject"},
                                            std::pair{"reserve", "pending"},
                                            std::pair{"reserve", "activate"},
                                            std::pair{"permit", "error"},
                                            std::pair{"permit", "throw"},
                                            std::pair{"permit", "reject"},
                                            std::pair{"permit", "allow"},
                                            std::pair{"permit", "allow"},
                                            std::pair{"permit", "deny"},
                                            std::pair{"permit", "timeout"},
                                            std::pair{"permit", "group"},
                                            std::pair{"prebind", "now"},
                                            std::pair{"prebind", "later"},
                                            std::pair{"prebind", "later"},
                                            std::pair{"prebind", "fail"},
                                            std::pair{"prebind", "error"},
                                            std::pair{"prebind", "throw"},
                                            std::pair{"prebind", "reject"},
                                            std::pair{"prebind", "drop"},
                                            std::pair{"prebind", "preflight"},
                                            std::pair{"bind", "api"},
                                            std::pair{"bind", "later"},
                                            std::pair{"bind", "error"},
                                            std::pair{"bind", "throw"},
                                            std::pair{"bind", "reject"},
                                            std::pair{"bind", "drop"}};
  static constexpr std::array kResults{"reject", "reject", "pending", "error"};
  for (const char* letter : {"a.", "b."}) {
    for (size_t count = random_.Below(3); count > 0; --count) {
      const auto& [point, action] = random_.Pick(kInstructions);
      pod.annotations[std::string(letter) + point] =
          std::string(action) + " " +
          std::to_string(random_.Between(1, 3) * (random_.OneIn(4) ? 8 : 1));
    }
    if (random_.OneIn(8)) pod.labels[std::string(letter) + "preenqueue"] = random_.Pick(kResults);
    if (random_.OneIn(8)) pod.labels[std::string(letter) + "filter"] = random_.Pick(kResults);
  }
  pod.labels["group"] = random_.OneIn(2) ? "g1" : "g2";
}

// Returns a random pod, in half of the calls one that is being bound, or null.
PodSketch* PodActs::PickPod() {
  if (random_.OneIn(2)) {
    const std::vector<std::string> names = binding_pods_();
    if (!names.empty()) {
      const auto found = pods_.find(random_.Pick(names));
      if (found != pods_.end()) return &found->second;
    }
  }
  if (pods_.empty()) return nullptr;
  auto found = pods_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random_.Below(pods_.size())));
  if (Stored(found->second) != nullptr) return &found->second;
  pods_.erase(found);
  return nullptr;
}

PodRef PodActs::Stored(const PodSketch& pod) const {
  return writer_.cluster().FindPod(kNs, pod.name);
}

void PodActs::CreatePod(const PodSketch& pod) {
  const std::string text = pod.Json(nullptr);
  writer_.TraceAct("create pod", pod.name, text);
  writer_.Create(text);
  pods_[pod.name] = pod;
}

void PodActs::Update(const PodSketch& pod) {
  const PodRef stored = Stored(pod);
  if (stored != nullptr) writer_.Update(pod.Json(stored.get()));
}

// ---- Acts ---------------------------------------------------------------------------------------

void PodActs::Create() {
  if (pods_.size() >= scenario_.max_pods) return Delete();
  std::string name = "p" + std::to_string(++last_pod_);
  CreatePod(MakePod(std::move(name)));
}

void PodActs::Delete() {
  const PodSketch* pod = PickPod();
  if (pod == nullptr) return;
  std::optional<int64_t> grace;
  if (random_.OneIn(2)) grace = 0;
  writer_.TraceAct("delete pod", pod->name, grace ? "immediately" : "");
  writer_.cluster().DeletePod({kNs, pod->name, {}}, grace, nullptr);
}

void PodActs::Replace() {
  const PodSketch* pod = PickPod();
  if (pod == nullptr) return;
  const std::string name = pod->name;
  writer_.TraceAct("replace pod", name);
  writer_.cluster().DeletePod({kNs, name, {}}, 0, nullptr);
  CreatePod(MakePod(name));
}

void PodActs::Relabel() {
  PodSketch* pod = PickPod();
  if (pod == nullptr) return;
  for (const char* label : {"a.preenqueue", "b.preenqueue", "a.filter", "b.filter"}) {
    if (random_.OneIn(2) && pod->labels.erase(label) > 0)
      writer_.TraceAct("remove label", pod->name, label);
  }
  pod->labels["color"] = random_.Pick(kColors);
  writer_.TraceAct("relabel pod", pod->name);
  Update(*pod);
}

void PodActs::AddToleration() {
  PodSketch* pod = PickPod();
  if (pod == nullptr) return;
  pod->tolerations.emplace_back(random_.OneIn(4) ? kCordonTaint : random_.Pick(kTaints));
  writer_.TraceAct("add toleration", pod->name, pod->tolerations.back());
  Update(*pod);
}

void PodActs::RemoveGate() {
  std::vector<PodSketch*> gated;
  for (auto& [name, pod] : pods_) {
    if (!pod.gates.empty()) gated.push_back(&pod);
  }
  if (gated.empty()) return;
  PodSketch& pod = *random_.Pick(gated);
  pod.gates.pop_back();
  writer_.TraceAct("remove gate", pod.name);
  Update(pod);
}

void PodActs::Shrink() {
  PodSketch* pod = PickPod();
  if (pod == nullptr || pod->milli_cpu < 200) return;
  pod->milli_cpu /= 2;
  writer_.TraceAct("shrink pod", pod->name);
  Update(*pod);
}

void PodActs::Finish() {
  PodSketch* pod = PickPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->node_name().empty()) return;
  writer_.TraceAct("finish pod", pod->name);
  pod->has_succeeded = true;
  Update(*pod);
}

void PodActs::FinishDeletions() {
  for (const PodRef& pod : Terminating()) {
    if (!random_.OneIn(3)) FinishDeletion(*pod);
  }
}

void PodActs::FinishAllDeletions() {
  for (const PodRef& pod : Terminating()) FinishDeletion(*pod);
}

std::vector<PodRef> PodActs::Terminating() const {
  std::vector<PodRef> terminating;
  for (const AnyObject& object : writer_.cluster().List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (pod->terminating()) terminating.push_back(pod);
  }
  return terminating;
}

void PodActs::FinishDeletion(const Pod& pod) {
  writer_.TraceAct("complete deletion of pod", pod.name());
  BERTH_ASSERT(writer_.cluster().FinishDeletion(NameOf(pod)).ok());
}

void PodActs::MarkTerminating() {
  const PodSketch* pod = PickPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->terminating() || HasFinished(*stored)) return;
  writer_.TraceAct("mark as terminating", pod->name);
  ServerMeta meta = MetaOf(*stored);
  meta.deleted_ns = stored->meta().created_ns + 30 * kSecond;
  BERTH_ASSERT(writer_.cluster().Put(WithMeta(stored, meta)).ok());
}

void PodActs::Nominate() {
  const PodSketch* pod = PickPod();
  const NodeSketch* node = nodes_.PickNode();
  if (pod == nullptr) return;
  const std::string where = node != nullptr && !random_.OneIn(3) ? node->name : "";
  const PodRef stored = Stored(*pod);
  if (stored == nullptr || !stored->node_name().empty()) return;
  writer_.TraceAct("nominate", pod->name, where.empty() ? "(clear)" : where);
  PodStatusPatch patch;
  patch.nominated_node = where;
  writer_.cluster().PatchPodStatus({kNs, pod->name, {}}, patch, nullptr);
}

void PodActs::BindAsOtherScheduler() {
  const PodSketch* pod = PickPod();
  const NodeSketch* node = nodes_.PickNode();
  if (pod == nullptr || node == nullptr) return;
  writer_.TraceAct("bind as another scheduler", pod->name, node->name);
  writer_.cluster().Bind({kNs, pod->name, {}}, node->name, nullptr);
}

void PodActs::BindForeignPod() {
  const NodeSketch* node = nodes_.PickNode();
  if (node == nullptr || pods_.size() >= scenario_.max_pods) return;
  PodSketch pod = MakePod("p" + std::to_string(++last_pod_));
  pod.scheduler = kOtherScheduler;
  pod.gates.clear();
  CreatePod(pod);
  writer_.TraceAct("bind pod of another scheduler", pod.name, node->name);
  writer_.cluster().Bind({kNs, pod.name, {}}, node->name, nullptr);
}

}  // namespace berth::host
