#include "tests/simulation/fresh_audit.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_pre_filter.h"
#include "tests/simulation/sketch.h"

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

// Returns whether two values of columns of this type are equal. The objects of the schedulers may
// have been decoded separately, so that pointers are followed. Elements of arrays are compared as
// bytes: the simulated nodes have no arrays but taints, which have no pointers.
bool AreEqual(const ColumnSpec& spec, const void* a, const void* b) {
  switch (spec.type()) {
    case BERTH_TYPE_ARRAY: {
      const auto& left = *static_cast<const berth_array*>(a);
      const auto& right = *static_cast<const berth_array*>(b);
      return left.count == right.count &&
             (left.count == 0 ||
              std::memcmp(left.data, right.data, size_t{left.count} * left.stride) == 0);
    }
    case BERTH_TYPE_STR:
      return Text(*static_cast<const berth_str*>(a)) == Text(*static_cast<const berth_str*>(b));
    case BERTH_TYPE_OBJECT: {
      const berth_object* left = *static_cast<const berth_object* const*>(a);
      const berth_object* right = *static_cast<const berth_object* const*>(b);
      if (left == nullptr || right == nullptr) return left == right;
      return Text(left->meta->uid) == Text(right->meta->uid) &&
             Text(left->meta->resource_version) == Text(right->meta->resource_version);
    }
    default: return std::memcmp(a, b, spec.width()) == 0;
  }
}

// Returns the row of the same node in `other`, or kNoRow. A row without a node, which only has
// pods, is found by its first pod.
Row FindSameRow(const NodeTable& table, Row row, const Cache& other) {
  if (table.IsLive(row)) return other.table().FindNode(table.node(row)->name());
  const auto pods = table.pods(row);
  return pods.empty() ? kNoRow : other.RowOf(pods.front()->uid());
}

// Returns whether CheckParked() expects that the parked entity has no feasible node. Returns false
// for entities that a chaos plugin rejected, and for groups with a nominated member, which wait for
// the room of the nomination.
bool IsCheckedWhileParked(const QueuedEntity& entity, SchedulingLoop& loop) {
  const auto is_exempt = [&](PluginId plugin) {
    return loop.plugin_ids().NameOf(plugin).starts_with("test.Chaos");
  };
  const bool waits_for_room = entity.group != nullptr && entity.AnyPod([&loop](const PodRef& pod) {
    return !loop.queue().nominator().NodeOf(pod->uid()).empty();
  });
  return !waits_for_room && !std::ranges::any_of(entity.rejection().plugins, is_exempt) &&
         !std::ranges::any_of(entity.rejection().pending, is_exempt);
}

}  // namespace

// Compares every row, including unused ones: a value that is left in an unused row would count for
// the next node that gets the row.
void FreshAudit::CompareColumn(const ColumnSpec& spec, ColumnIndex column, SchedulingLoop& loop,
                               SchedulingLoop& fresh) {
  const NodeTable& table = loop.cache().table();
  NodeTable& truth = fresh.cache().table();
  const ColumnIndex same = *truth.ColumnFor(spec.name());
  const std::string zeroes(spec.width(), '\0');
  for (Row row = 0; row < table.row_count(); ++row) {
    const Row there = FindSameRow(table, row, fresh.cache());
    const void* expected = zeroes.data();
    if (there != kNoRow) expected = ValueAt(truth, same, there);
    if (AreEqual(spec, ValueAt(table, column, row), expected)) continue;
    findings_.Add("at rest, column " + spec.name() + " of row " + std::to_string(row) + " (" +
                  (table.IsLive(row) ? std::string(table.node(row)->name()) : "no node") +
                  ") differs from a fresh cache");
  }
}

std::set<std::string> FreshAudit::NodesFor(const PodRef& pod, SchedulingLoop& loop,
                                           const Nominator& nominator) {
  Attempt& attempt = loop.CycleFor(*pod)->attempt();
  attempt.Begin(pod, kAuditAttempts + ++attempts_);
  std::set<std::string> nodes;
  if (const PreFilterResult pre_filter = RunPreFilter(attempt); pre_filter.status.ok()) {
    const Selection& candidates =
        pre_filter.subset.has_value() ? *pre_filter.subset : attempt.live_rows();
    FreshEvaluation evaluation;
    const Filtered filtered = evaluation.Filter(attempt, candidates, nominator);
    if (filtered.status.ok()) {
      filtered.feasible->ForEachRow(
          [&](Row row) { nodes.emplace(attempt.table().node(row)->name()); });
    }
  }
  attempt.End();
  return nodes;
}

void FreshAudit::Compare(SchedulingLoop& loop, SchedulingLoop& fresh) {
  if (fresh.cache().pod_count() != loop.cache().pod_count() ||
      fresh.cache().table().node_count() != loop.cache().table().node_count()) {
    findings_.Add("at rest, the numbers of pods or nodes differ from a fresh cache");
  }
  loop.cache().table().ForEachColumn([&](ColumnIndex column, const ColumnSpec& spec) {
    CompareColumn(spec, column, loop, fresh);
  });
  if (loop.faults().InQuarantine().empty()) CompareFilters(loop, fresh);
}

void FreshAudit::CompareFilters(SchedulingLoop& loop, SchedulingLoop& fresh) {
  std::map<std::string, PodRef> pods;
  loop.queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      if (!DependsOnChaos(*pod)) pods.emplace(pod->uid(), pod);
    });
  });
  for (const auto& [uid, pod] : pods) {
    const std::set<std::string> ours = NodesFor(pod, loop, loop.queue().nominator());
    const std::set<std::string> theirs = NodesFor(pod, fresh, loop.queue().nominator());
    if (ours == theirs) continue;
    findings_.Add("at rest, pod " + std::string(pod->name()) + " fits on: " + Joined(ours) +
                  "; with a fresh scheduler: " + Joined(theirs));
  }
}

void FreshAudit::CheckParked(const char* when, SchedulingLoop& loop, SchedulingLoop& fresh) {
  std::map<std::string, PodRef> parked;
  std::map<std::string, PodRef> gated;
  loop.queue().ForEach([&](const QueuedEntity& entity) {
    const bool is_rejected =
        entity.AnyPod([](const PodRef& pod) { return IsRejectedByPreEnqueue(*pod); });
    const bool is_gated = entity.place == QueuePlace::kGated && !is_rejected;
    const bool is_parked =
        entity.place == QueuePlace::kUnschedulable && IsCheckedWhileParked(entity, loop);
    entity.ForEachPod([&](const PodRef& pod) {
      if (is_gated) gated.emplace(pod->uid(), pod);
      if (is_parked) parked.emplace(pod->uid(), pod);
    });
  });
  size_t missed = 0;
  // A plugin in quarantine rejects every pod at PreEnqueue.
  if (!loop.faults().InQuarantine().empty()) gated.clear();
  for (const auto& [uid, pod] : gated) {
    ++missed;
    trace_.Line("missed: ", pod->name(), " is gated, but PreEnqueue does not reject it");
  }
  for (const auto& [uid, pod] : parked) {
    const std::set<std::string> nodes = NodesFor(pod, fresh, loop.queue().nominator());
    if (nodes.empty()) continue;
    ++missed;
    trace_.Line("missed: ", pod->name(), " is parked, but fits on ", Joined(nodes));
  }
  if (missed == 0) return;
  findings_.Add(std::string(when) + ": of " + std::to_string(parked.size() + gated.size()) +
                " waiting pods, " + std::to_string(missed) + " should have been requeued");
}

}  // namespace berth::host
