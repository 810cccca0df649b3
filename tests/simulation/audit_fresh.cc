// Compares the scheduler with a fresh one that receives the state of the cluster without faults.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "host/runtime/attempt.h"
#include "host/runtime/run_filter.h"
#include "host/runtime/run_pre_filter.h"
#include "tests/simulation/audit.h"

namespace berth::host {
namespace {

// The attempt numbers of the audit start here, so that they differ from those of the scheduler.
constexpr uint64_t kAuditAttempts = uint64_t{1} << 62;

// Returns whether a chaos plugin affects PreFilter or Filter of the pod. The fresh scheduler has no
// chaos plugins, because their results depend on how often they were called.
bool DependsOnChaos(const Pod& pod) {
  const auto has_filter_label = [&pod](const berth_id_pair& label) {
    return pod.Name(label.key) == "a.filter" || pod.Name(label.key) == "b.filter";
  };
  const auto has_prefilter_annotation = [](const berth_str_pair& annotation) {
    return Text(annotation.key) == "a.prefilter" || Text(annotation.key) == "b.prefilter";
  };
  return std::ranges::any_of(Elements<berth_id_pair>(pod.meta().labels), has_filter_label) ||
         std::ranges::any_of(Elements<berth_str_pair>(pod.meta().annotations),
                             has_prefilter_annotation);
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nowhere" : text;
}

const std::byte* ValueAt(const NodeTable& table, ColumnIndex column, Row row) {
  return static_cast<const std::byte*>(table.column_data(column)) +
         size_t{row} * table.column_spec(column).width();
}

// Returns the row of the same node in `other`, or kNoRow. A row without a node, which only has
// pods, is found by its first pod.
Row FindSameRow(const NodeTable& table, Row row, const Cache& other) {
  if (table.IsLive(row)) return other.table().FindNode(table.node(row)->name());
  const auto pods = table.pods(row);
  return pods.empty() ? kNoRow : other.RowOf(pods.front()->uid());
}

}  // namespace

// Compares every row, including unused ones: a value that is left in an unused row would count for
// the next node that gets the row.
void Audit::CompareColumn(ColumnIndex column, const ColumnSpec& spec, SchedulingLoop& fresh) {
  const NodeTable& table = loop_->cache().table();
  NodeTable& truth = fresh.cache().table();
  const ColumnIndex same = *truth.ColumnFor(spec.name());
  const std::string zeroes(spec.width(), '\0');
  for (Row row = 0; row < table.row_count(); ++row) {
    const Row there = FindSameRow(table, row, fresh.cache());
    const void* expected = zeroes.data();
    if (there != kNoRow) expected = ValueAt(truth, same, there);
    if (std::memcmp(ValueAt(table, column, row), expected, spec.width()) == 0) continue;
    AddFinding("at rest, column " + spec.name() + " of row " + std::to_string(row) + " (" +
               (table.IsLive(row) ? std::string(table.node(row)->name()) : "no node") +
               ") differs from a fresh cache");
  }
}

// Returns the nodes that pass all Filters. Does not run PostFilter, which may have side effects.
std::set<std::string> Audit::NodesFor(SchedulingLoop& loop, const PodRef& pod) {
  Attempt& attempt = loop.CycleFor(*pod)->attempt();
  attempt.Begin(pod, kAuditAttempts + ++audits_);
  std::set<std::string> nodes;
  if (RunPreFilter(attempt).ok() && !attempt.pre_filter_rejection.has_value()) {
    attempt.candidates = &attempt.live_rows();
    if (attempt.subset.has_value()) {
      attempt.some_rows.AssignRows(attempt.table(), *attempt.subset);
      attempt.candidates = &attempt.some_rows;
    }
    if (RunFilter(attempt, loop_->queue().nominator()).ok()) {
      for (uint32_t i = 0; i < attempt.feasible.size(); ++i) {
        nodes.emplace(attempt.table().node(attempt.feasible.At(i))->name());
      }
    }
  }
  attempt.End();
  return nodes;
}

void Audit::CompareWithFresh(SchedulingLoop& fresh) {
  if (fresh.cache().pod_count() != loop_->cache().pod_count() ||
      fresh.cache().table().node_count() != loop_->cache().table().node_count()) {
    AddFinding("at rest, the numbers of pods or nodes differ from a fresh cache");
  }
  loop_->cache().table().ForEachColumn(
      [&](ColumnIndex column, const ColumnSpec& spec) { CompareColumn(column, spec, fresh); });
  if (!loop_->faults().InQuarantine().empty()) return;
  std::map<std::string, PodRef> pods;
  loop_->queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      if (!DependsOnChaos(*pod)) pods.emplace(pod->uid(), pod);
    });
  });
  for (const auto& [uid, pod] : pods) {
    const std::set<std::string> ours = NodesFor(*loop_, pod);
    const std::set<std::string> theirs = NodesFor(fresh, pod);
    if (ours == theirs) continue;
    AddFinding("at rest, pod " + std::string(pod->name()) + " fits on: " + Joined(ours) +
               "; with a fresh scheduler: " + Joined(theirs));
  }
}

// Returns whether CheckParked() expects that the parked entity has no feasible node. It does not
// for entities that a chaos plugin or a plugin in `unannounced` rejected, and for groups with a
// nominated member, which wait for the room of the nomination.
bool Audit::IsCheckedWhileParked(const QueuedEntity& entity, const PluginNames& unannounced) const {
  const auto is_exempt = [&](PluginId plugin) {
    const std::string_view name = loop_->plugin_ids().NameOf(plugin);
    return name.starts_with("test.Chaos") || unannounced.contains(name);
  };
  const bool waits_for_room = entity.group != nullptr && entity.AnyPod([this](const PodRef& pod) {
    return !loop_->queue().nominator().NodeOf(pod->uid()).empty();
  });
  return !waits_for_room && !std::ranges::any_of(entity.rejection.plugins, is_exempt) &&
         !std::ranges::any_of(entity.rejection.pending, is_exempt);
}

void Audit::CheckParked(const char* when, SchedulingLoop& fresh, const PluginNames& unannounced) {
  std::map<std::string, PodRef> parked;
  std::map<std::string, PodRef> gated;
  loop_->queue().ForEach([&](const QueuedEntity& entity) {
    const bool is_rejected =
        entity.AnyPod([](const PodRef& pod) { return IsRejectedByPreEnqueue(*pod); });
    const bool is_gated = entity.place == QueuePlace::kGated && !is_rejected;
    const bool is_parked =
        entity.place == QueuePlace::kUnschedulable && IsCheckedWhileParked(entity, unannounced);
    entity.ForEachPod([&](const PodRef& pod) {
      if (is_gated) gated.emplace(pod->uid(), pod);
      if (is_parked) parked.emplace(pod->uid(), pod);
    });
  });
  size_t missed = 0;
  // A plugin in quarantine rejects every pod at PreEnqueue.
  if (!loop_->faults().InQuarantine().empty()) gated.clear();
  for (const auto& [uid, pod] : gated) {
    ++missed;
    trace_.Line("missed: ", pod->name(), " is gated, but PreEnqueue does not reject it");
  }
  for (const auto& [uid, pod] : parked) {
    const std::set<std::string> nodes = NodesFor(fresh, pod);
    if (nodes.empty()) continue;
    ++missed;
    trace_.Line("missed: ", pod->name(), " is parked, but fits on ", Joined(nodes));
  }
  if (missed == 0) return;
  AddFinding(std::string(when) + ": of " + std::to_string(parked.size() + gated.size()) +
             " waiting pods, " + std::to_string(missed) + " should have been requeued");
}

}  // namespace berth::host
