// The service berth.whatif/1.
#include "host/runtime/service_whatif.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/text.h"
#include "host/runtime/handle.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_cycle.h"
#include "host/runtime/services.h"
#include "host/runtime/what_if.h"

namespace berth::host {

struct alignas(WhatIfRows::kGenerations) WhatIfRows::Entry {
  static constexpr size_t kGenerations = WhatIfRows::kGenerations;

  InstanceHost* host;
  uint64_t generation = 0;
  std::unique_ptr<WhatIf> what_if;  // Null: the entry is free.
};

namespace {

// Copies a status to the plugin's, which may be null.
berth_code PassOn(const PluginStatus& answer, berth_status* status) {
  if (status != nullptr) {
    for (const std::string& reason : answer.reasons) status->add_reason(status, AsStr(reason));
  }
  return answer.code;
}

berth_code BeginRow(const berth_host* host, const berth_cycle* cycle, uint32_t row,
                    berth_whatif_row** out) noexcept {
  return InstanceHost::FromAbi(host).what_if().Begin(cycle, row, out);
}

berth_code RemovePod(berth_whatif_row* row, const berth_pod* pod, berth_status* status) noexcept {
  WhatIf* what_if = WhatIfRows::Find(row);
  return what_if != nullptr ? PassOn(what_if->RemovePod(*pod), status) : BERTH_CONFLICT;
}

berth_code AddPod(berth_whatif_row* row, const berth_pod* pod, berth_status* status) noexcept {
  WhatIf* what_if = WhatIfRows::Find(row);
  return what_if != nullptr ? PassOn(what_if->AddPod(*pod), status) : BERTH_CONFLICT;
}

berth_code RunFilters(berth_whatif_row* row, berth_status* status) noexcept {
  WhatIf* what_if = WhatIfRows::Find(row);
  if (what_if == nullptr) return BERTH_CONFLICT;
  const SchedulerRequests* scheduler = WhatIfRows::HostOf(row).services().scheduler;
  return PassOn(scheduler != nullptr ? what_if->RunFiltersWithNominated(scheduler->nominator())
                                     : what_if->RunFilters(),
                status);
}

void EndRow(berth_whatif_row* row) noexcept { WhatIfRows::End(row); }

constexpr berth_whatif kWhatIf{sizeof(berth_whatif), 0,     BeginRow, RemovePod, AddPod,
                               RunFilters,           EndRow};

}  // namespace

const berth_whatif* WhatIfService() { return &kWhatIf; }

// ---- WhatIfRows ---------------------------------------------------------------------------------

WhatIfRows::WhatIfRows(InstanceHost& host) : host_(host) {}
WhatIfRows::~WhatIfRows() = default;

berth_code WhatIfRows::Begin(const berth_cycle* cycle, uint32_t row, berth_whatif_row** out) {
  if (!host_.IsCalledUnder(kCycleWord) || host_.point() != Point::kPostFilter)
    return BERTH_CONFLICT;
  const PluginCycle& plugin_cycle = *PluginCycle::FromAbi(cycle);
  Attempt* attempt = plugin_cycle.attempt();
  if (attempt == nullptr || plugin_cycle.plugin().host.get() != &host_) return BERTH_CONFLICT;
  const NodeTable& table = attempt->table();
  if (row >= table.row_count() || table.node(row) == nullptr) return BERTH_NOT_FOUND;
  auto what_if = WhatIf::Begin(*attempt, row);
  if (!what_if.ok()) return BERTH_ERROR;
  auto entry = std::ranges::find(entries_, nullptr, [](const auto& e) { return e->what_if.get(); });
  if (entry == entries_.end()) {
    entries_.push_back(std::make_unique<Entry>(Entry{.host = &host_, .what_if = nullptr}));
    entry = entries_.end() - 1;
  }
  (*entry)->what_if = std::move(what_if).value();
  *out = HandleOf<berth_whatif_row>(**entry);
  return BERTH_SUCCESS;
}

InstanceHost& WhatIfRows::HostOf(berth_whatif_row* row) { return *EntryOf<Entry>(row).host; }

WhatIf* WhatIfRows::Find(berth_whatif_row* row) {
  if (row == nullptr) return nullptr;
  Entry& entry = EntryOf<Entry>(row);
  if (!entry.host->IsCalledUnder(kCycleWord) || entry.host->point() != Point::kPostFilter) {
    return nullptr;
  }
  return HandleOf<berth_whatif_row>(entry) == row ? entry.what_if.get() : nullptr;
}

void WhatIfRows::End(berth_whatif_row* row) {
  if (Find(row) != nullptr) Free(EntryOf<Entry>(row));
}

void WhatIfRows::Free(Entry& entry) {
  ++entry.generation;
  entry.what_if.reset();
}

void WhatIfRows::EndAll() {
  size_t left = 0;
  for (const auto& entry : entries_) {
    if (entry->what_if == nullptr) continue;
    Free(*entry);
    ++left;
  }
  if (left == 0) return;
  host_.NoteFault(Point::kPostFilter, FaultKind::kSlotLeak,
                  std::to_string(left) + " what-if rows were not ended");
}

}  // namespace berth::host
