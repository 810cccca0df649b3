#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/cycle.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>
#include <berth/testing/what_if.h>

namespace berth::testing {
namespace {

berth_code PassOn(const Answer& answer, berth_status* status) {
  if (status != nullptr) {
    for (const std::string& reason : answer.reasons) status->add_reason(status, ToAbi(reason));
  }
  return answer.code;
}

}  // namespace

const berth_node_lookup SchedulingServices::kNodes{sizeof(berth_node_lookup), 0, &FindNode,
                                                   &PlaceRow};
const berth_whatif SchedulingServices::kWhatIf{
    sizeof(berth_whatif), 0,    &Begin,     &RemovePod, &AddPod,
    &RunFilters,          &End, &ReasonsOf, &PodFilters};
const berth_nominator SchedulingServices::kNominator{sizeof(berth_nominator), 0, &ListNominated,
                                                     &ClearNomination, &EachNominated};
const berth_activate SchedulingServices::kActivate{sizeof(berth_activate), 0, &Activate};
const berth_waiting SchedulingServices::kWaiting{sizeof(berth_waiting), 0, &EachWaiting, &Allow,
                                                 &Reject};

SchedulingServices::SchedulingServices(Reporter* reporter) : reporter_(*reporter) {}
SchedulingServices::~SchedulingServices() = default;

const void* SchedulingServices::Find(std::string_view id) {
  const std::pair<std::string_view, const void*> services[] = {
      {BERTH_SERVICE_NODES, &kNodes},
      {BERTH_SERVICE_WHATIF, &kWhatIf},
      {BERTH_SERVICE_NOMINATOR, &kNominator},
      {BERTH_SERVICE_ACTIVATE, &kActivate},
      {BERTH_SERVICE_WAITING, &kWaiting}};
  for (const auto& [known, service] : services) {
    if (id == known) return service;
  }
  return nullptr;
}

void SchedulingServices::Nominate(PodHandle pod, std::string node) {
  EndNomination(pod.spec().uid);
  nominations_.push_back({std::move(pod), std::move(node)});
}

void SchedulingServices::EndNomination(std::string_view uid) {
  std::erase_if(nominations_,
                [uid](const Nomination& nomination) { return nomination.pod.spec().uid == uid; });
}

bool SchedulingServices::IsWaiting(std::string_view uid) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [uid](const PodHandle& pod) { return pod.spec().uid == uid; });
}

bool SchedulingServices::WasRejected(std::string_view uid) const {
  return std::any_of(rejected_.begin(), rejected_.end(),
                     [uid](const Rejection& rejection) { return rejection.uid == uid; });
}

bool SchedulingServices::Preempt(std::string_view uid, std::string_view message) {
  if (!EndWaiting(uid)) return false;
  preempted_.push_back({std::string(uid), std::string(message)});
  return true;
}

void SchedulingServices::ForgetRecords() {
  activated_.clear();
  allowed_.clear();
  rejected_.clear();
  preempted_.clear();
}

void SchedulingServices::AddWaiting(PodHandle pod) { waiting_.push_back(std::move(pod)); }

void SchedulingServices::EndPassing(const Nodes& nodes) { std::erase(passed_, &nodes); }

void SchedulingServices::EndQuestions() { questions_.clear(); }

SchedulingServices& SchedulingServices::Of(const berth_host* host) {
  return static_cast<Services*>(host->impl)->scheduling();
}

bool SchedulingServices::Expect(const berth_host* host, const char* service, uint32_t words) {
  return ExpectWord(Of(host).reporter_, service, words);
}

bool SchedulingServices::ExpectPostFilter(const berth_host* host, const char* service) {
  return Expect(host, service, kCycle) && ExpectPoint(Of(host).reporter_, service, {"PostFilter"});
}

berth_code SchedulingServices::BadArgument(const std::string& what) {
  reporter_.Fail(Check::kShape, what);
  return BERTH_BAD_ARGUMENT;
}

// ---- nodes --------------------------------------------------------------------------------------

