// The services about the cycle in progress and the pods of the scheduler: berth.columns/1,
// berth.nodes/1, berth.random/1, berth.whatif/1, berth.nominator/1, berth.activate/1 and
// berth.waiting/1.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/base/foreign_struct.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/points/what_if.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// --- berth.columns/1 -----------------------------------------------------------------------------

berth_code BindColumn(const berth_host* host, const berth_cycle* cycle,
                      const berth_column_request* request, uint32_t* index) noexcept {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_column_request, reserved);
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kCycleWord) || !IsCurrent(instance, cycle)) return BERTH_CONFLICT;
  if (instance.point() != Point::kPreFilter && instance.point() != Point::kPreScore) {
    return BERTH_CONFLICT;
  }
  if (!IsReadable(*request, kFirstSize, BERTH_COLUMN_OPTIONAL)) return BERTH_BAD_ARGUMENT;
  if (request->name == nullptr) return BERTH_BAD_ARGUMENT;
  const bool optional = (request->flags & BERTH_COLUMN_OPTIONAL) != 0;
  const Result<uint32_t> bound =
      PluginCycle::FromAbi(cycle)->BindColumn(request->name, request->type, optional);
  if (bound.ok()) {
    *index = *bound;
    return BERTH_SUCCESS;
  }
  switch (bound.status().code()) {
    case ErrorCode::kNotFound: return BERTH_NOT_FOUND;
    case ErrorCode::kInvalidArgument: return BERTH_BAD_ARGUMENT;
    default: return BERTH_CONFLICT;
  }
}

constexpr berth_columns kColumns{sizeof(berth_columns), 0, BindColumn};

// --- berth.nodes/1 -------------------------------------------------------------------------------

berth_code FindNode(const berth_host* host, berth_str name, uint32_t* row) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kEventWord | kQueueWord | kCycleWord)) return BERTH_CONFLICT;
  const Row found = ServicesOf(instance).scheduler->FindNode(Text(name));
  if (found == kNoRow) return BERTH_NOT_FOUND;
  *row = found;
  return BERTH_SUCCESS;
}

berth_code PlaceRow(const berth_host* host, const berth_nodes* in, uint32_t row, uint32_t* block,
                    uint32_t* index) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kCycleWord)) return BERTH_CONFLICT;
  const berth_cycle* cycle = instance.cycle();
  if (cycle == nullptr) return BERTH_BAD_ARGUMENT;
  const PassedNodes* nodes = PassedNodes::FindPassed(*PluginCycle::FromAbi(cycle), in);
  if (nodes == nullptr) return BERTH_BAD_ARGUMENT;
  const std::optional<PassedNodes::Place> place = nodes->Find(row);
  if (!place.has_value()) return BERTH_NOT_FOUND;
  *block = place->block;
  *index = place->index;
  return BERTH_SUCCESS;
}

constexpr berth_node_lookup kNodes{sizeof(berth_node_lookup), 0, FindNode, PlaceRow};

// --- berth.random/1 ------------------------------------------------------------------------------

uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  const HostUse use(host);
  if (!use) return 0;
  InstanceHost& instance = *use;
  if (instance.IsCalledUnder(kCycleWord) && IsCurrent(instance, cycle)) {
    return PluginCycle::FromAbi(cycle)->NextRandom();
  }
  instance.NoteFaultAtCurrentPoint(
      "asked for a random number outside [cycle], or for another cycle than that of the call");
  return 0;
}

constexpr berth_random kRandom{sizeof(berth_random), 0, NextRandom};

// --- berth.whatif/1 ------------------------------------------------------------------------------

// The open questions of a plugin, by id. An id is never reused, so that a question that the plugin
// keeps too long is not found.
//
// Threading: [cycle], within PostFilter.
class WhatIfQuestions final : public ServiceState {
 public:
  // The verdict of a row in the last run that selected it.
  struct KeptVerdict {
    RowVerdict verdict;
    std::vector<std::string> error;  // The reasons of an error, which belong to no table.
  };
  struct Question {
    std::unique_ptr<WhatIf> what_if;
    std::vector<std::optional<KeptVerdict>> verdicts;  // By row; nothing before its first run.
  };

  static constexpr ServiceIndex kService = ServiceIndex::kWhatIf;

  explicit WhatIfQuestions(const InstanceHost& /*host*/) {}

