// berth.whatif/1
#include "host/runtime/service_whatif.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/api/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_cycle.h"
#include "host/runtime/services.h"
#include "host/runtime/what_if.h"

struct berth_whatif_row {
  berth::host::InstanceHost& host;
  std::unique_ptr<berth::host::WhatIf> what_if;
};

namespace berth::host {
namespace {

// Passes a status on to the plugin, which may not want it.
berth_code Tell(const PluginStatus& answer, berth_status* status) {
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
  return Tell(row->what_if->RemovePod(*pod), status);
}

berth_code AddPod(berth_whatif_row* row, const berth_pod* pod, berth_status* status) noexcept {
  return Tell(row->what_if->AddPod(*pod), status);
}

berth_code RunFilters(berth_whatif_row* row, berth_status* status) noexcept {
  const SchedulerRequests* scheduler = row->host.services().scheduler;
  return Tell(scheduler != nullptr ? row->what_if->RunFiltersWithNominated(scheduler->nominator())
                                   : row->what_if->RunFilters(),
              status);
}

void EndRow(berth_whatif_row* row) noexcept { row->host.what_if().End(row); }

constexpr berth_whatif kWhatIf{sizeof(berth_whatif), 0,     BeginRow, RemovePod, AddPod,
                               RunFilters,           EndRow};

}  // namespace

const berth_whatif* WhatIfService() { return &kWhatIf; }

// ---- WhatIfRows ---------------------------------------------------------------------------------

WhatIfRows::WhatIfRows(InstanceHost& host) : host_(host) {}
WhatIfRows::~WhatIfRows() = default;

berth_code WhatIfRows::Begin(const berth_cycle* cycle, uint32_t row, berth_whatif_row** out) {
  if (!host_.Under(kCycleWord) || host_.point() != Point::kPostFilter) return BERTH_CONFLICT;
  const PluginCycle& plugin_cycle = *PluginCycle::FromAbi(cycle);
  Attempt* attempt = plugin_cycle.attempt();
  if (attempt == nullptr || plugin_cycle.plugin().host.get() != &host_) return BERTH_CONFLICT;
  const NodeTable& table = attempt->table();
  if (row >= table.row_count() || table.node(row) == nullptr) return BERTH_NOT_FOUND;
  auto what_if = WhatIf::Begin(*attempt, row);
  if (!what_if.ok()) return BERTH_ERROR;
  rows_.push_back(
      std::make_unique<berth_whatif_row>(berth_whatif_row{host_, std::move(what_if).value()}));
  *out = rows_.back().get();
  return BERTH_SUCCESS;
}

void WhatIfRows::End(berth_whatif_row* row) {
  std::erase_if(rows_, [row](const auto& known) { return known.get() == row; });
}

void WhatIfRows::EndAll() {
  if (rows_.empty()) return;
  const size_t left = rows_.size();
  rows_.clear();
  host_.NoteFault(Point::kPostFilter, FaultKind::kSlotLeak,
                  std::to_string(left) + " what-if rows were not ended");
}

}  // namespace berth::host
