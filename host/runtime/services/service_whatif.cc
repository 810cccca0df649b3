// The service berth.whatif/1.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/base/foreign_struct.h"
#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/points/what_if.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// The open questions of a plugin, by id. An id is never reused, so that a question that the plugin
// keeps too long is not found.
//
// Threading: [cycle], within PostFilter.
class WhatIfQuestions final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kWhatIf;

  explicit WhatIfQuestions(const InstanceHost& /*host*/) {}

  // Implements berth_whatif.begin, for the cycle of the call in progress.
  berth_code Open(const berth_cycle* cycle, std::span<const uint32_t> rows, uint32_t mode,
                  uint64_t* question);
  // Returns null if the question was ended.
  WhatIf* Find(uint64_t question) {
    const auto found = open_.find(question);
    return found != open_.end() ? found->second.get() : nullptr;
  }
  void End(uint64_t question) { open_.erase(question); }
  // Ends the questions that are still open.
  void EndPostFilter() override { open_.clear(); }

 private:
  std::map<uint64_t, std::unique_ptr<WhatIf>> open_;
  uint64_t last_ = 0;
};

// Returns whether PreFilter ended before every plugin was called, so that the Filters of those that
// were left out would read slots that no PreFilter has prepared.
bool SkippedPreFilters(const Attempt& attempt) {
  const auto& rejection = attempt.pre_filter_rejection;
  return rejection.has_value() && rejection->code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
}

berth_code WhatIfQuestions::Open(const berth_cycle* cycle, std::span<const uint32_t> rows,
                                 uint32_t mode, uint64_t* question) {
  Attempt* attempt = PluginCycle::FromAbi(cycle)->attempt();
  if (attempt == nullptr || SkippedPreFilters(*attempt)) return BERTH_CONFLICT;
  if (mode != BERTH_WHATIF_APART && mode != BERTH_WHATIF_TOGETHER) return BERTH_BAD_ARGUMENT;
  const NodeTable& table = attempt->table();
  const auto is_live = [&](Row row) { return row < table.row_count() && table.IsLive(row); };
  if (!std::ranges::all_of(rows, is_live)) return BERTH_NOT_FOUND;
  if (mode == BERTH_WHATIF_TOGETHER) {
    const std::set<uint32_t> distinct(rows.begin(), rows.end());
    if (distinct.size() != rows.size()) return BERTH_BAD_ARGUMENT;
  }
  *question = ++last_;
  open_.emplace(last_, std::make_unique<WhatIf>(*attempt, rows, static_cast<WhatIf::Mode>(mode)));
  return BERTH_SUCCESS;
}

// ---- The functions ------------------------------------------------------------------------------

// Returns whether the plugin may ask questions in the call in progress.
bool IsAllowed(const InstanceHost& host) {
  return host.IsCalledUnder(kCycleWord) && host.point() == Point::kPostFilter;
}

// Returns null if the question was ended or must not be used in the call in progress.
WhatIf* FindQuestion(const InstanceHost& host, uint64_t question) {
  return IsAllowed(host) ? StateOf<WhatIfQuestions>(host).Find(question) : nullptr;
}

// Copies a status to the plugin's, which may be null.
berth_code PassOn(const PluginStatus& answer, berth_status* status) {
  if (status != nullptr) {
    for (const std::string& reason : answer.reasons) status->add_reason(status, AsStr(reason));
  }
  return answer.code;
}

// Returns the reasons of all verdicts, each text once.
std::vector<std::string> ReasonsOf(const WhatIf& what_if, std::span<const uint32_t> selected,
                                   std::span<const RowVerdict> verdicts) {
  std::set<std::pair<uint32_t, uint64_t>> seen;  // Plugins and reasons.
  std::set<std::string> known;
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<std::string>& reasons) {
    for (const std::string& reason : reasons) {
      if (known.insert(reason).second) texts.push_back(reason);
    }
  };
  for (const uint32_t i : selected) {
    const RowVerdict& verdict = verdicts[i];
    if (verdict.code == BERTH_SUCCESS) continue;
    if (verdict.code == BERTH_ERROR) {
      add(what_if.error(i).reasons);
    } else if (seen.emplace(verdict.plugin, verdict.reasons).second) {
      add(what_if.attempt().cycle(verdict.plugin).RejectionTexts(verdict.reasons));
    }
  }
  return texts;
}

