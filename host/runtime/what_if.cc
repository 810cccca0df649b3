#include "host/runtime/what_if.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/invoke.h"
#include "host/runtime/plugin_error.h"
#include "host/runtime/run_filter.h"

namespace berth::host {
namespace {

bool TracksPods(const PlannedPlugin& plugin) {
  const berth_pre_filter* point = plugin.instance->pre_filter();
  return point != nullptr && point->add_pod != nullptr;
}

}  // namespace

struct WhatIf::Clone {
  Clone(const PlannedPlugin& plugin, NodeTable& table, Attempt& attempt)
      : cycle(plugin, table, &attempt) {}

  PluginCycle cycle;
  SlotSet own;  // Empty if no pod changes it.
  const SlotSet* slots = &own;
};

WhatIf::WhatIf(Attempt& attempt) : attempt_(attempt), rows_(attempt.table()) {}
WhatIf::~WhatIf() = default;

Result<std::unique_ptr<WhatIf>> WhatIf::Begin(Attempt& attempt, Row row) {
  std::unique_ptr<WhatIf> made(new WhatIf(attempt));
  made->rows_.Add(row);
  if (Status status = made->CloneState(nullptr); !status.ok()) return status;
  return made;
}

Result<std::unique_ptr<WhatIf>> WhatIf::Copy() const {
  std::unique_ptr<WhatIf> made(new WhatIf(attempt_));
  made->rows_.AddCopy(rows_, 0);
  if (Status status = made->CloneState(this); !status.ok()) return status;
  return made;
}

Status WhatIf::CloneState(const WhatIf* from) {
  const Plan& plan = attempt_.plan();
  clone_of_.assign(plan.plugins().size(), nullptr);
  cycles_.assign(plan.plugins().size(), nullptr);
  const auto clone = [&](uint32_t plugin, bool tracks_pods) -> Status {
    if (clone_of_[plugin] != nullptr) return {};
    const PluginCycle& original = attempt_.cycle(plugin);
    Clone& made = clones_.emplace_back(original.plugin(), attempt_.table(), attempt_);
    clone_of_[plugin] = &made;
    cycles_[plugin] = &made.cycle;
    const SlotSet& slots =
        from != nullptr ? *from->clone_of_[plugin]->slots : attempt_.state().of(plugin);
    Status status;
    if (tracks_pods) {
      status = made.own.CloneFrom(slots);
    } else {
      made.slots = &slots;
    }
    made.cycle.BeginWhatIf(original, *made.slots);
    return status;
  };
  for (const PlannedUse& use : plan.At(Point::kPreFilter)) {
    const PluginCycle& cycle = attempt_.cycle(use.plugin);
    if (cycle.skip_filter || !TracksPods(cycle.plugin())) continue;
    if (Status status = clone(use.plugin, true); !status.ok()) return status;
  }
  for (const PlannedUse& use : plan.At(Point::kFilter)) {
    if (attempt_.cycle(use.plugin).skip_filter) continue;
    if (Status status = clone(use.plugin, false); !status.ok()) return status;
  }
  return {};
}

// --- Pods ----------------------------------------------------------------------------------------

PluginStatus WhatIf::AddPod(const berth_pod& pod) {
  rows_.AddPod(0, pod);
  return NotifyPlugins(true, pod);
}

PluginStatus WhatIf::RemovePod(const berth_pod& pod) {
  if (!rows_.RemovePod(0, pod)) {
    const berth_meta& node = *rows_.node_views()[0]->meta;
    return PluginStatus::Error({}, "no corresponding pod " + std::string(Text(pod.meta->name)) +
                                       " in pods of node " + std::string(Text(node.name)));
  }
  return NotifyPlugins(false, pod);
}

PluginStatus WhatIf::NotifyPlugins(bool added, const berth_pod& pod) {
  const PointFunction function = added ? PointFunction::kAddPod : PointFunction::kRemovePod;
  std::vector<berth_column> columns;
  for (const PlannedUse& use : attempt_.plan().At(Point::kPreFilter)) {
    if (cycles_[use.plugin] == nullptr) continue;
    PluginCycle& cycle = *cycles_[use.plugin];
    const PlannedPlugin& plugin = cycle.plugin();
    if (!TracksPods(plugin)) continue;
    if (auto error = QuarantineError(plugin, Point::kPreFilter, function)) return *std::move(error);
    const berth_block block = cycle.BlockFor(rows_, columns);
    const PluginAnswer answer =
        Invoke(cycle, Point::kPreFilter, [&](auto& instance, auto* abi, berth_status* status) {
          const berth_pre_filter& point = *instance.pre_filter();
          return (added ? point.add_pod : point.remove_pod)(instance.self(), abi, &pod, &block, 0,
                                                            status);
        });
    if (!answer.ok()) return AnswerError(plugin, Point::kPreFilter, answer, function);
  }
  return {};
}

bool CountsAgainst(const berth_pod& nominated, const berth_pod& pod) {
  if (nominated.scheduling_gates.count != 0) return false;
  return nominated.priority >= pod.priority && Text(nominated.meta->uid) != Text(pod.meta->uid);
}

// --- Verdicts ------------------------------------------------------------------------------------

PluginStatus WhatIf::RunFilters(RowVerdict& verdict) {
  return RunFilterOnPrivateRow(cycles_, attempt_.plan(), rows_, 0, verdict);
}

PluginStatus WhatIf::RunFilters() {
  RowVerdict verdict;
  if (PluginStatus status = RunFilters(verdict); !status.ok()) return status;
  if (verdict.code == BERTH_SUCCESS) return {};
  const PluginCycle& cycle = attempt_.cycle(verdict.plugin);
  return {verdict.code, cycle.plugin().id, cycle.RejectionTexts(verdict.reasons)};
}

PluginStatus WhatIf::RunFiltersWithNominated(const Nominator& nominator) {
  const berth_pod& pod = attempt_.pod->view();
  const std::string_view node = Text(rows_.node_views()[0]->meta->name);
  std::unique_ptr<WhatIf> with_nominated;
  for (const PodRef& nominated : nominator.PodsFor(node)) {
    if (!CountsAgainst(nominated->view(), pod)) continue;
    if (with_nominated == nullptr) {
      auto copy = Copy();
      if (!copy.ok()) return PluginStatus::Error({}, std::string(copy.status().message()));
      with_nominated = std::move(copy).value();
    }
    PluginStatus status = with_nominated->AddPod(nominated->view());
    if (!status.ok()) return status;
  }
  if (with_nominated != nullptr) {
    if (PluginStatus status = with_nominated->RunFilters(); !status.ok()) return status;
  }
  return RunFilters();
}

}  // namespace berth::host
