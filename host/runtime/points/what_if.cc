#include "host/runtime/points/what_if.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

bool TracksPods(const PlannedPlugin& plugin) {
  const berth_pre_filter* point = plugin.instance->pre_filter();
  return point != nullptr && point->add_pod != nullptr;
}

// Returns the candidates with nominated pods that count against the pod, ascending.
std::vector<Row> RowsWithNominatedPods(const Attempt& attempt, const Selection& candidates,
                                       const Nominator& nominator) {
  std::vector<Row> rows;
  nominator.ForEachNode([&](std::string_view node, std::span<const PodRef> nominated) {
    const auto counts = [&attempt](const PodRef& pod) {
      return Nominator::CountsAgainst(pod->view(), attempt.pod()->view());
    };
    if (std::ranges::none_of(nominated, counts)) return;
    const Row row = attempt.table().FindNode(node);
    if (row != kNoRow && candidates.Contains(row)) rows.push_back(row);
  });
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

// One plugin of the question.
struct WhatIf::Callee {
  Callee(const PluginCycle& original, NodeTable& table, Attempt& attempt, const SlotSet& state,
         uint32_t states)
      : cycle(original.plugin(), table, &attempt), base(state) {
    if (TracksPods(original.plugin())) own.resize(states);
  }

  bool tracks_pods() const { return !own.empty(); }
  bool HasOwn(uint32_t state) const { return tracks_pods() && own[state] != nullptr; }
  const SlotSet& Slots(uint32_t state) const { return HasOwn(state) ? *own[state] : base; }

  PluginCycle cycle;
  const SlotSet& base;  // The state before the first change.
  // By state: the clone that pods have changed; null before the first change. Empty if pods change
  // no state of this plugin.
  std::vector<std::unique_ptr<SlotSet>> own;
};

WhatIf::WhatIf(Attempt& attempt, std::span<const Row> rows, Mode mode, uint32_t flags)
    : attempt_(attempt), mode_(mode), flags_(flags), rows_(attempt.table()) {
  for (const Row row : rows) rows_.Add(row);
  AddCallees(nullptr, 0);
}

WhatIf::WhatIf(const WhatIf& from, std::span<const uint32_t> rows, uint32_t flags)
    : attempt_(from.attempt_), mode_(from.mode_), flags_(flags), rows_(from.attempt_.table()) {
  for (const uint32_t row : rows) rows_.AddCopy(from.rows_, row);
  AddCallees(&from, rows.front());
  const auto broken = from.broken_.find(from.StateOf(rows.front()));
  if (broken != from.broken_.end()) broken_.emplace(0, broken->second);
}

WhatIf::~WhatIf() = default;

void WhatIf::AddCallees(const WhatIf* from, uint32_t row) {
  const Plan& plan = attempt_.plan();
  const uint32_t states = mode_ == Mode::kApart ? std::max<uint32_t>(size(), 1) : 1;
  callees_.resize(plan.plugins().size());
  const auto add = [&](uint32_t plugin) {
    PluginCycle& original = attempt_.cycle(plugin);
    if (callees_[plugin] != nullptr || original.skip_filter) return;
    const SlotSet& state = from != nullptr ? from->callees_[plugin]->Slots(from->StateOf(row))
                                           : attempt_.state().of(plugin);
    callees_[plugin] =
        std::make_unique<Callee>(original, attempt_.table(), attempt_, state, states);
    callees_[plugin]->cycle.BeginWhatIf(original, state, flags_);
  };
  for (const PlannedUse& use : plan.At(Point::kPreFilter)) {
    if (TracksPods(plan.plugins()[use.plugin])) add(use.plugin);
  }
  for (const PlannedUse& use : plan.At(Point::kFilter)) add(use.plugin);
}

// --- Pods ----------------------------------------------------------------------------------------

PluginStatus WhatIf::AddPod(uint32_t i, const berth_pod& pod) {
  rows_.AddPod(i, pod);
  return NotifyPlugins(true, i, pod);
}

PluginStatus WhatIf::RemovePod(uint32_t i, const berth_pod& pod) {
  if (!rows_.RemovePod(i, pod)) {
    const berth_meta& node = *rows_.arrays().nodes[i]->meta;
    return {BERTH_NOT_FOUND,
            {},
            {"no corresponding pod " + std::string(Text(pod.meta->name)) + " in pods of node " +
             std::string(Text(node.name))}};
  }
  return NotifyPlugins(false, i, pod);
}

PluginStatus WhatIf::NotifyPlugins(bool added, uint32_t i, const berth_pod& pod) {
  for (const PlannedUse& use : attempt_.plan().At(Point::kPreFilter)) {
    Callee* callee = callees_[use.plugin].get();
    if (callee == nullptr || !callee->tracks_pods()) continue;
    PluginStatus status = NotifyPlugin(added, i, pod, *callee);
    if (status.ok()) continue;
    broken_.emplace(StateOf(i), status);
    return status;
  }
  return {};
}

PluginStatus WhatIf::NotifyPlugin(bool added, uint32_t i, const berth_pod& pod, Callee& callee) {
  const PointFunction function = added ? PointFunction::kAddPod : PointFunction::kRemovePod;
  const PlannedPlugin& plugin = callee.cycle.plugin();
  if (auto error = QuarantineError(plugin, Point::kPreFilter, function)) return *std::move(error);
  const FaultLimit limit(*plugin.host, callee.cycle.what_if_faults());
  auto& own = callee.own[StateOf(i)];
  if (own == nullptr) {
    auto clone = std::make_unique<SlotSet>();
    if (Status status = clone->CloneFrom(callee.base); !status.ok()) {
      return PluginStatus::Error({}, std::string(status.message()));
    }
    own = std::move(clone);
  }
  callee.cycle.SetSlots(*own);
  const berth_block block = callee.cycle.BlockFor(rows_, i, 1, kOneIndex, columns_);
  const PluginAnswer answer =
      Invoke(callee.cycle, Point::kPreFilter, [&](auto& instance, auto* abi, berth_status* status) {
        const berth_pre_filter& point = *instance.pre_filter();
        return (added ? point.add_pod : point.remove_pod)(instance.self(), abi, &pod, &block, 0,
                                                          status);
      });
  return answer.ok() ? PluginStatus() : AnswerError(plugin, Point::kPreFilter, answer, function);
}

// --- Verdicts ------------------------------------------------------------------------------------

PluginStatus WhatIf::RunFilters(std::span<const uint32_t> selected,
                                std::span<RowVerdict> verdicts) {
  errors_.clear();
  return Run(selected, verdicts);
}

PluginStatus WhatIf::RunFiltersWithNominated(const Nominator& nominator,
                                             std::span<const uint32_t> selected,
                                             std::span<RowVerdict> verdicts) {
  errors_.clear();
  if (nominator.empty()) return Run(selected, verdicts);
  std::vector<uint32_t> passed;
  for (const uint32_t i : selected) {
    verdicts[i] = {};
    PluginStatus status = RunWithNominated(nominator, selected, i, verdicts);
    if (!status.ok()) status = Fail({&i, 1}, status, verdicts);
    if (!status.ok()) return status;
    if (verdicts[i].code == BERTH_SUCCESS) passed.push_back(i);
  }
  return Run(passed, verdicts);
}

bool WhatIf::HasWholeFilter() const {
  return std::ranges::any_of(attempt_.plan().At(Point::kFilter), [this](const PlannedUse& use) {
    const Callee* callee = callees_[use.plugin].get();
    return callee != nullptr && FiltersWhole(callee->cycle.plugin());
  });
}

PluginStatus WhatIf::RunWithNominated(const Nominator& nominator,
                                      std::span<const uint32_t> selected, uint32_t i,
                                      std::span<RowVerdict> verdicts) {
  const berth_pod& pod = attempt_.pod()->view();
  // The other rows matter only to a whole Filter.
  const bool alone = mode_ == Mode::kApart || !HasWholeFilter();
  const std::span<const uint32_t> rows = alone ? std::span(&i, 1) : selected;
  const auto at = static_cast<uint32_t>(std::ranges::find(rows, i) - rows.begin());
  std::unique_ptr<WhatIf> copy;
  for (const PodRef& nominated : nominator.PodsFor(Text(rows_.arrays().nodes[i]->meta->name))) {
    if (!Nominator::CountsAgainst(nominated->view(), pod)) continue;
    if (copy == nullptr) copy.reset(new WhatIf(*this, rows, flags_ | BERTH_CYCLE_NOMINATED));
    PluginStatus status = copy->AddPod(at, nominated->view());
    if (!status.ok()) return status;
  }
  if (copy == nullptr) return {};
  std::vector<uint32_t> all(rows.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<RowVerdict> answers(rows.size());
  PluginStatus status = copy->RunFilters(all, answers);
  if (!status.ok()) return status;
  verdicts[i] = answers[at];
  return verdicts[i].code == BERTH_ERROR ? copy->error(at) : PluginStatus();
}

PluginStatus WhatIf::Run(std::span<const uint32_t> selected, std::span<RowVerdict> verdicts) {
  survivors_.clear();
  for (const uint32_t i : selected) {
    verdicts[i] = {};
    const auto broken = broken_.find(StateOf(i));
    if (broken == broken_.end()) {
      survivors_.push_back(i);
    } else if (PluginStatus status = Fail({&i, 1}, broken->second, verdicts); !status.ok()) {
      return status;
    }
  }
  for (const PlannedUse& use : attempt_.plan().At(Point::kFilter)) {
    if (callees_[use.plugin] == nullptr || survivors_.empty()) continue;
    if (PluginStatus status = RunPlugin(use.plugin, verdicts); !status.ok()) return status;
    std::erase_if(survivors_, [&](uint32_t i) { return verdicts[i].code != BERTH_SUCCESS; });
  }
  return {};
}

PluginStatus WhatIf::RunPlugin(uint32_t plugin, std::span<RowVerdict> verdicts) {
  const PlannedPlugin& planned = callees_[plugin]->cycle.plugin();
  if (const auto error = QuarantineError(planned, Point::kFilter)) {
    return Fail(survivors_, *error, verdicts);
  }
  const FaultLimit limit(*planned.host, callees_[plugin]->cycle.what_if_faults());
  if (!FiltersWhole(planned)) return RunInBlocks(plugin, verdicts);
  if (mode_ == Mode::kTogether) return RunWhole(plugin, survivors_, verdicts);
  for (const uint32_t& i : survivors_) {
    if (PluginStatus status = RunWhole(plugin, {&i, 1}, verdicts); !status.ok()) return status;
  }
  return {};
}

// Rows with a state of their own are called alone, the others in blocks.
PluginStatus WhatIf::RunInBlocks(uint32_t plugin, std::span<RowVerdict> verdicts) {
  const Callee& callee = *callees_[plugin];
  std::vector<uint32_t> block;
  for (const uint32_t& i : survivors_) {
    if (mode_ == Mode::kApart && callee.HasOwn(i)) {
      if (PluginStatus status = RunBlock(plugin, {&i, 1}, verdicts); !status.ok()) return status;
      continue;
    }
    if (!block.empty() && block.front() / kBlockRows != i / kBlockRows) {
      if (PluginStatus status = RunBlock(plugin, block, verdicts); !status.ok()) return status;
      block.clear();
    }
    block.push_back(i);
  }
  return block.empty() ? PluginStatus() : RunBlock(plugin, block, verdicts);
}

PluginStatus WhatIf::RunBlock(uint32_t plugin, std::span<const uint32_t> indices,
                              std::span<RowVerdict> verdicts) {
  Callee& callee = *callees_[plugin];
  callee.cycle.SetSlots(callee.Slots(StateOf(indices.front())));
  const bool alone = indices.size() == 1;
  const uint32_t first = alone ? indices.front() : indices.front() / kBlockRows * kBlockRows;
  const uint32_t count = alone ? 1 : std::min(kBlockRows, size() - first);
  std::array<uint32_t, kBlockRows> selected;
  std::ranges::transform(indices, selected.begin(), [first](uint32_t i) { return i - first; });
  const berth_block block = callee.cycle.BlockFor(
      rows_, first, count, std::span(selected).first(indices.size()), columns_);
  BlockVerdicts answers;
  const PluginStatus error = FilterBlock(callee.cycle, block, answers);
  if (!error.ok()) {
    // Rows that are apart are answered one by one then, because one row may be the cause. A late
    // call is not repeated.
    const bool repeat = mode_ == Mode::kApart && !alone && !BERTH_IS_CANCELLED(callee.cycle.abi());
    if (!repeat) return Fail(indices, error, verdicts);
    for (const uint32_t& i : indices) {
      if (PluginStatus status = RunBlock(plugin, {&i, 1}, verdicts); !status.ok()) return status;
    }
    return {};
  }
  for (const uint32_t i : indices) {
    const uint32_t at = i - first;
    PluginStatus status = Record(plugin, i, answers.codes[at], answers.reasons[at], verdicts);
    if (!status.ok()) return status;
  }
  return {};
}

PluginStatus WhatIf::RunWhole(uint32_t plugin, std::span<const uint32_t> indices,
                              std::span<RowVerdict> verdicts) {
  Callee& callee = *callees_[plugin];
  callee.cycle.SetSlots(callee.Slots(StateOf(indices.front())));
  std::vector<Row> rows;
  for (const uint32_t i : indices) rows.push_back(rows_.arrays().rows[i]);
  const PrivateNodesView survivors(callee.cycle, rows_, indices);
  const PluginStatus error = FilterWhole(callee.cycle, attempt_.table(), survivors, rows, whole_);
  if (!error.ok()) return Fail(indices, error, verdicts);
  for (const uint32_t i : indices) {
    const Row row = rows_.arrays().rows[i];
    PluginStatus status = Record(plugin, i, whole_.codes[row], whole_.reasons[row], verdicts);
    if (!status.ok()) return status;
  }
  return {};
}

PluginStatus WhatIf::Record(uint32_t plugin, uint32_t i, uint8_t code, uint64_t reasons,
                            std::span<RowVerdict> verdicts) {
  if (code == BERTH_SUCCESS) return {};
  if (IsRejection(code)) {
    verdicts[i] = {reasons, plugin, code};
    return {};
  }
  const std::string_view node = Text(rows_.arrays().nodes[i]->meta->name);
  return Fail({&i, 1}, NodeFailed(callees_[plugin]->cycle, node, code, reasons), verdicts);
}

PluginStatus WhatIf::Fail(std::span<const uint32_t> indices, const PluginStatus& error,
                          std::span<RowVerdict> verdicts) {
  if (mode_ == Mode::kTogether) return error;
  for (const uint32_t i : indices) {
    verdicts[i] = {.reasons = 0, .plugin = kNoPlugin, .code = BERTH_ERROR};
    errors_.insert_or_assign(i, error);
  }
  return {};
}

// --- nominated pods ------------------------------------------------------------------------------

PluginStatus FilterNominated(Attempt& attempt, const Selection& candidates,
                             const Nominator& nominator, std::vector<RejectedRow>& rejected) {
  for (const Row row : RowsWithNominatedPods(attempt, candidates, nominator)) {
    WhatIf what_if(attempt, {&row, 1}, WhatIf::Mode::kApart, BERTH_CYCLE_NOMINATED);
    for (const PodRef& pod : nominator.PodsFor(attempt.table().node(row)->name())) {
      if (!Nominator::CountsAgainst(pod->view(), attempt.pod()->view())) continue;
      if (PluginStatus status = what_if.AddPod(0, pod->view()); !status.ok()) return status;
    }
    RowVerdict verdict;
    if (PluginStatus status = what_if.RunFilters(kOneIndex, {&verdict, 1}); !status.ok()) {
      return status;
    }
    if (verdict.code == BERTH_ERROR) return what_if.error(0);
    if (verdict.code != BERTH_SUCCESS) rejected.push_back({row, verdict});
  }
  return {};
}

}  // namespace berth::host
