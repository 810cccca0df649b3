#include "tests/simulation/world.h"

#include <array>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

constexpr const char* kNs = "default";
constexpr const char* kForeign = "other-scheduler";
constexpr std::array kTaints{"t0", "t1", "t2"};
constexpr std::array kGroups{"trio", "band"};
constexpr std::array kZones{"a", "b", "c"};
constexpr const char* kCordonTaint = "node.kubernetes.io/unschedulable";

bool IsOver(const Pod& pod) {
  return pod.view().phase == BERTH_PHASE_SUCCEEDED || pod.view().phase == BERTH_PHASE_FAILED;
}

}  // namespace

World::World(const Scenario& scenario, Dice dice, Decoder& decoder, EmbeddedCluster& cluster,
             std::function<std::vector<std::string>()> busy, Trace& trace)
    : scenario_(scenario),
      dice_(dice),
      decoder_(decoder),
      cluster_(cluster),
      busy_(std::move(busy)),
      trace_(trace) {
  deeds_ = {{30, &World::CreatePod},  {10, &World::DeletePod},   {6, &World::ReplacePod},
            {8, &World::RelabelPod},  {4, &World::TolerateMore}, {8, &World::TakeGateOff},
            {3, &World::ShrinkPod},   {8, &World::FinishPod},    {10, &World::FinishDeletions},
            {2, &World::MarkDeleted}, {4, &World::Nominate},     {5, &World::AddNode},
            {3, &World::RemoveNode},  {3, &World::ReplaceNode},  {6, &World::Cordon},
            {6, &World::Taint},       {4, &World::RelabelNode},  {4, &World::GrowNode},
            {2, &World::TouchNode}};
  if (scenario.has_outsiders) {
    deeds_.insert(deeds_.end(),
                  {{4, &World::BindAsOther}, {4, &World::BindForeign}, {3, &World::ShrinkNode}});
  }
  if (scenario.has_volumes) {
    deeds_.insert(deeds_.end(), {{20, &World::ChangeClaim},
                                 {6, &World::ChangeVolume},
                                 {2, &World::ChangeClass},
                                 {4, &World::ChangeCsiNode}});
  }
  for (const Weighted& deed : deeds_) total_weight_ += deed.weight;
}

void World::Populate() {
  PopulateVolumes();
  const size_t nodes = dice_.Below(scenario_.max_nodes + 1);
  for (size_t i = 0; i < nodes; ++i) AddNode();
  const size_t pods = dice_.Below(scenario_.max_pods);
  for (size_t i = 0; i < pods; ++i) CreatePod();
}

void World::Act() {
  size_t left = dice_.Below(total_weight_);
  for (const Weighted& deed : deeds_) {
    if (left < deed.weight) return (this->*deed.deed)();
    left -= deed.weight;
  }
}

void World::Calm() {
  for (const PodRef& pod : Terminating()) Finish(*pod);
}

// ---- Pods ---------------------------------------------------------------------------------------

PodSketch World::MakePod(std::string name) {
  PodSketch pod;
  pod.name = std::move(name);
  pod.scheduler = dice_.OneIn(12) ? kForeign : dice_.OneOf(scenario_.profiles);
  if (!dice_.OneIn(5)) pod.milli_cpu = 100 * dice_.Between(1, 12);
  if (!dice_.OneIn(5)) pod.memory_mib = 64 * dice_.Between(1, 20);
  if (dice_.OneIn(8)) pod.gpus = dice_.Between(1, 3);
  if (dice_.OneIn(3)) pod.priority = static_cast<int32_t>(dice_.Between(-5, 5));
  if (dice_.OneIn(8)) pod.host_port = static_cast<int32_t>(8000 + dice_.Below(3));
  if (dice_.OneIn(4)) pod.tolerations.emplace_back(dice_.OneOf(kTaints));
  if (dice_.OneIn(12)) pod.tolerations.emplace_back(kCordonTaint);
  if (dice_.OneIn(5)) pod.node_selector["zone"] = dice_.OneOf(kZones);
  for (size_t gates = dice_.OneIn(6) ? 1 + dice_.Below(2) : 0; gates > 0; --gates) {
    pod.gates.push_back("gate-" + std::to_string(gates));
  }
  // Members of two profiles would be an error for ever.
  if (dice_.OneIn(5)) pod.group = dice_.OneOf(kGroups) + ("-of-" + pod.scheduler);
  pod.labels["color"] = dice_.OneIn(2) ? "red" : "blue";
  MakeVolumes(pod);
  if (scenario_.has_chaos && dice_.OneIn(2)) MakeChaos(pod);
  return pod;
}

