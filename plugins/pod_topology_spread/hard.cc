#include "hard.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace spread {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Returns the smallest count of an eligible domain; 0 if there is none.
int64_t SmallestCount(const Tally& tally) {
  if (tally.domains == 0) return 0;
  uint32_t smallest = std::numeric_limits<uint32_t>::max();
  for (std::size_t domain = 0; domain < tally.counts.size(); ++domain) {
    const uint32_t count = tally.counts[domain];
    smallest = tally.eligible[domain] != 0 && count < smallest ? count : smallest;
  }
  return smallest;
}

}  // namespace

HardConstraint::HardConstraint(const Constraint& constraint, Tally tally, bool matches_self)
    : topology_(tally.topology),
      max_skew_(constraint.max_skew),
      min_domains_(static_cast<uint32_t>(std::max(constraint.min_domains, 0))),
      matches_self_(matches_self),
      tally_(std::make_shared<const Tally>(std::move(tally))) {
  limit_ = LimitFor(SmallestCount(*tally_));
}

int64_t HardConstraint::LimitFor(int64_t min) const {
  const int64_t global_min = tally_->domains < min_domains_ ? 0 : min;
  return max_skew_ + global_min - (matches_self_ ? 1 : 0);
}

void HardConstraint::CountDomains() {
  for (std::size_t domain = 0; domain < tally_->counts.size(); ++domain) {
    if (tally_->eligible[domain] != 0) ++domains_by_count_[tally_->counts[domain]];
  }
}

void HardConstraint::AddPods(uint32_t domain, int64_t change) {
  if (domains_by_count_.empty()) CountDomains();
  const int64_t before = tally_->counts[domain] + changes_.At(domain);
  changes_.Add(domain, change);
  const auto old = domains_by_count_.find(before);
  if (--old->second == 0) domains_by_count_.erase(old);
  ++domains_by_count_[before + change];
  limit_ = LimitFor(domains_by_count_.begin()->first);
}

int64_t HardConstraint::MinWithout(const std::vector<int64_t>& changes) const {
  int64_t smallest = kMost;
  for (std::size_t domain = 0; domain < changes.size(); ++domain) {
    if (tally_->eligible[domain] == 0) continue;
    smallest = std::min(smallest, tally_->counts[domain] - changes[domain]);
  }
  return smallest == kMost ? 0 : smallest;
}

std::optional<std::vector<uint8_t>> HardConstraint::DomainsChangedSince(
    const berth::TopologyHistory& history) const {
  const std::optional<TallyChanges> changes = ChangesSince(history, *tally_, true);
  if (!changes.has_value()) return std::nullopt;
  std::vector<uint8_t> differs;
  if (!changes->any) return differs;
  const int64_t limit_then = LimitFor(MinWithout(changes->by_domain));
  differs.resize(tally_->counts.size());
  bool any = false;
  for (std::size_t domain = 0; domain < differs.size(); ++domain) {
    const int64_t now = tally_->counts[domain];
    const int64_t then = now - changes->by_domain[domain];
    differs[domain] = (now <= limit_) != (then <= limit_then) ? 1 : 0;
    any |= differs[domain] != 0;
  }
  if (!any) differs.clear();
  return differs;
}

}  // namespace spread
