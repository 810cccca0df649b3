#include "tests/simulation/world.h"

#include <array>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

constexpr const char* kNs = "default";
constexpr const char* kOtherScheduler = "other-scheduler";
constexpr std::array kGroups{"trio", "band"};
constexpr const char* kCordonTaint = "node.kubernetes.io/unschedulable";

}  // namespace

World::World(const Scenario& scenario, Random random, Decoder& decoder, EmbeddedCluster& cluster,
             std::function<std::vector<std::string>()> in_binding, Trace& trace)
    : scenario_(scenario),
      random_(random),
      decoder_(decoder),
      cluster_(cluster),
      in_binding_(std::move(in_binding)),
      trace_(trace) {
  acts_ = {{30, &World::CreatePod},  {10, &World::DeletePod},   {6, &World::ReplacePod},
           {8, &World::RelabelPod},  {4, &World::TolerateMore}, {8, &World::RemoveGate},
           {3, &World::ShrinkPod},   {8, &World::FinishPod},    {10, &World::FinishDeletions},
           {2, &World::MarkDeleted}, {4, &World::Nominate},     {5, &World::AddNode},
           {3, &World::RemoveNode},  {3, &World::ReplaceNode},  {6, &World::Cordon},
           {6, &World::Taint},       {4, &World::RelabelNode},  {4, &World::GrowNode},
           {2, &World::TouchNode}};
  if (scenario.has_other_schedulers) {
    acts_.insert(acts_.end(),
                 {{4, &World::BindAsOther}, {4, &World::BindForeign}, {3, &World::ShrinkNode}});
  }
  if (scenario.has_volumes) {
    acts_.insert(acts_.end(), {{20, &World::ChangeClaim},
                               {6, &World::ChangeVolume},
                               {2, &World::ChangeClass},
                               {4, &World::ChangeCsiNode}});
  }
  for (const WeightedAct& act : acts_) total_weight_ += act.weight;
}

void World::Populate() {
  PopulateVolumes();
  const size_t nodes = random_.Below(scenario_.max_nodes + 1);
  for (size_t i = 0; i < nodes; ++i) AddNode();
  const size_t pods = random_.Below(scenario_.max_pods);
  for (size_t i = 0; i < pods; ++i) CreatePod();
}

void World::PerformAct() {
  size_t left = random_.Below(total_weight_);
  for (const WeightedAct& act : acts_) {
    if (left < act.weight) return (this->*act.function)();
    left -= act.weight;
  }
}

void World::FinishAllDeletions() {
  for (const PodRef& pod : Terminating()) Finish(*pod);
}

// ---- Pods ---------------------------------------------------------------------------------------

PodSketch World::MakePod(std::string name) {
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
  pod.labels["color"] = random_.OneIn(2) ? "red" : "blue";
  MakeVolumes(pod);
  if (scenario_.has_chaos && random_.OneIn(2)) MakeChaos(pod);
  return pod;
}