// What test.ChaosA and test.ChaosB are told: see chaos_plugin.cc.
void World::MakeChaos(PodSketch& pod) {
  static constexpr std::array kOrders{std::pair{"prefilter", "error"},
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
                                      std::pair{"permit", "forget"},
                                      std::pair{"permit", "group"},
                                      std::pair{"prebind", "now"},
                                      std::pair{"prebind", "later"},
                                      std::pair{"prebind", "later"},
                                      std::pair{"prebind", "fail"},
                                      std::pair{"prebind", "error"},
                                      std::pair{"prebind", "throw"},
                                      std::pair{"prebind", "reject"},
                                      std::pair{"prebind", "drop"},
                                      std::pair{"prebind", "flight"},
                                      std::pair{"bind", "api"},
                                      std::pair{"bind", "later"},
                                      std::pair{"bind", "error"},
                                      std::pair{"bind", "throw"},
                                      std::pair{"bind", "reject"},
                                      std::pair{"bind", "drop"}};
  static constexpr std::array kAnswers{"no", "no", "pending", "error"};
  for (const char* letter : {"a.", "b."}) {
    for (size_t orders = dice_.Below(3); orders > 0; --orders) {
      const auto& [point, what] = dice_.OneOf(kOrders);
      pod.annotations[std::string(letter) + point] =
          std::string(what) + " " + std::to_string(dice_.Between(1, 3) * (dice_.OneIn(4) ? 8 : 1));
    }
    if (dice_.OneIn(8)) pod.labels[std::string(letter) + "held"] = dice_.OneOf(kAnswers);
    if (dice_.OneIn(8)) pod.labels[std::string(letter) + "refused"] = dice_.OneOf(kAnswers);
  }
  pod.labels["group"] = dice_.OneIn(2) ? "g1" : "g2";
}

// Half of the time one that is just being placed.
PodSketch* World::AnyPod() {
  if (dice_.OneIn(2)) {
    const std::vector<std::string> busy = busy_();
    if (!busy.empty()) {
      const auto found = pods_.find(dice_.OneOf(busy));
      if (found != pods_.end()) return &found->second;
    }
  }
  if (pods_.empty()) return nullptr;
  auto found = pods_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(dice_.Below(pods_.size())));
  if (Stored(found->second) != nullptr) return &found->second;
  pods_.erase(found);
  return nullptr;
}

PodRef World::Stored(const PodSketch& pod) const { return cluster_.FindPod(kNs, pod.name); }

void World::Say(std::string_view what, std::string_view whom, std::string_view more) {
  trace_.Line("world: ", what, " ", whom, more.empty() ? "" : " ", more);
}

void World::Create(const PodSketch& pod) {
  const std::string text = pod.Json(nullptr);
  Say("create pod", pod.name, text);
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
  if (dice_.OneIn(2)) grace = 0;
  Say("delete pod", pod->name, grace ? "at once" : "");
  cluster_.DeletePod({kNs, pod->name, {}}, grace, nullptr);
}

// Under the same name, with another uid.
void World::ReplacePod() {
  const PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  const std::string name = pod->name;
  Say("replace pod", name);
  cluster_.DeletePod({kNs, name, {}}, 0, nullptr);
  Create(MakePod(name));
}

