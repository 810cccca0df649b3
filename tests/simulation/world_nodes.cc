// What happens to nodes.
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "tests/simulation/world.h"

namespace berth::host {
namespace {

constexpr std::array kTaints{"t0", "t1", "t2"};
constexpr std::array kEffects{"NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"};
constexpr std::array kZones{"a", "b", "c"};

}  // namespace

NodeSketch World::MakeNode(std::string name) {
  NodeSketch node;
  node.name = std::move(name);
  node.milli_cpu = 500 * dice_.Between(1, 10);
  node.memory_mib = 512 * dice_.Between(1, 10);
  node.pods = dice_.Between(1, 8);
  if (dice_.OneIn(3)) node.gpus = dice_.Between(1, 4);
  if (dice_.OneIn(8)) node.unschedulable = true;
  if (dice_.OneIn(4)) node.taints[dice_.OneOf(kTaints)] = dice_.OneOf(kEffects);
  if (!dice_.OneIn(5)) node.labels["zone"] = dice_.OneOf(kZones);
  return node;
}

NodeSketch* World::AnyNode() {
  if (nodes_.empty()) return nullptr;
  auto found = nodes_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(dice_.Below(nodes_.size())));
  return &found->second;
}

void World::Create(const NodeSketch& node) {
  const std::string text = node.Json();
  Say("create node", node.name, text);
  auto object = decoder_.DecodeNode(text);
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto created = cluster_.Create(*std::move(object));
  BERTH_ASSERT_MSG(created.ok(), "%s", created.status().ToString().c_str());
  nodes_[node.name] = node;
  gone_nodes_.erase(node.name);
  OnNodeAdded(node.name);
}

void World::Put(const NodeSketch& node) {
  auto object = decoder_.DecodeNode(node.Json());
  BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
  const auto updated = cluster_.Update(*std::move(object));
  BERTH_ASSERT_MSG(updated.ok(), "%s", updated.status().ToString().c_str());
}

// A new one, or one that was there before: with what it had, for its pods may still be there.
void World::AddNode() {
  if (nodes_.size() >= scenario_.max_nodes) return RemoveNode();
  if (!gone_nodes_.empty() && dice_.OneIn(2)) {
    auto found = gone_nodes_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(dice_.Below(gone_nodes_.size())));
    const NodeSketch node = found->second;
    return Create(node);
  }
  std::string name;
  do {
    name = "n" + std::to_string(dice_.Below(2 * scenario_.max_nodes));
  } while (nodes_.contains(name) || gone_nodes_.contains(name));
  Create(MakeNode(std::move(name)));
}

void World::RemoveNode() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr || gone_nodes_.size() >= scenario_.max_nodes) return;
  const std::string name = node->name;
  Say("remove node", name);
  gone_nodes_[name] = *node;
  nodes_.erase(name);
  BERTH_ASSERT(cluster_.Delete(kNodeKind, "", name).ok());
  OnNodeGone(name);
}

// Removed and added at once: another uid.
void World::ReplaceNode() {
  const NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  const NodeSketch again = *node;
  Say("replace node", again.name);
  BERTH_ASSERT(cluster_.Delete(kNodeKind, "", again.name).ok());
  OnNodeGone(again.name);
  Create(again);
}

void World::Cordon() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  node->unschedulable = !node->unschedulable;
  Say(node->unschedulable ? "cordon" : "uncordon", node->name);
  Put(*node);
}

void World::Taint() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  const std::string key = dice_.OneOf(kTaints);
  if (node->taints.erase(key) == 0) node->taints[key] = dice_.OneOf(kEffects);
  Say(node->taints.contains(key) ? "taint" : "untaint", node->name, key);
  Put(*node);
}

void World::RelabelNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  if (node->labels.erase("zone") == 0 || dice_.OneIn(2)) node->labels["zone"] = dice_.OneOf(kZones);
  Say("relabel node", node->name);
  Put(*node);
}

void World::GrowNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  switch (dice_.Below(4)) {
    case 0: node->milli_cpu += 500; break;
    case 1: node->memory_mib += 512; break;
    case 2: node->pods += 2; break;
    default: node->gpus += 1; break;
  }
  Say("grow", node->name);
  Put(*node);
}

void World::ShrinkNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  switch (dice_.Below(4)) {
    case 0: node->milli_cpu /= 2; break;
    case 1: node->memory_mib /= 2; break;
    case 2: node->pods /= 2; break;
    default: node->gpus = 0; break;
  }
  Say("shrink", node->name);
  Put(*node);
}

// Nothing that a pod could care about.
void World::TouchNode() {
  NodeSketch* node = AnyNode();
  if (node == nullptr) return;
  node->annotations["touched"] = std::to_string(++last_touch_);
  Say("touch", node->name);
  Put(*node);
}

}  // namespace berth::host
