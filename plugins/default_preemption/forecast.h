// The forecast: computes the result of the dry run where resources alone decide.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_FORECAST_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_FORECAST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/host.h>
#include <berth/pod.h>

#include "budgets.h"
#include "choice.h"
#include "room.h"
#include "unit.h"

namespace preemption {

// If NodeResourcesFit is the only Filter whose verdict depends on the pods of a node, the victims
// on a node follow from sums. The search then needs a dry run for the best node only, as the proof
// that the other Filters accept the node; see PostFilter of the plugin.
//
// Threading: [cycle], within PostFilter.
// Lifetime:  budgets must outlive it.
class Forecast {
 public:
  // Returns no value if something else than cpu, memory, ephemeral storage and the number of pods
  // may decide whether the pod of the cycle fits beside other pods.
  static std::optional<Forecast> TryMake(const berth::Host& host, const berth::Cycle& cycle,
                                         const Budgets& budgets, BudgetTally::Rule rule);

  // Returns the candidate that a dry run finds on this node, if the other Filters accept the node;
  // nothing if the pod does not fit there. `row` and `node`: the row and the name of the node.
  // `free`: the room beside all of its pods.
  std::optional<Candidate> On(uint32_t row, std::string_view node, const Room& free,
                              const Units& units);

 private:
  Forecast(const berth_pod& pod, const Budgets& budgets, BudgetTally::Rule rule)
      : wanted_(RequestOf(pod)), tally_(budgets, rule) {}

  const Room wanted_;
  // What pods of the same or a higher priority need that are nominated to a node, by its name.
  std::map<std::string, Room, std::less<>> nominated_;
  BudgetTally tally_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_FORECAST_H_