berth_code SchedulingServices::FindNode(const berth_host* host, berth_str name,
                                        uint32_t* row) noexcept {
  if (!Expect(host, "nodes.find", kEvent | kQueue | kCycle)) return BERTH_CONFLICT;
  if (Of(host).table_ == nullptr) return BERTH_NOT_FOUND;
  for (const Row& known : Of(host).table_->rows) {
    if (known.node.name() == FromAbi(name)) return *row = known.number, BERTH_SUCCESS;
  }
  return BERTH_NOT_FOUND;
}

berth_code SchedulingServices::PlaceRow(const berth_host* host, const berth_nodes* in, uint32_t row,
                                        uint32_t* block, uint32_t* index) noexcept {
  if (!Expect(host, "nodes.place", kCycle)) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  const auto found = std::find_if(self.passed_.begin(), self.passed_.end(),
                                  [in](const Nodes* nodes) { return nodes->abi() == in; });
  if (found == self.passed_.end()) {
    return self.BadArgument("calls nodes.place with nodes that this call did not receive");
  }
  return (*found)->Find(row, block, index) ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

// ---- whatif -------------------------------------------------------------------------------------

SchedulingServices::Question* SchedulingServices::FindQuestion(uint64_t question) {
  const auto found = questions_.find(question);
  if (found != questions_.end()) return &found->second;
  reporter_.Fail(Check::kShape,
                 "uses what-if question " + std::to_string(question) + ", which is not open");
  return nullptr;
}

berth_code SchedulingServices::Begin(const berth_host* host, const berth_cycle* cycle,
                                     const uint32_t* rows, uint32_t count, uint32_t mode,
                                     uint64_t* question) noexcept {
  if (!ExpectPostFilter(host, "whatif.begin")) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  if (!ExpectCycle(self.reporter_, "whatif.begin", cycle)) return BERTH_CONFLICT;
  if (mode != BERTH_WHATIF_APART && mode != BERTH_WHATIF_TOGETHER) {
    return self.BadArgument("begins a what-if question of mode " + std::to_string(mode) +
                            ", which does not exist");
  }
  const Cycle& asked = *static_cast<ColumnBinder*>(const_cast<void*>(cycle->host))->cycle;
  if (asked.has_ended_early()) return BERTH_CONFLICT;
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < count; ++i) {
    const auto& all = asked.table().rows;
    const auto row = std::find_if(all.begin(), all.end(),
                                  [&](const Row& known) { return known.number == rows[i]; });
    if (row == all.end()) return BERTH_NOT_FOUND;
    indices.push_back(static_cast<uint32_t>(row - all.begin()));
  }
  const bool repeats = std::set(indices.begin(), indices.end()).size() != indices.size();
  if (repeats && mode == BERTH_WHATIF_TOGETHER) {
    return self.BadArgument("begins a what-if question about rows together that repeat");
  }
  *question = ++self.last_question_;
  self.questions_[*question] = {std::make_unique<WhatIfRows>(asked, indices, mode),
                                std::vector<std::optional<Answer>>(count)};
  return BERTH_SUCCESS;
}

berth_code SchedulingServices::Change(const berth_host* host, uint64_t question, uint32_t i,
                                      const berth_pod* pod, berth_status* status, bool add) {
  const char* const name = add ? "whatif.add_pod" : "whatif.remove_pod";
  if (!ExpectPostFilter(host, name)) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  const Question* const found = self.FindQuestion(question);
  if (found == nullptr) return BERTH_CONFLICT;
  WhatIfRows* const asked = found->rows.get();
  if (i >= asked->size()) {
    return self.BadArgument(std::string("calls ") + name + " for row " + std::to_string(i) +
                            " of a question about " + std::to_string(asked->size()));
  }
  if (!add) return PassOn(asked->RemovePod(i, pod), status);
  const std::optional<PodHandle> known = PodHandle::Find(pod, Services::Of(host).ids());
  if (!known) return self.BadArgument("adds a pod that the host did not pass to it");
  return PassOn(asked->AddPod(i, *known), status);
}

berth_code SchedulingServices::RemovePod(const berth_host* host, uint64_t question, uint32_t i,
                                         const berth_pod* pod, berth_status* status) noexcept {
  return Change(host, question, i, pod, status, false);
}

berth_code SchedulingServices::AddPod(const berth_host* host, uint64_t question, uint32_t i,
                                      const berth_pod* pod, berth_status* status) noexcept {
  return Change(host, question, i, pod, status, true);
}

