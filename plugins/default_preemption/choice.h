// The choice between the nodes on which preemption helps.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_CHOICE_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "unit.h"

namespace preemption {

// A node on which the pod fits without these units.
struct Candidate {
  uint32_t row = 0;
  Units victims;            // The most important first; never empty.
  uint32_t violations = 0;  // The number of pods among the victims that violate a budget.

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// How good a candidate is: the first criterion that differs decides.
// kube-scheduler: preemption/preemption.go, pickOneNodeForPreemption.
struct Criteria {
  uint32_t violations = 0;        // Fewer are better.
  int32_t highest_priority = 0;   // That of the most important victim; lower is better.
  int64_t sum_of_priorities = 0;  // Over all pods, each plus 2^31, so that more pods are worse.
  uint32_t pods = 0;              // Fewer are better.
  // When the first of the victims with the highest priority started; later is better.
  int64_t earliest_start_ns = 0;
  // The sum of the times that the victims have run, if the option is on; less is better.
  std::optional<double> work_lost_ns = {};

  // Returns whether this candidate is better than the other one.
  bool IsBetterThan(const Criteria& other) const;
};

// `now_ns`: the present time if lost work counts; nothing: it does not.
// REQUIRES: the candidate has a victim.
Criteria CriteriaOf(const Candidate& candidate, std::optional<int64_t> now_ns);

// Returns the index of the best candidate; of equal ones, that of the first. The candidates are in
// the random order of the search, so that this is a random one of the equal ones.
// REQUIRES: there is a candidate.
std::size_t SelectBest(std::span<const Candidate> candidates, std::optional<int64_t> now_ns);

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_CHOICE_H_
