#include "budgets.h"

#include <algorithm>
#include <string_view>

#include <berth/span.h>
#include <berth/status.h>
#include <berth/value.h>

namespace preemption {

// ---- Budgets ----------------------------------------------------------------------------------

Budgets::Budgets(const berth::Host& host) : host_(host) {
  const berth::Status watched = host_.objects().Watch<&Budgets::OnChange>(kBudgets, this);
  if (!watched.ok()) throw berth::Error("this host does not support watching objects");
}

bool Budgets::Budget::Counts(const berth::Pod& pod) const {
  if (selects_all || !selector.Matches(pod.labels())) return false;
  return !std::binary_search(disrupted.begin(), disrupted.end(), pod.name());
}

void Budgets::OnChange(const berth::ObjectChange& change) {
  const berth_object& object = change.now != nullptr ? *change.now : *change.old;
  const berth_id ns = object.meta->ns;
  const std::string name(berth::Str(object.meta->name));
  if (change.now == nullptr) {
    const auto found = budgets_.find(ns);
    if (found == budgets_.end()) return;
    found->second.by_name.erase(name);
    if (found->second.by_name.empty()) budgets_.erase(found);
    return;
  }
  Namespace& all = budgets_[ns];
  if (all.id.get() == BERTH_ID_NONE) all.id = host_.InternHeld(host_.Text(ns));
  all.by_name.insert_or_assign(name, Read(object));
}

Budgets::Budget Budgets::Read(const berth_object& object) const {
  const berth::Value value = berth::ValueOf(&object);
  const berth::Value selector = value["spec"]["selector"];
  Budget budget;
  if (!selector.absent()) budget.selector = host_.selectors().FromValue(selector);
  budget.selects_all = budget.selector.ok() && budget.selector.get()->requirements.count == 0;
  budget.allowed = value["status"]["disruptionsAllowed"].AsInt();
  const berth::Value disrupted = value["status"]["disruptedPods"];
  for (uint64_t i = 0; i < disrupted.size(); ++i) budget.disrupted.emplace_back(disrupted.KeyAt(i));
  std::sort(budget.disrupted.begin(), budget.disrupted.end());
  return budget;
}

// ---- BudgetTally ------------------------------------------------------------------------------

bool BudgetTally::Take(const Unit& unit) {
  bool violates = false;
  unit.ForEachPod([&](const berth_pod& pod) { violates = TakePod(pod) || violates; });
  return violates;
}

bool BudgetTally::TakePod(const berth::Pod& pod) {
  if (budgets_.empty() || pod.labels().empty()) return false;
  bool violates = false;
  budgets_.ForEachOf(pod.ns(), [&](const Budgets::Budget& budget) {
    if (!budget.Counts(pod)) return true;
    auto left = std::find_if(left_.begin(), left_.end(),
                             [&budget](const auto& known) { return known.first == &budget; });
    if (left == left_.end()) left = left_.insert(left, {&budget, budget.allowed});
    violates = --left->second < 0 || violates;
    return !violates || rule_ == Rule::kCountAll;
  });
  return violates;
}

ReturnOrder OrderOfReturn(const Units& units, BudgetTally& tally) {
  ReturnOrder order{.units = units};
  std::sort(order.units.begin(), order.units.end(), Unit::IsMoreImportant);
  if (tally.has_no_budgets()) return order;
  tally.Reset();
  Units violating;
  Units others;
  for (const Unit& unit : order.units) (tally.Take(unit) ? violating : others).push_back(unit);
  order.violating = violating.size();
  std::copy(others.begin(), others.end(),
            std::copy(violating.begin(), violating.end(), order.units.begin()));
  return order;
}

}  // namespace preemption