// Adds random instructions for test.ChaosA and test.ChaosB; see chaos_plugin.cc.
void World::MakeChaos(PodSketch& pod) {
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
PodSketch* World::AnyPod() {
  if (random_.OneIn(2)) {
    const std::vector<std::string> names = in_binding_();
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

PodRef World::Stored(const PodSketch& pod) const { return cluster_.FindPod(kNs, pod.name); }

void World::TraceAct(std::string_view act, std::string_view name, std::string_view details) {
  trace_.Line("world: ", act, " ", name, details.empty() ? "" : " ", details);
}

void World::Create(const PodSketch& pod) {
  const std::string text = pod.Json(nullptr);
  TraceAct("create pod", pod.name, text);
  auto object = decoder_.DecodePod(text);
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto created = cluster_.Create(*std::move(object));
  BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
  pods_[pod.name] = pod;
}

void World::Put(const PodSketch& pod) {
  const PodRef stored = Stored(pod);
  if (stored == nullptr) return;
  auto object = decoder_.DecodePod(pod.Json(stored.get()));
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto updated = cluster_.Update(*std::move(object));
  BERTH_ASSERT_MSG(updated.ok(), "%s", updated.status().ToString().c_str());
}

void World::CreatePod() {
  if (pods_.size() >= scenario_.max_pods) return DeletePod();
  std::string name = "p" + std::to_string(++last_pod_);
  Create(MakePod(std::move(name)));
}

void World::DeletePod() {
  const PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  std::optional<int64_t> grace;
  if (random_.OneIn(2)) grace = 0;
  TraceAct("delete pod", pod->name, grace ? "immediately" : "");
  cluster_.DeletePod({kNs, pod->name, {}}, grace, nullptr);
}

// Replaces a pod by another one with the same name and another uid.
void World::ReplacePod() {
  const PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  const std::string name = pod->name;
  TraceAct("replace pod", name);
  cluster_.DeletePod({kNs, name, {}}, 0, nullptr);
  Create(MakePod(name));
}

void World::RelabelPod() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  for (const char* label : {"a.preenqueue", "b.preenqueue", "a.filter", "b.filter"}) {
    if (random_.OneIn(2) && pod->labels.erase(label) > 0)
      TraceAct("remove label", pod->name, label);
  }
  pod->labels["color"] = random_.OneIn(2) ? "red" : "blue";
  TraceAct("relabel pod", pod->name);
  Put(*pod);
}

void World::TolerateMore() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  pod->tolerations.emplace_back(random_.OneIn(4) ? kCordonTaint : random_.Pick(kTaints));
  TraceAct("add toleration", pod->name, pod->tolerations.back());
  Put(*pod);
}

void World::RemoveGate() {
  std::vector<PodSketch*> gated;
  for (auto& [name, pod] : pods_) {
    if (!pod.gates.empty()) gated.push_back(&pod);
  }
  if (gated.empty()) return;
  PodSketch& pod = *random_.Pick(gated);
  pod.gates.pop_back();
  TraceAct("remove gate", pod.name);
  Put(pod);
}

// Resizes a pod in place to half of its cpu.
void World::ShrinkPod() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr || pod->milli_cpu < 200) return;
  pod->milli_cpu /= 2;
  TraceAct("shrink pod", pod->name);
  Put(*pod);
}

void World::FinishPod() {
  PodSketch* pod = AnyPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->node_name().empty()) return;
  TraceAct("finish pod", pod->name);
  pod->has_succeeded = true;
  Put(*pod);
}

// Completes some deletions, as kubelets do.
void World::FinishDeletions() {
  for (const PodRef& pod : Terminating()) {
    if (!random_.OneIn(3)) Finish(*pod);
  }
}

std::vector<PodRef> World::Terminating() const {
  std::vector<PodRef> terminating;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (pod->terminating()) terminating.push_back(pod);
  }
  return terminating;
}

void World::Finish(const Pod& pod) {
  TraceAct("complete deletion of pod", pod.name());
  BERTH_ASSERT(cluster_.FinishDeletion(NameOf(pod)).ok());
}

// Marks a pod as terminating although it may have no node, as if finalizers kept it.
void World::MarkDeleted() {
  const PodSketch* pod = AnyPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->terminating() || HasFinished(*stored)) return;
  TraceAct("mark as terminating", pod->name);
  ServerMeta meta = MetaOf(*stored);
  meta.deleted_ns = stored->meta().created_ns + 30 * kSecond;
  BERTH_ASSERT(cluster_.Put(WithMeta(stored, meta)).ok());
}

// Nominates a pod to a node or clears its nomination, as a cluster autoscaler does.
void World::Nominate() {
  const PodSketch* pod = AnyPod();
  const NodeSketch* node = AnyNode();
  if (pod == nullptr) return;
  const std::string where = node != nullptr && !random_.OneIn(3) ? node->name : "";
  const PodRef stored = Stored(*pod);
  if (stored == nullptr || !stored->node_name().empty()) return;
  TraceAct("nominate", pod->name, where.empty() ? "(clear)" : where);
  PodStatusPatch patch;
  patch.nominated_node = where;
  cluster_.PatchPodStatus({kNs, pod->name, {}}, patch, nullptr);
}

void World::BindAsOther() {
  const PodSketch* pod = AnyPod();
  const NodeSketch* node = AnyNode();
  if (pod == nullptr || node == nullptr) return;
  TraceAct("bind as another scheduler", pod->name, node->name);
  cluster_.Bind({kNs, pod->name, {}}, node->name, nullptr);
}

void World::BindForeign() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr || pods_.size() >= scenario_.max_pods) return;
  PodSketch pod = MakePod("p" + std::to_string(++last_pod_));
  pod.scheduler = kOtherScheduler;
  pod.gates.clear();
  Create(pod);
  TraceAct("bind pod of another scheduler", pod.name, node->name);
  cluster_.Bind({kNs, pod.name, {}}, node->name, nullptr);
}

}  // namespace berth::host
