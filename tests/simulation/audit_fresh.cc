// What a scheduler that starts now thinks, that has never been told anything but the truth.
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

// Numbers for attempts that are none of the scheduler's.
constexpr uint64_t kAuditAttempts = uint64_t{1} << 62;

// The fresh scheduler has no chaos plugins: those have their turns.
bool HearsChaos(const Pod& pod) {
  const auto refused = [&pod](const berth_id_pair& label) {
    return pod.Name(label.key) == "a.refused" || pod.Name(label.key) == "b.refused";
  };
  const auto ordered = [](const berth_str_pair& annotation) {
    return Text(annotation.key) == "a.prefilter" || Text(annotation.key) == "b.prefilter";
  };
  return std::ranges::any_of(Elements<berth_id_pair>(pod.meta().labels), refused) ||
         std::ranges::any_of(Elements<berth_str_pair>(pod.meta().annotations), ordered);
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

// The row of the same node, ghosts included; kNoRow: nothing is known of it.
Row SameRow(const NodeTable& table, Row row, const Cache& other) {
  if (table.IsLive(row)) return other.table().FindNode(table.node(row)->name());
  const auto pods = table.pods(row);
  return pods.empty() ? kNoRow : other.RowOf(pods.front()->uid());
}

}  // namespace

// Whatever a row holds that nobody owns counts for the next node that gets it.
void Audit::CompareColumn(ColumnIndex column, const ColumnSpec& spec, SchedulingLoop& fresh) {
  const NodeTable& table = loop_->cache().table();
  NodeTable& truth = fresh.cache().table();
  const ColumnIndex same = *truth.ColumnFor(spec.name());
  const std::string zeroes(spec.width(), '\0');
  for (Row row = 0; row < table.row_count(); ++row) {
    const Row there = SameRow(table, row, fresh.cache());
    const void* expected = zeroes.data();
    if (there != kNoRow) expected = ValueAt(truth, same, there);
    if (std::memcmp(ValueAt(table, column, row), expected, spec.width()) == 0) continue;
    Complain("at rest, and " + spec.name() + " of row " + std::to_string(row) + " (" +
             (table.IsLive(row) ? std::string(table.node(row)->name()) : "no node") +
             ") is not what it is in a fresh cache");
  }
}

// The nodes that no Filter refuses. PostFilter is not asked: it may act.
std::set<std::string> Audit::NodesFor(SchedulingLoop& loop, const PodRef& pod) {
  Attempt& attempt = loop.SchedulerFor(*pod)->attempt();
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
    Complain("at rest, and the cache is not what a fresh one is");
  }
  loop_->cache().table().ForEachColumn(
      [&](ColumnIndex column, const ColumnSpec& spec) { CompareColumn(column, spec, fresh); });
  if (!loop_->faults().InQuarantine().empty()) return;
  std::map<std::string, PodRef> pods;
  loop_->queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      if (!HearsChaos(*pod)) pods.emplace(pod->uid(), pod);
    });
  });
  for (const auto& [uid, pod] : pods) {
    const std::set<std::string> ours = NodesFor(*loop_, pod);
    const std::set<std::string> theirs = NodesFor(fresh, pod);
    if (ours == theirs) continue;
    Complain("at rest, and pod " + std::string(pod->name()) + " would fit: " + Joined(ours) +
             "; with a fresh scheduler: " + Joined(theirs));
  }
}

// What the chaos plugins hold against a pod is no statement about nodes. Nor is a group that waits
// for the room that one of its members was promised.
bool Audit::IsJudged(const QueuedEntity& entity, const PluginNames& unannounced) const {
  const auto is_excused = [&](PluginId plugin) {
    const std::string_view name = loop_->plugin_ids().NameOf(plugin);
    return name.starts_with("test.Chaos") || unannounced.contains(name);
  };
  const bool waits_for_room = entity.group != nullptr && entity.AnyPod([this](const PodRef& pod) {
    return !loop_->queue().nominator().NodeOf(pod->uid()).empty();
  });
  return !waits_for_room && !std::ranges::any_of(entity.rejection.plugins, is_excused) &&
         !std::ranges::any_of(entity.rejection.pending, is_excused);
}

void Audit::CheckParked(const char* when, SchedulingLoop& fresh, const PluginNames& unannounced) {
  std::map<std::string, PodRef> parked;
  std::map<std::string, PodRef> gated;
  loop_->queue().ForEach([&](const QueuedEntity& entity) {
    const bool is_held = entity.AnyPod([](const PodRef& pod) { return IsHeld(*pod); });
    const bool is_gated = entity.place == QueuePlace::kGated && !is_held;
    const bool is_parked =
        entity.place == QueuePlace::kUnschedulable && IsJudged(entity, unannounced);
    entity.ForEachPod([&](const PodRef& pod) {
      if (is_gated) gated.emplace(pod->uid(), pod);
      if (is_parked) parked.emplace(pod->uid(), pod);
    });
  });
  size_t missed = 0;
  // Who is in quarantine holds everybody back.
  if (!loop_->faults().InQuarantine().empty()) gated.clear();
  for (const auto& [uid, pod] : gated) {
    ++missed;
    trace_.Line("missed: ", pod->name(), " is gated by nothing");
  }
  for (const auto& [uid, pod] : parked) {
    const std::set<std::string> nodes = NodesFor(fresh, pod);
    if (nodes.empty()) continue;
    ++missed;
    trace_.Line("missed: ", pod->name(), " would go to ", Joined(nodes));
  }
  if (missed == 0) return;
  Complain(std::string(when) + ": of " + std::to_string(parked.size() + gated.size()) +
           " pods that wait " + std::to_string(missed) + " could go somewhere");
}

}  // namespace berth::host
