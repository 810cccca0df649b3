#include "host/runtime/what_if.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/run_filter.h"

namespace berth::host {
namespace {

PluginStatus CannotClone(const Status& status) {
  return {BERTH_ERROR, "", {std::string(status.message())}};
}

bool TracksPods(const PlannedPlugin& plugin) {
  const berth_pre_filter* point = plugin.instance->pre_filter();
  return point != nullptr && point->add_pod != nullptr;
}

PluginStatus Failed(const PlannedPlugin& plugin, bool added, std::string_view why) {
  std::string text = added ? "running AddPod" : "running RemovePod";
  text.append(" on PreFilter plugin \"").append(plugin.name).append("\": ").append(why);
  return {BERTH_ERROR, plugin.name, {std::move(text)}};
}

}  // namespace

struct WhatIf::Clone {
  Clone(const PlannedPlugin& plugin, NodeTable& table, Attempt& attempt)
      : cycle(plugin, table, &attempt) {}

  PluginCycle cycle;
  SlotSet own;  // Empty where nothing changes it.
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

// --- pods ---------------------------------------------------------------------------------------

PluginStatus WhatIf::AddPod(const berth_pod& pod) {
  rows_.AddPod(0, pod);
  return TellPlugins(true, pod);
}

PluginStatus WhatIf::RemovePod(const berth_pod& pod) {
  if (!rows_.RemovePod(0, pod)) {
    const berth_meta& node = *rows_.node_views()[0]->meta;
    return {BERTH_ERROR,
            "",
            {"no corresponding pod " + std::string(Text(pod.meta->name)) + " in pods of node " +
             std::string(Text(node.name))}};
  }
  return TellPlugins(false, pod);
}

PluginStatus WhatIf::TellPlugins(bool added, const berth_pod& pod) {
  std::vector<berth_column> columns;
  StatusSink sink;
  for (const PlannedUse& use : attempt_.plan().At(Point::kPreFilter)) {
    if (cycles_[use.plugin] == nullptr) continue;
    PluginCycle& cycle = *cycles_[use.plugin];
    const PlannedPlugin& plugin = cycle.plugin();
    if (!TracksPods(plugin)) continue;
    if (std::string_view why; IsQuarantined(plugin, &why)) return Failed(plugin, added, why);
    const berth_pre_filter& point = *plugin.instance->pre_filter();
    const berth_block block = cycle.BlockFor(rows_, columns);
    sink.Clear();
    const berth_cycle* abi = cycle.AbiFor(Point::kPreFilter);
    const berth_code code = [&] {
      const PluginCall call(plugin, Point::kPreFilter);
      return (added ? point.add_pod : point.remove_pod)(plugin.instance->self(), abi, &pod, &block,
                                                        0, sink.raw());
    }();
    if (code == BERTH_SUCCESS) continue;
    return Failed(plugin, added, WhyFailed(plugin, Point::kPreFilter, code, sink));
  }
  return {};
}

bool CountsForOthers(const berth_pod& nominated, const berth_pod& pod) {
  if (nominated.scheduling_gates.count != 0) return false;
  return nominated.priority >= pod.priority && Text(nominated.meta->uid) != Text(pod.meta->uid);
}

// --- verdicts -----------------------------------------------------------------------------------

PluginStatus WhatIf::RunFilters(RowVerdict& verdict) {
  return RunFilterOnPrivateRow(cycles_, attempt_.plan(), rows_, 0, verdict);
}

PluginStatus WhatIf::RunFilters() {
  RowVerdict verdict;
  if (PluginStatus status = RunFilters(verdict); !status.ok()) return status;
  if (verdict.code == BERTH_SUCCESS) return {};
  const PluginCycle& cycle = attempt_.cycle(verdict.plugin);
  return {verdict.code, cycle.plugin().name, cycle.ReasonTexts(verdict.reasons)};
}

PluginStatus WhatIf::RunFiltersWithNominated(const Nominator& nominator) {
  const berth_pod& pod = attempt_.pod->view();
  const std::string_view node = Text(rows_.node_views()[0]->meta->name);
  std::unique_ptr<WhatIf> with_nominated;
  for (const PodRef& nominated : nominator.PodsFor(node)) {
    if (!CountsForOthers(nominated->view(), pod)) continue;
    if (with_nominated == nullptr) {
      auto copy = Copy();
      if (!copy.ok()) return CannotClone(copy.status());
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
