// The acts of World on nodes.
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "tests/simulation/world.h"

namespace berth::host {
namespace {

constexpr std::array kEffects{"NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"};

}  // namespace

NodeSketch World::MakeNode(std::string name) {
  NodeSketch node;
  node.name = std::move(name);
  node.milli_cpu = 500 * random_.Between(1, 10);
  node.memory_mib = 512 * random_.Between(1, 10);
  node.pods = random_.Between(1, 8);
  if (random_.OneIn(3)) node.gpus = random_.Between(1, 4);
  if (random_.OneIn(8)) node.unschedulable = true;
  if (random_.OneIn(4)) node.taints[random_.Pick(kTaints)] = random_.Pick(kEffects);
  if (!random_.OneIn(5)) node.labels["zone"] = random_.Pick(kZones);
  return node;
}

NodeSketch* World::AnyNode() {
  if (nodes_.empty()) return nullptr;
  auto found = nodes_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random_.Below(nodes_.size())));
  return &found->second;
}

void World::Create(const NodeSketch& node) {
  const std::string text = node.Json();
  TraceAct("create node", node.name, text);
  auto object = decoder_.DecodeNode(text);
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto created = cluster_.Create(*std::move(object));
  BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
  nodes_[node.name] = node;
  removed_nodes_.erase(node.name);
  OnNodeAdded(node.name);
}

void World::Put(const NodeSketch& node) {
  auto object = decoder_.DecodeNode(node.Json());
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto updated = cluster_.Update(*std::move(object));
  BERTH_ASSERT_MSG(updated.ok(), "%s", updated.status().ToString().c_str());
}

// Adds a new node, or a removed one as it was before, because it may still have pods.
void World::AddNode() {
  if (nodes_.size() >= scenario_.max_nodes) return RemoveNode();
  if (!removed_nodes_.empty() && random_.OneIn(2)) {
    auto found = removed_nodes_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(random_.Below(removed_nodes_.size())));
    const NodeSketch node = found->second;
    return Create(node);
  }
  std::string name;
  do {
    name = "n" + std::to_string(random_.Below(2 * scenario_.max_nodes));
  } while (nodes_.contains(name) || removed_nodes_.contains(name));
  Create(MakeNode(std::move(name)));
}

void World::RemoveNode() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr || removed_nodes_.size() >= scenario_.max_nodes) return;
  const std::string name = node->name;
  TraceAct("remove node", name);
  removed_nodes_[name] = *node;
  nodes_.erase(name);
  BERTH_ASSERT(cluster_.Delete(kNodeKind, "", name).ok());
  OnNodeRemoved(name);
}

// Removes a node and immediately adds it again with another uid.
void World::ReplaceNode() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  const NodeSketch again = *node;
  TraceAct("replace node", again.name);
  BERTH_ASSERT(cluster_.Delete(kNodeKind, "", again.name).ok());
  OnNodeRemoved(again.name);
  Create(again);
}

void World::Cordon() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  node->unschedulable = !node->unschedulable;
  TraceAct(node->unschedulable ? "cordon" : "uncordon", node->name);
  Put(*node);
}

void World::Taint() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  const std::string key = random_.Pick(kTaints);
  if (node->taints.erase(key) == 0) node->taints[key] = random_.Pick(kEffects);
  TraceAct(node->taints.contains(key) ? "taint" : "untaint", node->name, key);
  Put(*node);
}

void World::RelabelNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  if (node->labels.erase("zone") == 0 || random_.OneIn(2))
    node->labels["zone"] = random_.Pick(kZones);
  TraceAct("relabel node", node->name);
  Put(*node);
}

void World::GrowNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  switch (random_.Below(4)) {
    case 0: node->milli_cpu += 500; break;
    case 1: node->memory_mib += 512; break;
    case 2: node->pods += 2; break;
    default: node->gpus += 1; break;
  }
  TraceAct("grow", node->name);
  Put(*node);
}

void World::ShrinkNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  switch (random_.Below(4)) {
    case 0: node->milli_cpu /= 2; break;
    case 1: node->memory_mib /= 2; break;
    case 2: node->pods /= 2; break;
    default: node->gpus = 0; break;
  }
  TraceAct("shrink", node->name);
  Put(*node);
}

// Changes an annotation of a node, which does not affect scheduling.
void World::TouchNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  node->annotations["touched"] = std::to_string(++last_touch_);
  TraceAct("touch", node->name);
  Put(*node);
}

}  // namespace berth::host
