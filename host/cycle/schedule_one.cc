#include "host/cycle/schedule_one.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/runtime/run_filter.h"
#include "host/runtime/run_post_filter.h"
#include "host/runtime/run_pre_filter.h"
#include "host/runtime/run_score.h"

namespace berth::host {
namespace {

Decision Refusal(berth_code code, std::string message) {
  Decision decision;
  decision.code = code;
  decision.message = std::move(message);
  return decision;
}

Decision Failed(const PluginStatus& status) { return Refusal(BERTH_ERROR, status.Message()); }

}  // namespace

Decision Scheduler::Decide(PodRef pod) {
  if (pod->terminating()) {
    Decision decision = Refusal(BERTH_SKIP, "skip schedule deleting pod: " + pod->Key());
    decision.skipped = true;
    return decision;
  }
  attempt_.Begin(std::move(pod), ++attempts_);
  return FindNode();
}

Decision Scheduler::FindNode() {
  const auto unhandled = fields_.Unhandled(attempt_.pod->view());
  if (!unhandled.empty()) {
    Decision decision =
        Refusal(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, HandledFields::Message(unhandled));
    decision.rejectors.plugins = {std::string(kUnhandledField)};
    return decision;
  }
  if (attempt_.live_rows().size() == 0) {
    Decision decision =
        Refusal(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "no nodes available to schedule pods");
    decision.rejectors.plugins = {std::string(kNoNodes)};
    return decision;
  }
  Decision decision;
  if (!Filter(decision)) return decision;
  if (attempt_.feasible.size() == 0) return NoNodeFits();
  if (!Score(decision)) return decision;
  decision.row = PickRow();
  return decision;
}

// What PostFilter says goes into the message; the pod is unschedulable whatever that is.
Decision Scheduler::NoNodeFits() {
  Decision decision;
  decision.code = BERTH_UNSCHEDULABLE;
  decision.rejectors = RejectedBy(attempt_);
  std::string post_filter;
  if (!plan_.At(Point::kPostFilter).empty()) {
    PostFilterResult result = RunPostFilter(attempt_);
    post_filter = result.status.Message();
    decision.overrides_nomination = result.overrides;
    decision.nominated_node = std::move(result.node);
  }
  decision.message = FitErrorMessage(attempt_, post_filter);
  return decision;
}

bool Scheduler::Filter(Decision& decision) {
  if (PluginStatus status = RunPreFilter(attempt_); !status.ok()) {
    decision = Failed(status);
    return false;
  }
  if (attempt_.pre_filter_rejection.has_value()) return true;
  if (TryNominatedNode()) return true;
  if (attempt_.subset.has_value()) {
    attempt_.some_rows.AssignRows(attempt_.table(), *attempt_.subset);
    attempt_.candidates = &attempt_.some_rows;
  } else {
    attempt_.candidates = &attempt_.live_rows();
  }
  if (PluginStatus status = RunFilter(attempt_, nominator_); !status.ok()) {
    decision = Failed(status);
    return false;
  }
  return true;
}

// A node that was set aside for the pod is taken if it fits, before any other is looked at. A
// plugin that fails on it fails again in the full pass, and is reported there. Outside the nodes
// that PreFilter left it is none: upstream asks the Filters alone, and relies on them to say so
// again.
bool Scheduler::TryNominatedNode() {
  const std::string_view nominated = attempt_.pod->nominated_node();
  if (nominated.empty()) return false;
  const Row row = attempt_.table().FindNode(nominated);
  if (row == kNoRow) return false;
  if (attempt_.subset.has_value() && !std::ranges::binary_search(*attempt_.subset, row)) {
    return false;
  }
  attempt_.some_rows.AssignRows(attempt_.table(), std::array{row});
  attempt_.candidates = &attempt_.some_rows;
  attempt_.nominated_only = RunFilter(attempt_, nominator_).ok() && attempt_.feasible.size() == 1;
  return attempt_.nominated_only;
}

bool Scheduler::Score(Decision& decision) {
  if (attempt_.feasible.size() == 1 || plan_.At(Point::kScore).empty()) return true;
  PluginStatus status = RunPreScore(attempt_);
  if (status.ok()) status = RunScore(attempt_);
  if (status.ok()) return true;
  decision = Failed(status);
  return false;
}

std::vector<Row> Scheduler::BestRows() const {
  std::vector<Row> rows;
  const uint32_t count = attempt_.feasible.size();
  const auto& totals = attempt_.totals;
  const int64_t best = attempt_.scored ? *std::ranges::max_element(totals) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!attempt_.scored || totals[i] == best) rows.push_back(attempt_.feasible.At(i));
  }
  return rows;
}

// The k-th of the best in row order: neither block size nor threads can change the winner.
Row Scheduler::PickRow() {
  const uint32_t count = attempt_.feasible.size();
  if (count == 1) return attempt_.feasible.At(0);
  if (!attempt_.scored)
    return attempt_.feasible.At(static_cast<uint32_t>(tie_breaker_.Below(count)));
  const auto& totals = attempt_.totals;
  const int64_t best = *std::ranges::max_element(totals);
  auto k = tie_breaker_.Below(static_cast<uint64_t>(std::ranges::count(totals, best)));
  for (uint32_t i = 0; i < count; ++i) {
    if (totals[i] == best && k-- == 0) return attempt_.feasible.At(i);
  }
  AssertFailed(__FILE__, __LINE__, "k < number of best rows", nullptr);
}

}  // namespace berth::host
