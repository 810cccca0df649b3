#include "forecast.h"

#include <algorithm>
#include <utility>

#include <berth/status.h>

namespace preemption {
namespace {

constexpr std::string_view kFit = "NodeResourcesFit";

bool OnlyFitReadsPods(const berth::Host& host, const berth::Cycle& cycle) {
  const std::optional<std::vector<std::string>> filters = host.what_if().PodFilters(cycle);
  return filters.has_value() && filters->size() == 1 && filters->front() == kFit;
}

}  // namespace

std::optional<Forecast> Forecast::TryMake(const berth::Host& host, const berth::Cycle& cycle,
                                          const Budgets& budgets, BudgetTally::Rule rule) {
  const berth::Pod pod = cycle.pod();
  // The profile may let NodeResourcesFit ignore other resources.
  if (!pod.scalar_requests().empty() || !OnlyFitReadsPods(host, cycle)) return std::nullopt;
  Forecast forecast(*pod, budgets, rule);
  if (!forecast.wanted_.IsSmall()) return std::nullopt;
  bool are_small = true;
  const berth::Status listed =
      host.nominator().ForEach([&](const berth_pod& nominated, std::string_view node) {
        const bool counts =
            nominated.priority >= pod->priority && berth::Pod(nominated).uid() != pod.uid();
        if (!counts) return;
        const Room used = UsedBy(nominated);
        are_small = are_small && used.IsSmall();
        const auto found = forecast.nominated_.find(node);
        if (found != forecast.nominated_.end()) {
          found->second += used;
        } else {
          forecast.nominated_.emplace(node, used);
        }
      });
  if (!listed.ok() || !are_small) return std::nullopt;
  return forecast;
}

std::optional<Candidate> Forecast::On(uint32_t row, std::string_view node, const Room& free,
                                      const Units& units) {
  if (units.empty()) return std::nullopt;
  Room room = free;
  if (!nominated_.empty()) {
    const auto found = nominated_.find(node);
    if (found != nominated_.end()) room -= found->second;
  }
  for (const Unit& unit : units) room += unit.used();
  if (!room.Holds(wanted_)) return std::nullopt;
  const ReturnOrder order = OrderOfReturn(units, tally_);
  Candidate candidate{.row = row, .victims = {}, .violations = 0};
  for (std::size_t i = 0; i < order.units.size(); ++i) {
    const Unit& unit = order.units[i];
    room -= unit.used();
    if (room.Holds(wanted_)) continue;
    room += unit.used();
    candidate.victims.push_back(unit);
    if (i < order.violating) candidate.violations += unit.pod_count();
  }
  if (candidate.victims.empty()) return std::nullopt;
  std::sort(candidate.victims.begin(), candidate.victims.end(), Unit::IsMoreImportant);
  return candidate;
}

}  // namespace preemption
