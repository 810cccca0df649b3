#include "choice.h"

#include <algorithm>
#include <limits>

namespace preemption {

bool Criteria::IsBetterThan(const Criteria& other) const {
  if (violations != other.violations) return violations < other.violations;
  if (highest_priority != other.highest_priority) return highest_priority < other.highest_priority;
  if (sum_of_priorities != other.sum_of_priorities) {
    return sum_of_priorities < other.sum_of_priorities;
  }
  if (pods != other.pods) return pods < other.pods;
  if (earliest_start_ns != other.earliest_start_ns) {
    return earliest_start_ns > other.earliest_start_ns;
  }
  return work_lost_ns < other.work_lost_ns;
}

Criteria CriteriaOf(const Candidate& candidate, std::optional<int64_t> now_ns) {
  constexpr int64_t kOffset = int64_t{std::numeric_limits<int32_t>::max()} + 1;
  Criteria criteria{.violations = candidate.violations,
                    .highest_priority = candidate.victims.front().priority(),
                    .earliest_start_ns = candidate.victims.front().started_ns()};
  double work_lost_ns = 0;
  for (const Unit& victim : candidate.victims) {
    criteria.sum_of_priorities +=
        (victim.priority() + kOffset) * static_cast<int64_t>(victim.pod_count());
    criteria.pods += victim.pod_count();
    if (victim.priority() == criteria.highest_priority) {
      criteria.earliest_start_ns = std::min(criteria.earliest_start_ns, victim.started_ns());
    }
    // Doubles, because the times of thousands of old pods exceed 64 bits.
    const auto started = static_cast<double>(victim.started_ns());
    work_lost_ns += static_cast<double>(now_ns.value_or(0)) - started;
  }
  if (now_ns.has_value()) criteria.work_lost_ns = work_lost_ns;
  return criteria;
}

std::size_t SelectBest(std::span<const Candidate> candidates, std::optional<int64_t> now_ns) {
  std::size_t best = 0;
  Criteria criteria = CriteriaOf(candidates.front(), now_ns);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Criteria other = CriteriaOf(candidates[i], now_ns);
    if (!other.IsBetterThan(criteria)) continue;
    best = i;
    criteria = other;
  }
  return best;
}

}  // namespace preemption