void World::RelabelPod() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  for (const char* label : {"a.held", "b.held", "a.refused", "b.refused"}) {
    if (dice_.OneIn(2) && pod->labels.erase(label) > 0) Say("take off", pod->name, label);
  }
  pod->labels["color"] = dice_.OneIn(2) ? "red" : "blue";
  Say("relabel pod", pod->name);
  Put(*pod);
}

void World::TolerateMore() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr) return;
  pod->tolerations.emplace_back(dice_.OneIn(4) ? kCordonTaint : dice_.OneOf(kTaints));
  Say("tolerate", pod->name, pod->tolerations.back());
  Put(*pod);
}

void World::TakeGateOff() {
  std::vector<PodSketch*> gated;
  for (auto& [name, pod] : pods_) {
    if (!pod.gates.empty()) gated.push_back(&pod);
  }
  if (gated.empty()) return;
  PodSketch& pod = *dice_.OneOf(gated);
  pod.gates.pop_back();
  Say("take a gate off", pod.name);
  Put(pod);
}

// A resize in place, downwards.
void World::ShrinkPod() {
  PodSketch* pod = AnyPod();
  if (pod == nullptr || pod->milli_cpu < 200) return;
  pod->milli_cpu /= 2;
  Say("shrink pod", pod->name);
  Put(*pod);
}

void World::FinishPod() {
  PodSketch* pod = AnyPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->node_name().empty()) return;
  Say("finish pod", pod->name);
  pod->is_over = true;
  Put(*pod);
}

// The kubelets'.
void World::FinishDeletions() {
  for (const PodRef& pod : Terminating()) {
    if (!dice_.OneIn(3)) Finish(*pod);
  }
}

std::vector<PodRef> World::Terminating() const {
  std::vector<PodRef> going;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (pod->terminating()) going.push_back(pod);
  }
  return going;
}

void World::Finish(const Pod& pod) {
  Say("gone is pod", pod.name());
  BERTH_ASSERT(cluster_.FinishDeletion(NameOf(pod)).ok());
}

// Finalizers hold it: it is being deleted and has no node.
void World::MarkDeleted() {
  const PodSketch* pod = AnyPod();
  const PodRef stored = pod != nullptr ? Stored(*pod) : nullptr;
  if (stored == nullptr || stored->terminating() || IsOver(*stored)) return;
  Say("mark as deleted", pod->name);
  ServerMeta meta = MetaOf(*stored);
  meta.deleted_ns = stored->meta().created_ns + 30 * kSecond;
  BERTH_ASSERT(cluster_.Put(WithMeta(stored, meta)).ok());
}

// As a cluster autoscaler does.
void World::Nominate() {
  const PodSketch* pod = AnyPod();
  const NodeSketch* node = AnyNode();
  if (pod == nullptr) return;
  const std::string where = node != nullptr && !dice_.OneIn(3) ? node->name : "";
  const PodRef stored = Stored(*pod);
  if (stored == nullptr || !stored->node_name().empty()) return;
  Say("nominate", pod->name, where.empty() ? "nowhere" : where);
  PodStatusPatch patch;
  patch.nominated_node = where;
  cluster_.PatchPodStatus({kNs, pod->name, {}}, patch, nullptr);
}

void World::BindAsOther() {
  const PodSketch* pod = AnyPod();
  const NodeSketch* node = AnyNode();
  if (pod == nullptr || node == nullptr) return;
  Say("bind as another", pod->name, node->name);
  cluster_.Bind({kNs, pod->name, {}}, node->name, nullptr);
}

void World::BindForeign() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr || pods_.size() >= scenario_.max_pods) return;
  PodSketch pod = MakePod("p" + std::to_string(++last_pod_));
  pod.scheduler = kForeign;
  pod.gates.clear();
  Create(pod);
  Say("bind elsewhere's", pod.name, node->name);
  cluster_.Bind({kNs, pod.name, {}}, node->name, nullptr);
}

}  // namespace berth::host
