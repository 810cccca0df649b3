#include "dry_run.h"

#include <algorithm>
#include <utility>

#include <berth/abi.h>
#include <berth/status.h>

namespace preemption {
namespace {

// The number of nodes of one what-if question. Each has clones of the state of plugins that track
// pods, so that the number has a limit. A question about more nodes than are needed costs more, and
// has no other effect.
constexpr std::size_t kRowsMin = 32;
constexpr std::size_t kRowsMax = 256;

constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";
constexpr std::string_view kProtected = "Victims are protected by a PodDisruptionBudget";
constexpr std::string_view kNoVictimNeeded = "expected at least one victim pod on the node";

std::string Joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : ", ") + reason;
  return text;
}

}  // namespace

DryRun::DryRun(const berth::Host& host, const berth::Cycle& cycle, const Budgets& budgets,
               const Options& options)
    : host_(host), cycle_(cycle), options_(options), tally_(budgets, options.budget_rule) {}

bool DryRun::IsDone() const {
  return has_one_without_violation_ && candidates_.size() >= options_.needed;
}

void DryRun::Run(std::span<PotentialNode> nodes) {
  while (!nodes.empty() && !IsDone()) {
    const std::size_t missing = options_.needed - std::min(candidates_.size(), options_.needed);
    const std::size_t count = std::min(nodes.size(), std::clamp(missing, kRowsMin, kRowsMax));
    RunSome(nodes.first(count));
    nodes = nodes.subspan(count);
  }
}

void DryRun::RunSome(std::span<PotentialNode> nodes) {
  std::vector<PotentialNode*> asked;
  std::vector<uint32_t> rows;
  for (PotentialNode& node : nodes) {
    if (node.units.empty()) {
      refusals_.Add(kNoVictims);
      continue;
    }
    asked.push_back(&node);
    rows.push_back(node.row);
  }
  if (asked.empty()) return;
  berth::WhatIfQuestion question = host_.what_if().Begin(cycle_, rows, berth::WhatIfMode::kApart);
  if (!question) {
    errors_.emplace_back("cannot ask about nodes without their pods");
    return;
  }
  RemoveAll(asked, question);
  std::vector<uint8_t> codes(rows.size());
  if (const berth::Status run = question.RunFilters(codes); !run.ok()) {
    errors_.push_back(Joined(run.reasons()));
    return;
  }
  std::vector<Reprieve> reprieves;
  for (uint32_t i = 0; i < asked.size(); ++i) {
    if (codes[i] == BERTH_SUCCESS) {
      reprieves.push_back(BeginReprieve(*asked[i], i));
    } else if (candidates_.empty()) {
      Refuse(question, i, codes[i]);
    }
  }
  ReturnUnits(reprieves, question);
  for (Reprieve& reprieve : reprieves) {
    if (IsDone()) return;
    Finish(reprieve);
  }
}

void DryRun::RemoveAll(std::span<PotentialNode* const> nodes,
                       berth::WhatIfQuestion& question) const {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    for (const Unit& unit : nodes[i]->units) {
      // An error is the verdict of the row.
      unit.ForEachPod([&](const berth_pod& pod) { (void)question.RemovePod(i, pod); });
    }
  }
}

DryRun::Reprieve DryRun::BeginReprieve(const PotentialNode& node, uint32_t index) {
  ReturnOrder order = OrderOfReturn(node.units, tally_);
  return {.index = index,
          .units = std::move(order.units),
          .violating = order.violating,
          .candidate = {.row = node.row, .victims = {}, .violations = 0}};
}

void DryRun::ReturnUnits(std::span<Reprieve> reprieves, berth::WhatIfQuestion& question) {
  std::vector<uint8_t> codes(question.size());
  std::vector<uint32_t> selected;
  for (std::size_t step = 0;; ++step) {
    selected.clear();
    for (const Reprieve& reprieve : reprieves) {
      if (!reprieve.HasStep(step)) continue;
      reprieve.units[step].ForEachPod(
          [&](const berth_pod& pod) { (void)question.AddPod(reprieve.index, pod); });
      selected.push_back(reprieve.index);
    }
    if (selected.empty()) return;
    std::fill(codes.begin(), codes.end(), uint8_t{BERTH_ERROR});
    const berth::Status run = question.RunFilters(selected, codes);
    for (Reprieve& reprieve : reprieves) {
      if (!reprieve.HasStep(step) || codes[reprieve.index] == BERTH_SUCCESS) continue;
      if (codes[reprieve.index] == BERTH_ERROR) {
        // Without a verdict, each of the units that are left would seem to be needed.
        reprieve.has_failed = true;
        errors_.push_back(
            Joined(run.ok() ? question.ReasonsOf(reprieve.index).reasons() : run.reasons()));
        continue;
      }
      const Unit& unit = reprieve.units[step];
      unit.ForEachPod([&](const berth_pod& pod) { (void)question.RemovePod(reprieve.index, pod); });
      reprieve.candidate.victims.push_back(unit);
      if (step < reprieve.violating) reprieve.candidate.violations += unit.pod_count();
    }
  }
}

void DryRun::Finish(Reprieve& reprieve) {
  if (reprieve.has_failed) return;
  Candidate& candidate = reprieve.candidate;
  if (candidate.victims.empty()) {
    errors_.emplace_back(kNoVictimNeeded);
    return;
  }
  std::sort(candidate.victims.begin(), candidate.victims.end(), Unit::IsMoreImportant);
  if (options_.strict_budgets && ViolatesBudget(candidate.victims)) {
    refusals_.Add(kProtected);
    return;
  }
  has_one_without_violation_ = has_one_without_violation_ || candidate.violations == 0;
  candidates_.push_back(std::move(candidate));
}

// Counts the victims alone: units that returned to the node take nothing from the budgets.
bool DryRun::ViolatesBudget(const Units& victims) {
  tally_.Reset();
  return std::any_of(victims.begin(), victims.end(),
                     [this](const Unit& victim) { return tally_.Take(victim); });
}

void DryRun::Refuse(const berth::WhatIfQuestion& question, uint32_t index, uint8_t code) {
  const berth::Status status = question.ReasonsOf(index);
  if (code == BERTH_ERROR) {
    errors_.push_back(Joined(status.reasons()));
    return;
  }
  for (const std::string& reason : status.reasons()) refusals_.Add(reason);
}

}  // namespace preemption
