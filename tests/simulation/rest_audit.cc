#include "tests/simulation/rest_audit.h"

#include <cstdint>
#include <string>
#include <utility>

#include "tests/simulation/node_sums.h"
#include "tests/simulation/sketch.h"

namespace berth::host {

RestAudit::RestAudit(EmbeddedCluster& cluster, SchedulingLoop& loop, const Observations& observed,
                     Findings& findings)
    : cluster_(cluster), loop_(loop), observed_(observed), findings_(findings) {
  NodeTable& table = loop.cache().table();
  for (const char* name : {"alloc.cpu", "alloc.memory", "alloc.pods", "req.cpu", "req.memory",
                           "pods.count", "nonzero.cpu", "nonzero.memory"}) {
    table.PinColumn(*table.ColumnFor(name));
  }
}

void RestAudit::CheckBindings() {
  if (!loop_.bindings().empty()) findings_.Add("at rest, but bindings are in flight");
  if (loop_.cache().assumed_count() > 0) findings_.Add("at rest, but pods are assumed");
  if (!observed_.open_binds.empty()) findings_.Add("at rest, but bind requests are not answered");
}

void RestAudit::CheckCache() {
  CheckNodes();
  CheckPods();
}

void RestAudit::CheckPods() {
  size_t placed = 0;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    const PodRef& pod = std::get<PodRef>(object);
    if (HasFinished(*pod)) continue;
    if (!pod->node_name().empty()) ++placed;
    const auto delivered = observed_.delivered_pods.find(pod->uid());
    if (delivered == observed_.delivered_pods.end() ||
        delivered->second->resource_version() != pod->resource_version()) {
      findings_.Add("at rest, but the last version of pod " + std::string(pod->name()) +
                    " was not delivered");
    }
  }
  if (placed != loop_.cache().pod_count())
    findings_.Add("at rest, but the cache has another number of pods than the cluster");
}

void RestAudit::CheckNodes() {
  const NodeTable& table = loop_.cache().table();
  size_t nodes = 0;
  for (const AnyObject& object : cluster_.List(kNodeKind)) {
    const NodeRef& node = std::get<NodeRef>(object);
    ++nodes;
    const Row row = table.FindNode(node->name());
    if (row == kNoRow || table.node(row)->resource_version() != node->resource_version()) {
      return findings_.Add("at rest, but the cache has an old version of node " +
                           std::string(node->name()));
    }
    CheckSums(node->name(), row);
  }
  if (nodes != table.node_count())
    findings_.Add("at rest, but the cache has more nodes than the cluster");
}

void RestAudit::CheckSums(std::string_view node, Row row) {
  NodeTable& table = loop_.cache().table();
  const NodeSums sums = SumPodsOn(node, cluster_);
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
    findings_.Add("at rest, column " + std::string(name) + " of " + std::string(node) + " is " +
                  std::to_string(values[row]) + ", not " + std::to_string(value));
  }
}

}  // namespace berth::host