berth_code BeginQuestion(const berth_host* host, const berth_cycle* cycle, const uint32_t* rows,
                         uint32_t count, uint32_t mode, uint64_t* question) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!IsAllowed(instance) || !IsCurrent(instance, cycle)) return BERTH_CONFLICT;
  return StateOf<WhatIfQuestions>(instance).Open(cycle, {rows, count}, mode, question);
}

using ChangePod = PluginStatus (WhatIf::*)(uint32_t i, const berth_pod& pod);

berth_code Change(const berth_host* host, uint64_t question, uint32_t i, const berth_pod* pod,
                  berth_status* status, ChangePod change) {
  WhatIf* what_if = FindQuestion(InstanceHost::FromAbi(host), question);
  if (what_if == nullptr) return BERTH_CONFLICT;
  if (i >= what_if->size()) return BERTH_BAD_ARGUMENT;
  return PassOn((what_if->*change)(i, *pod), status);
}

berth_code RemovePod(const berth_host* host, uint64_t question, uint32_t i, const berth_pod* pod,
                     berth_status* status) noexcept {
  return Change(host, question, i, pod, status, &WhatIf::RemovePod);
}

berth_code AddPod(const berth_host* host, uint64_t question, uint32_t i, const berth_pod* pod,
                  berth_status* status) noexcept {
  return Change(host, question, i, pod, status, &WhatIf::AddPod);
}

bool AreAscendingBelow(std::span<const uint32_t> indices, uint32_t end) {
  if (!indices.empty() && indices.back() >= end) return false;
  return std::ranges::adjacent_find(indices, std::ranges::greater_equal()) == indices.end();
}

berth_code RunFilters(const berth_host* host, uint64_t question, const berth_whatif_run* run,
                      berth_status* status) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  WhatIf* what_if = FindQuestion(instance, question);
  if (what_if == nullptr) return BERTH_CONFLICT;
  if (!IsReadable(*run, BERTH_FIRST_SIZE(berth_whatif_run, codes))) return BERTH_BAD_ARGUMENT;
  std::vector<uint32_t> indices;
  if (run->selected != nullptr) {
    if (run->n_selected > what_if->size()) return BERTH_BAD_ARGUMENT;
    indices.assign(run->selected, run->selected + run->n_selected);
    if (!AreAscendingBelow(indices, what_if->size())) return BERTH_BAD_ARGUMENT;
  } else {
    indices.resize(what_if->size());
    std::iota(indices.begin(), indices.end(), 0U);
  }
  std::vector<RowVerdict> verdicts(what_if->size());
  const SchedulerRequests* scheduler = ServicesOf(instance).scheduler;
  const PluginStatus answer = scheduler != nullptr ? what_if->RunFiltersWithNominated(
                                                         scheduler->nominator(), indices, verdicts)
                                                   : what_if->RunFilters(indices, verdicts);
  if (!answer.ok()) return PassOn(answer, status);
  for (const uint32_t i : indices) run->codes[i] = verdicts[i].code;
  if (status == nullptr) return BERTH_SUCCESS;
  // Collected first: the plugin, which implements the status, may end the question within
  // add_reason.
  return PassOn({BERTH_SUCCESS, {}, ReasonsOf(*what_if, indices, verdicts)}, status);
}

void EndQuestion(const berth_host* host, uint64_t question) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (IsAllowed(instance)) StateOf<WhatIfQuestions>(instance).End(question);
}

constexpr berth_whatif kWhatIf{sizeof(berth_whatif), 0,          BeginQuestion, RemovePod, AddPod,
                               RunFilters,           EndQuestion};

}  // namespace

ServiceInfo WhatIfService() {
  return {.id = BERTH_SERVICE_WHATIF,
          .functions = &kWhatIf,
          .create_state = CreateState<WhatIfQuestions>};
}

}  // namespace berth::host
