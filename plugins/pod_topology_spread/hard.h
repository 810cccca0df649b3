// Constraints with DoNotSchedule: which domains accept the pod.
// kube-scheduler: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HARD_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <berth/dependence.h>
#include <berth/domain_counts.h>
#include <berth/topology.h>
#include <berth/topology_index.h>

#include "constraints.h"
#include "tally.h"

namespace spread {

// One hard constraint in one cycle. A copy is independent of the original: what-if questions change
// the counts of copies.
//
// Threading: reads: [cycle] and [block]; AddPods: [cycle].
class HardConstraint {
 public:
  // `matches_self`: the selector matches the pod to schedule.
  HardConstraint(const Constraint& constraint, Tally tally, bool matches_self);

  // Returns the domain of a row, or Topology::kNone if its node lacks the key.
  uint32_t DomainOf(uint32_t row) const { return topology_->DomainOf(row); }
  // Returns whether the pod may be placed in the domain.
  bool Accepts(uint32_t domain) const {
    int64_t count = tally_->counts[domain];
    if (!changes_.empty()) [[unlikely]]
      count += changes_.At(domain);
    return count <= limit_;
  }
  // Changes the number of matching pods in an eligible domain.
  void AddPods(uint32_t domain, int64_t change);

  const Tally& tally() const { return *tally_; }
  bool matches_self() const { return matches_self_; }

  // Returns the domains whose acceptance may differ from the earlier state, as flags by domain; an
  // empty vector if there are none; no value if that is not known.
  // REQUIRES: AddPods() was not called.
  std::optional<std::vector<uint8_t>> DomainsChangedSince(
      const berth::TopologyHistory& history) const;

 private:
  // Returns the highest count of a domain that accepts the pod, if `min` is the smallest count.
  int64_t LimitFor(int64_t min) const;
  int64_t MinWithout(const std::vector<int64_t>& changes) const;
  void CountDomains();

  const berth::Topology* topology_;
  int64_t max_skew_;
  uint32_t min_domains_;
  bool matches_self_;
  std::shared_ptr<const Tally> tally_;  // Shared by copies, because it does not change.
  berth::CountChanges changes_;         // What AddPods() changed.
  // The ordered multiset of the counts of eligible domains: the number of domains by count. It is
  // empty until the first call of AddPods().
  std::map<int64_t, uint32_t> domains_by_count_;
  int64_t limit_ = 0;
};

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_HARD_H_