  // Implements berth_whatif.begin, for the cycle of the call in progress.
  berth_code Open(const berth_cycle* cycle, std::span<const uint32_t> rows, uint32_t mode,
                  uint64_t* question) {
    Attempt* attempt = PluginCycle::FromAbi(cycle)->attempt();
    if (attempt == nullptr || !attempt->allows_what_if()) return BERTH_CONFLICT;
    if (mode != BERTH_WHATIF_APART && mode != BERTH_WHATIF_TOGETHER) return BERTH_BAD_ARGUMENT;
    const NodeTable& table = attempt->table();
    const auto is_live = [&](Row row) { return row < table.row_count() && table.IsLive(row); };
    if (!std::ranges::all_of(rows, is_live)) return BERTH_NOT_FOUND;
    if (mode == BERTH_WHATIF_TOGETHER) {
      const std::set<uint32_t> distinct(rows.begin(), rows.end());
      if (distinct.size() != rows.size()) return BERTH_BAD_ARGUMENT;
    }
    *question = ++last_;
    open_.emplace(
        last_, Question{std::make_unique<WhatIf>(*attempt, rows, static_cast<WhatIf::Mode>(mode)),
                        std::vector<std::optional<KeptVerdict>>(rows.size())});
    return BERTH_SUCCESS;
  }
  // Returns null if the question was ended.
  Question* Find(uint64_t question) {
    const auto found = open_.find(question);
    return found != open_.end() ? &found->second : nullptr;
  }
  void End(uint64_t question) { open_.erase(question); }
  // Ends the questions that are still open.
  void EndPostFilter() override { open_.clear(); }

 private:
  std::map<uint64_t, Question> open_;
  uint64_t last_ = 0;
};

// Returns whether the plugin may ask questions in the call in progress.
bool IsAllowed(const InstanceHost& host) {
  return host.IsCalledUnder(kCycleWord) && host.point() == Point::kPostFilter;
}

// Returns null if the question was ended or must not be used in the call in progress.
WhatIfQuestions::Question* FindQuestion(const InstanceHost& host, uint64_t question) {
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
  const WhatIfQuestions::Question* asked = FindQuestion(InstanceHost::FromAbi(host), question);
  if (asked == nullptr) return BERTH_CONFLICT;
  if (i >= asked->what_if->size()) return BERTH_BAD_ARGUMENT;
  return PassOn((asked->what_if.get()->*change)(i, *pod), status);
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
  WhatIfQuestions::Question* asked = FindQuestion(instance, question);
  if (asked == nullptr) return BERTH_CONFLICT;
  WhatIf* const what_if = asked->what_if.get();
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
  for (const uint32_t i : indices) {
    run->codes[i] = verdicts[i].code;
    const bool failed = verdicts[i].code == BERTH_ERROR;
    asked->verdicts[i] = {verdicts[i],
                          failed ? what_if->error(i).reasons : std::vector<std::string>()};
  }
  if (status == nullptr) return BERTH_SUCCESS;
  // Collected first: the plugin, which implements the status, may end the question within
  // add_reason.
  return PassOn({BERTH_SUCCESS, {}, ReasonsOf(*what_if, indices, verdicts)}, status);
}

void EndQuestion(const berth_host* host, uint64_t question) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (IsAllowed(instance)) StateOf<WhatIfQuestions>(instance).End(question);
}

berth_code ReasonsOfRow(const berth_host* host, uint64_t question, uint32_t i,
                        berth_status* status) noexcept {
  const WhatIfQuestions::Question* asked = FindQuestion(InstanceHost::FromAbi(host), question);
  if (asked == nullptr) return BERTH_CONFLICT;
  if (i >= asked->verdicts.size()) return BERTH_BAD_ARGUMENT;
  if (!asked->verdicts[i].has_value()) return BERTH_CONFLICT;
  const auto& [verdict, error] = *asked->verdicts[i];
  if (verdict.code == BERTH_SUCCESS) return BERTH_SUCCESS;
  if (verdict.code == BERTH_ERROR) return PassOn({BERTH_SUCCESS, {}, error}, status);
  const PluginCycle& cycle = asked->what_if->attempt().cycle(verdict.plugin);
  return PassOn({BERTH_SUCCESS, {}, cycle.RejectionTexts(verdict.reasons)}, status);
}

// Returns whether the verdict of the plugin for a row may depend on pods.
bool MayDependOnPods(const PlannedPlugin& plugin) {
  const berth_dependence* const dependence = plugin.instance->filter()->dependence;
  constexpr uint32_t kPods = BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER;
  return dependence == nullptr || (dependence->cluster & kPods) != 0;
}

berth_code PodFilters(const berth_host* host, const berth_cycle* cycle,
                      int32_t (*each)(void*, berth_str) noexcept, void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!IsAllowed(instance) || !IsCurrent(instance, cycle)) return BERTH_CONFLICT;
  const Attempt* attempt = PluginCycle::FromAbi(cycle)->attempt();
  if (attempt == nullptr || !attempt->allows_what_if()) return BERTH_CONFLICT;
  for (const PlannedUse& use : attempt->plan().At(Point::kFilter)) {
    const PluginCycle& filter = attempt->cycle(use.plugin);
    if (filter.skip_filter || !MayDependOnPods(filter.plugin())) continue;
    if (each(to, AsStr(filter.plugin().name)) == 0) break;
  }
  return BERTH_SUCCESS;
}

