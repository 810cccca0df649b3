// The PodDisruptionBudgets of the cluster, and what a set of victims takes from them.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_BUDGETS_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_BUDGETS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <berth/host.h>
#include <berth/pod.h>
#include <berth/services.h>

#include "unit.h"

namespace preemption {

inline constexpr const char* kBudgets = "policy/v1/PodDisruptionBudget";

// Follows the budgets of the cluster.
//
// Threading: the scheduling thread.
class Budgets {
 public:
  struct Budget {
    berth::Selector selector;
    bool selects_all = false;            // An empty selector, which selects no pod here.
    int64_t allowed = 0;                 // status.disruptionsAllowed
    std::vector<std::string> disrupted;  // The keys of status.disruptedPods, sorted.

    // Returns whether the disruption of the pod, which is in the namespace of the budget, counts
    // against the budget.
    bool Counts(const berth::Pod& pod) const;
  };

  // Throws an Error if the host has no objects to watch.
  explicit Budgets(const berth::Host& host);

  bool empty() const { return budgets_.empty(); }
  // Calls `each(const Budget&)` for the budgets of a namespace, ordered by name, until it returns
  // false.
  template <class F>
  void ForEachOf(berth_id ns, F&& each) const {
    const auto found = budgets_.find(ns);
    if (found == budgets_.end()) return;
    for (const auto& [name, budget] : found->second.by_name) {
      if (!each(budget)) return;
    }
  }

  // Called: by the host, for each change of a budget.
  void OnChange(const berth::ObjectChange& change);

 private:
  struct Namespace {
    berth::InternedId id;  // Keeps the key of this entry.
    std::map<std::string, Budget, std::less<>> by_name;
  };

  Budget Read(const berth_object& object) const;

  const berth::Host host_;
  std::map<berth_id, Namespace> budgets_;
};

// Counts disrupted pods against their budgets.
//
// Threading: one thread.
// Lifetime:  the budgets must outlive it and must not change meanwhile.
class BudgetTally {
 public:
  // How one pod counts when it violates a budget.
  enum class Rule : uint8_t {
    kStopAtFirst,  // From 1.37 on: the budgets after the first violated one keep their allowance.
    kCountAll,     // Up to 1.36: every budget of the pod loses one.
  };

  BudgetTally(const Budgets& budgets, Rule rule) : budgets_(budgets), rule_(rule) {}

  // Counts every pod of the unit as disrupted. Returns whether one of them violates a budget: fewer
  // disruptions were left than there are pods to disrupt.
  // kube-scheduler: preemption/util.go, FilterVictimsWithPDBViolation; up to 1.36
  // defaultpreemption/default_preemption.go, filterPodsWithPDBViolation.
  bool Take(const Unit& unit);
  // Begins anew.
  void Reset() { left_.clear(); }
  bool has_no_budgets() const { return budgets_.empty(); }

 private:
  bool TakePod(const berth::Pod& pod);

  const Budgets& budgets_;
  const Rule rule_;
  // The disruptions that are left of each budget that was counted. They are few, so that a search
  // costs little.
  std::vector<std::pair<const Budgets::Budget*, int64_t>> left_;
};

// The order in which units return to their node while the pod fits beside them: first those that
// violate a budget, then the others, each group by importance.
struct ReturnOrder {
  Units units;
  std::size_t violating = 0;  // The number of units that violate a budget: they come first.
};
// Counts the units by their importance. Resets the tally before.
ReturnOrder OrderOfReturn(const Units& units, BudgetTally& tally);

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_BUDGETS_H_