berth_code SchedulingServices::RunFilters(const berth_host* host, uint64_t question,
                                          const berth_whatif_run* run,
                                          berth_status* status) noexcept {
  if (!ExpectPostFilter(host, "whatif.run_filters")) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  Question* const found = self.FindQuestion(question);
  if (found == nullptr) return BERTH_CONFLICT;
  const WhatIfRows* const asked = found->rows.get();
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_whatif_run, codes);
  if (!ExpectReadable(self.reporter_, "whatif.run_filters", *run, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  const uint64_t n = run->selected != nullptr ? run->n_selected : asked->size();
  std::vector<uint32_t> indices(std::min<uint64_t>(n, asked->size()));
  if (run->selected != nullptr) {
    std::copy_n(run->selected, indices.size(), indices.begin());
  } else {
    std::iota(indices.begin(), indices.end(), 0u);
  }
  const bool ascend =
      std::adjacent_find(indices.begin(), indices.end(),
                         [](uint32_t a, uint32_t b) { return a >= b; }) == indices.end();
  const bool exist = indices.size() == n && (n == 0 || indices.back() < asked->size());
  if (!ascend || !exist) {
    return self.BadArgument(
        "calls whatif.run_filters with selected rows that do not ascend or do not exist");
  }
  const std::vector<Answer> answers = asked->RunFilters(indices, self.nominations_);
  const auto failed = std::find_if(answers.begin(), answers.end(),
                                   [](const Answer& a) { return a.code == BERTH_ERROR; });
  if (!asked->is_apart() && failed != answers.end()) return PassOn(*failed, status);
  std::set<std::string> known;
  Answer all;  // each text once, in the order of the rows
  for (size_t k = 0; k < indices.size(); ++k) {
    run->codes[indices[k]] = static_cast<uint8_t>(answers[k].code);
    found->answers[indices[k]] = answers[k];
    for (const std::string& reason : answers[k].reasons) {
      if (known.insert(reason).second) all.reasons.push_back(reason);
    }
  }
  return PassOn(all, status);
}

void SchedulingServices::End(const berth_host* host, uint64_t question) noexcept {
  if (ExpectPostFilter(host, "whatif.end")) Of(host).questions_.erase(question);
}

berth_code SchedulingServices::ReasonsOf(const berth_host* host, uint64_t question, uint32_t i,
                                         berth_status* status) noexcept {
  if (!ExpectPostFilter(host, "whatif.reasons")) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  const Question* const asked = self.FindQuestion(question);
  if (asked == nullptr) return BERTH_CONFLICT;
  if (i >= asked->answers.size()) {
    return self.BadArgument("calls whatif.reasons for row " + std::to_string(i) +
                            " of a question about " + std::to_string(asked->answers.size()));
  }
  if (!asked->answers[i]) return BERTH_CONFLICT;
  PassOn(*asked->answers[i], status);
  return BERTH_SUCCESS;
}

berth_code SchedulingServices::PodFilters(const berth_host* host, const berth_cycle* cycle,
                                          int32_t (*each)(void* to, berth_str plugin) noexcept,
                                          void* to) noexcept {
  if (!ExpectPostFilter(host, "whatif.pod_filters")) return BERTH_CONFLICT;
  SchedulingServices& self = Of(host);
  if (!ExpectCycle(self.reporter_, "whatif.pod_filters", cycle)) return BERTH_CONFLICT;
  const Cycle& asked = *static_cast<ColumnBinder*>(const_cast<void*>(cycle->host))->cycle;
  if (asked.has_ended_early()) return BERTH_CONFLICT;
  const auto& filter = asked.instance().filter;
  if (!filter || asked.skips_filter()) return BERTH_SUCCESS;
  constexpr uint32_t kPods = BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER;
  const berth_dependence* const dependence = filter->dependence;
  const bool depends = dependence == nullptr || (dependence->cluster & kPods) != 0;
  if (depends) each(to, ToAbi(self.reporter_.plugin()));
  return BERTH_SUCCESS;
}

// ---- nominator ----------------------------------------------------------------------------------

namespace {
constexpr uint32_t kNominatorWords = kEvent | kQueue | kCycle;
constexpr uint32_t kRequestWords = kEvent | kQueue | kCycle | kBind;
}  // namespace

berth_code SchedulingServices::ListNominated(const berth_host* host, berth_str node,
                                             int32_t (*each)(void*, const berth_pod*) noexcept,
                                             void* to) noexcept {
  if (!Expect(host, "nominator.list", kNominatorWords)) return BERTH_CONFLICT;
  const std::vector<Nomination> kept = Of(host).nominations_;
  for (const Nomination& nomination : kept) {
    if (nomination.node == FromAbi(node) && each(to, nomination.pod.get()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code SchedulingServices::ClearNomination(const berth_host* host, berth_str uid) noexcept {
  if (!Expect(host, "nominator.clear", kNominatorWords)) return BERTH_CONFLICT;
  const auto gone = std::erase_if(Of(host).nominations_, [uid](const Nomination& nomination) {
    return nomination.pod.spec().uid == FromAbi(uid);
  });
  return gone != 0 ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code SchedulingServices::EachNominated(const berth_host* host,
                                             int32_t (*each)(void*, const berth_pod*,
                                                             berth_str) noexcept,
                                             void* to) noexcept {
  if (!Expect(host, "nominator.each", kNominatorWords)) return BERTH_CONFLICT;
  std::vector<Nomination> sorted = Of(host).nominations_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Nomination& a, const Nomination& b) { return a.node < b.node; });
  for (const Nomination& nomination : sorted) {
    if (each(to, nomination.pod.get(), ToAbi(nomination.node)) == 0) break;
  }
  return BERTH_SUCCESS;
}

// ---- activate and waiting -----------------------------------------------------------------------

berth_code SchedulingServices::Activate(const berth_host* host, const berth_str* uids,
                                        uint64_t count) noexcept {
  if (!Expect(host, "activate.activate", kRequestWords)) return BERTH_CONFLICT;
  for (uint64_t i = 0; i < count; ++i) Of(host).activated_.emplace_back(FromAbi(uids[i]));
  return BERTH_SUCCESS;
}

berth_code SchedulingServices::EachWaiting(const berth_host* host,
                                           int32_t (*each)(void*, const berth_pod*) noexcept,
                                           void* to) noexcept {
  if (!Expect(host, "waiting.each", kRequestWords)) return BERTH_CONFLICT;
  const std::vector<PodHandle> kept = Of(host).waiting_;
  for (const PodHandle& pod : kept) {
    if (each(to, pod.get()) == 0) break;
  }
  return BERTH_SUCCESS;
}

bool SchedulingServices::EndWaiting(std::string_view uid) {
  const auto ended =
      std::erase_if(waiting_, [uid](const PodHandle& pod) { return pod.spec().uid == uid; });
  return ended != 0;
}

berth_code SchedulingServices::Allow(const berth_host* host, berth_str uid) noexcept {
  if (!Expect(host, "waiting.allow", kRequestWords)) return BERTH_CONFLICT;
  if (!Of(host).EndWaiting(FromAbi(uid))) return BERTH_NOT_FOUND;
  Of(host).allowed_.emplace_back(FromAbi(uid));
  return BERTH_SUCCESS;
}

std::string SchedulingServices::ReasonOf(const berth_rejection& rejection) {
  if (IsNull(rejection.reason)) {
    reporter_.Fail(Check::kShape, "calls waiting.reject with a reason that is NULL");
    return reporter_.plugin() + " gave a reason that is NULL";
  }
  if (rejection.reason.len == 0) return reporter_.plugin() + " gave no reason";
  return std::string(FromAbi(rejection.reason));
}

berth_code SchedulingServices::Reject(const berth_host* host,
                                      const berth_rejection* rejection) noexcept {
  if (!Expect(host, "waiting.reject", kRequestWords)) return BERTH_CONFLICT;
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_rejection, reason);
  if (!ExpectReadable(Of(host).reporter_, "waiting.reject", *rejection, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  const std::string uid(FromAbi(rejection->pod_uid));
  if (!Of(host).EndWaiting(uid)) return BERTH_NOT_FOUND;
  Of(host).rejected_.push_back({uid, Of(host).ReasonOf(*rejection)});
  return BERTH_SUCCESS;
}

}  // namespace berth::testing
