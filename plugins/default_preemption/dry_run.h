// The dry run: finds the nodes on which the pod fits once less important pods are gone, and the
// fewest pods that must go.
// kube-scheduler: preemption/preemption.go, DryRunPreemption;
// defaultpreemption/default_preemption.go, SelectVictimsOnNode.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_DRY_RUN_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_DRY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/cycle.h>
#include <berth/host.h>
#include <berth/scheduling.h>

#include "budgets.h"
#include "choice.h"
#include "refusals.h"
#include "room.h"
#include "unit.h"

namespace preemption {

// A node on which preemption may help.
struct PotentialNode {
  uint32_t row = 0;
  std::string_view name = {};
  Room free = {};    // The room beside all pods of the node.
  Units units = {};  // Everything on it that has a lower priority than the pod; in any order.
};

// Removes every unit of a node, and then returns each one to the node if the pod still fits with
// it: first the units that violate a budget, then the others, each group by importance. What does
// not fit is a victim. A node about which there is an error is no candidate. The nodes are
// questions apart, of which one what-if question has many, so that each step is one call for all of
// its nodes.
//
// The result is that of a search which takes one node after the other: it ends with the first node
// at which there are `needed` candidates, one of them without violations.
//
// Threading: [cycle], within PostFilter.
// Lifetime:  host, cycle and budgets must outlive it.
class DryRun {
 public:
  struct Options {
    std::size_t needed = 0;
    bool strict_budgets = false;  // A node whose victims violate a budget is no candidate.
    BudgetTally::Rule budget_rule = BudgetTally::Rule::kStopAtFirst;
  };

  DryRun(const berth::Host& host, const berth::Cycle& cycle, const Budgets& budgets,
         const Options& options);

  // Searches the nodes in their order. Called once.
  void Run(std::span<PotentialNode> nodes);

  // In the order of the nodes.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Why nodes are no candidates. Complete only if there is no candidate.
  const Refusals& refusals() const { return refusals_; }
  // The errors of plugins about nodes.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  // A node while its units return to it.
  struct Reprieve {
    uint32_t index = 0;         // Into the rows of the question.
    Units units;                // In the order in which they return.
    std::size_t violating = 0;  // How many of them, the first ones, violate a budget.
    Candidate candidate;
    bool has_failed = false;  // There was no verdict: the node is no candidate.

    bool HasStep(std::size_t step) const { return !has_failed && step < units.size(); }
  };

  bool IsDone() const;
  void RunSome(std::span<PotentialNode> nodes);
  void RemoveAll(std::span<PotentialNode* const> nodes, berth::WhatIfQuestion& question) const;
  Reprieve BeginReprieve(const PotentialNode& node, uint32_t index);
  void ReturnUnits(std::span<Reprieve> reprieves, berth::WhatIfQuestion& question);
  void Finish(Reprieve& reprieve);
  bool ViolatesBudget(const Units& victims);
  void Refuse(const berth::WhatIfQuestion& question, uint32_t index, uint8_t code);

  const berth::Host host_;
  const berth::Cycle& cycle_;
  const Options options_;
  BudgetTally tally_;
  std::vector<Candidate> candidates_;
  bool has_one_without_violation_ = false;
  Refusals refusals_;
  std::vector<std::string> errors_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_DRY_RUN_H_