constexpr berth_whatif kWhatIf{sizeof(berth_whatif), 0,           BeginQuestion, RemovePod, AddPod,
                               RunFilters,           EndQuestion, ReasonsOfRow,  PodFilters};

// --- berth.nominator/1 ---------------------------------------------------------------------------

constexpr uint32_t kNominatorWords = kEventWord | kQueueWord | kCycleWord;

berth_code ListNominated(const berth_host* host, berth_str node,
                         int32_t (*each)(void*, const berth_pod*) noexcept, void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  const auto pods = ServicesOf(instance).scheduler->nominator().PodsFor(Text(node));
  // A copy, because the callback may change the nominations.
  const std::vector<PodRef> kept(pods.begin(), pods.end());
  for (const PodRef& pod : kept) {
    if (each(to, &pod->view()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code ClearNomination(const berth_host* host, berth_str pod_uid) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  return ServicesOf(instance).scheduler->ClearNomination(Text(pod_uid)) ? BERTH_SUCCESS
                                                                        : BERTH_NOT_FOUND;
}

berth_code EachNominated(const berth_host* host,
                         int32_t (*each)(void*, const berth_pod*, berth_str node) noexcept,
                         void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kNominatorWords)) return BERTH_CONFLICT;
  // A copy, because the callback may change the nominations.
  std::map<std::string, std::vector<PodRef>, std::less<>> kept;
  ServicesOf(instance).scheduler->nominator().ForEachNode(
      [&](std::string_view node, std::span<const PodRef> pods) {
        kept.emplace(node, std::vector<PodRef>(pods.begin(), pods.end()));
      });
  for (const auto& [node, pods] : kept) {
    for (const PodRef& pod : pods) {
      if (each(to, &pod->view(), AsStr(node)) == 0) return BERTH_SUCCESS;
    }
  }
  return BERTH_SUCCESS;
}

constexpr berth_nominator kNominator{sizeof(berth_nominator), 0, ListNominated, ClearNomination,
                                     EachNominated};

// --- berth.activate/1 ----------------------------------------------------------------------------

berth_code Activate(const berth_host* host, const berth_str* pod_uids, uint64_t count) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kEventWord | kQueueWord | kCycleWord | kBindWord))
    return BERTH_CONFLICT;
  for (uint64_t i = 0; i < count; ++i) ServicesOf(instance).scheduler->Activate(Text(pod_uids[i]));
  return BERTH_SUCCESS;
}

constexpr berth_activate kActivate{sizeof(berth_activate), 0, Activate};

// --- berth.waiting/1 -----------------------------------------------------------------------------

constexpr uint32_t kWaitingWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

berth_code EachWaiting(const berth_host* host, int32_t (*each)(void*, const berth_pod*) noexcept,
                       void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  // A copy, because the callback may allow and reject pods.
  for (const PodRef& pod : ServicesOf(instance).scheduler->Waiting(instance.id())) {
    if (each(to, &pod->view()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code Allow(const berth_host* host, berth_str pod_uid) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  const bool waits = ServicesOf(instance).scheduler->Allow(Text(pod_uid), instance.id());
  return waits ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code Reject(const berth_host* host, const berth_rejection* rejection) noexcept {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_rejection, reason);
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kWaitingWords)) return BERTH_CONFLICT;
  if (!IsReadable(*rejection, kFirstSize)) return BERTH_BAD_ARGUMENT;
  const berth_str reason = rejection->reason;
  std::string text = KeptReason(Text(reason));
  if (IsNull(reason)) text = NullReason(instance.plugin());
  if (text.empty()) text = NoReason(instance.plugin());
  const bool waits =
      ServicesOf(instance).scheduler->Reject(Text(rejection->pod_uid), instance.id(), text);
  return waits ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

constexpr berth_waiting kWaiting{sizeof(berth_waiting), 0, EachWaiting, Allow, Reject};

}  // namespace

std::span<const ServiceInfo> SchedulerServices() {
  static const std::array services{
      ServiceInfo{.id = BERTH_SERVICE_COLUMNS, .functions = &kColumns},
      ServiceInfo{.id = BERTH_SERVICE_NODES, .functions = &kNodes, .is_served = HasScheduler},
      ServiceInfo{.id = BERTH_SERVICE_RANDOM, .functions = &kRandom},
      ServiceInfo{.id = BERTH_SERVICE_WHATIF,
                  .functions = &kWhatIf,
                  .create_state = CreateState<WhatIfQuestions>},
      ServiceInfo{
          .id = BERTH_SERVICE_NOMINATOR, .functions = &kNominator, .is_served = HasScheduler},
      ServiceInfo{.id = BERTH_SERVICE_ACTIVATE, .functions = &kActivate, .is_served = HasScheduler},
      ServiceInfo{.id = BERTH_SERVICE_WAITING, .functions = &kWaiting, .is_served = HasScheduler}};
  return services;
}

}  // namespace berth::host
