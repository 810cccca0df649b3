#include "tests/simulation/node_acts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/api/objects.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr std::array kEffects{"NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"};

}  // namespace

NodeSketch NodeActs::MakeNode(std::string name) {
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

NodeSketch* NodeActs::PickNode() {
  if (nodes_.empty()) return nullptr;
  auto found = nodes_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random_.Below(nodes_.size())));
  return &found->second;
}

void NodeActs::Create(const NodeSketch& node) {
  const std::string text = node.Json();
  writer_.TraceAct("create node", node.name, text);
  writer_.Create(text);
  nodes_[node.name] = node;
  removed_nodes_.erase(node.name);
  storage_.OnNodeAdded(node.name);
}

void NodeActs::Update(const NodeSketch& node) { writer_.Update(node.Json()); }

// ---- Acts ---------------------------------------------------------------------------------------

void NodeActs::Add() {
  if (nodes_.size() >= scenario_.max_nodes) return Remove();
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

void NodeActs::Remove() {
  const NodeSketch* node = PickNode();
  if (node == nullptr || removed_nodes_.size() >= scenario_.max_nodes) return;
  const std::string name = node->name;
  writer_.TraceAct("remove node", name);
  removed_nodes_[name] = *node;
  nodes_.erase(name);
  BERTH_ASSERT(writer_.cluster().Delete(kNodeKind, "", name).ok());
  storage_.OnNodeRemoved(name);
}

void NodeActs::Replace() {
  const NodeSketch* node = PickNode();
  if (node == nullptr) return;
  const NodeSketch again = *node;
  writer_.TraceAct("replace node", again.name);
  BERTH_ASSERT(writer_.cluster().Delete(kNodeKind, "", again.name).ok());
  storage_.OnNodeRemoved(again.name);
  Create(again);
}

void NodeActs::Cordon() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  node->unschedulable = !node->unschedulable;
  writer_.TraceAct(node->unschedulable ? "cordon" : "uncordon", node->name);
  Update(*node);
}

void NodeActs::Taint() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  const std::string key = random_.Pick(kTaints);
  if (node->taints.erase(key) == 0) node->taints[key] = random_.Pick(kEffects);
  writer_.TraceAct(node->taints.contains(key) ? "taint" : "untaint", node->name, key);
  Update(*node);
}

void NodeActs::Relabel() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  if (node->labels.erase("zone") == 0 || random_.OneIn(2))
    node->labels["zone"] = random_.Pick(kZones);
  writer_.TraceAct("relabel node", node->name);
  Update(*node);
}

void NodeActs::Grow() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  switch (random_.Below(4)) {
    case 0: node->milli_cpu += 500; break;
    case 1: node->memory_mib += 512; break;
    case 2: node->pods += 2; break;
    default: node->gpus += 1; break;
  }
  writer_.TraceAct("grow", node->name);
  Update(*node);
}

void NodeActs::Shrink() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  switch (random_.Below(4)) {
    case 0: node->milli_cpu /= 2; break;
    case 1: node->memory_mib /= 2; break;
    case 2: node->pods /= 2; break;
    default: node->gpus = 0; break;
  }
  writer_.TraceAct("shrink", node->name);
  Update(*node);
}

void NodeActs::Touch() {
  NodeSketch* node = PickNode();
  if (node == nullptr) return;
  node->annotations["touched"] = std::to_string(++last_touch_);
  writer_.TraceAct("touch", node->name);
  Update(*node);
}

void NodeActs::ChangeCsiNode() {
  const NodeSketch* node = PickNode();
  if (node != nullptr) storage_.ChangeCsiNode(node->name);
}

}  // namespace berth::host
