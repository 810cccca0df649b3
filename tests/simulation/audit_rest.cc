// Checks that must hold when no event, request or binding is in flight.
#include <algorithm>
#include <map>
#include <utility>

#include "tests/simulation/audit.h"
#include "tests/simulation/sketch.h"

namespace berth::host {
namespace {

struct Sums {
  int64_t cpu = 0, memory = 0, gpus = 0, count = 0, nonzero_cpu = 0, nonzero_memory = 0;

  void Add(const Pod& pod) {
    const berth_resources& holds = *pod.view().accounted;
    cpu += holds.milli_cpu;
    memory += holds.memory;
    for (const auto& scalar : Elements<berth_quantity>(holds.scalars)) {
      if (pod.Name(scalar.name) == kGpu) gpus += scalar.value;
    }
    ++count;
    nonzero_cpu += pod.view().nonzero_milli_cpu;
    nonzero_memory += pod.view().nonzero_memory;
  }
};

}  // namespace

bool IsRejectedByPreEnqueue(const Pod& pod) {
  if (pod.view().scheduling_gates.count > 0) return true;
  const auto labels = Elements<berth_id_pair>(pod.meta().labels);
  return std::ranges::any_of(labels, [&pod](const berth_id_pair& label) {
    return pod.Name(label.key) == "a.preenqueue" || pod.Name(label.key) == "b.preenqueue";
  });
}

void Audit::CheckRoom() {
  for (const AnyObject& node : cluster_.List(kNodeKind)) CheckRoomOn(Base(node).name());
}

void Audit::CheckRoomOn(std::string_view name) {
  const NodeRef node = cluster_.FindNode(name);
  if (scenario_.has_other_schedulers || node == nullptr) return;
  Sums sum;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    if (pod.node_name() == name && !HasFinished(pod)) sum.Add(pod);
  }
  const berth_resources& has = *node->view().allocatable;
  int64_t gpus = 0;
  for (const auto& scalar : Elements<berth_quantity>(has.scalars)) gpus += scalar.value;
  if (sum.cpu <= has.milli_cpu && sum.memory <= has.memory && sum.gpus <= gpus &&
      sum.count <= has.pods) {
    return;
  }
  AddFinding("node " + std::string(name) + " is overcommitted");
}

void Audit::CheckRest() {
  if (!loop_->bindings().empty()) AddFinding("at rest, but bindings are in flight");
  if (loop_->cache().assumed_count() > 0) AddFinding("at rest, but pods are assumed");
  if (!open_binds_.empty()) AddFinding("at rest, but bind requests are not answered");
  CheckPlaces();
  CheckRoom();
  CheckReservations();
  CheckNodes();
  size_t placed = 0;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (HasFinished(*pod)) continue;
    if (!pod->node_name().empty()) ++placed;
    const auto delivered = delivered_pods_.find(pod->uid());
    if (delivered == delivered_pods_.end() ||
        delivered->second->resource_version() != pod->resource_version()) {
      AddFinding("at rest, but the last version of pod " + std::string(pod->name()) +
                 " was not delivered");
    }
  }
  if (placed != loop_->cache().pod_count())
    AddFinding("at rest, but the cache has another number of pods than the cluster");
}

void Audit::CheckNodes() {
  const NodeTable& table = loop_->cache().table();
  size_t nodes = 0;
  for (const AnyObject& object : cluster_.List(kNodeKind)) {
    const NodeRef& node = std::get<NodeRef>(object);
    ++nodes;
    const Row row = table.FindNode(node->name());
    if (row == kNoRow || table.node(row)->resource_version() != node->resource_version()) {
      return AddFinding("at rest, but the cache has an old version of node " +
                        std::string(node->name()));
    }
    CheckSums(node->name(), row);
  }
  if (nodes != table.node_count())
    AddFinding("at rest, but the cache has more nodes than the cluster");
}

void Audit::CheckSums(std::string_view node, Row row) {
  NodeTable& table = loop_->cache().table();
  Sums sums;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    if (pod.node_name() == node && !HasFinished(pod)) sums.Add(pod);
  }
  const berth_resources& has = *table.node(row)->view().allocatable;
  const std::pair<const char*, int64_t> expected[] = {{"alloc.cpu", has.milli_cpu},
                                                      {"alloc.memory", has.memory},
                                                      {"alloc.pods", has.pods},
                                                      {"req.cpu", sums.cpu},
                                                      {"req.memory", sums.memory},
                                                      {"req:example.com/gpu", sums.gpus},
                                                      {"pods.count", sums.count},
                                                      {"nonzero.cpu", sums.nonzero_cpu},
                                                      {"nonzero.memory", sums.nonzero_memory}};
  for (const auto& [name, value] : expected) {
    const auto column = table.ColumnFor(name);
    const auto* values = static_cast<const int64_t*>(table.column_data(*column));
    if (values[row] == value) continue;
    AddFinding("at rest, column " + std::string(name) + " of " + std::string(node) + " is " +
               std::to_string(values[row]) + ", not " + std::to_string(value));
  }
}

}  // namespace berth::host
