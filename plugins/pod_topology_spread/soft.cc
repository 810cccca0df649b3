#include "soft.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <berth/columns.h>

namespace spread {

SoftConstraint::SoftConstraint(const Constraint& constraint, Tally tally, bool is_hostname)
    : tally_(std::move(tally)), max_skew_(constraint.max_skew), is_hostname_(is_hostname) {}

void SoftConstraint::SetDomains(uint64_t domains) {
  domains_ = domains;
  const double weight = WeightOf(domains);
  part_without_pods_ = spread::PartOf(0, max_skew_, weight);
  if (is_hostname_) {
    tally_.counter->rows().ForEach([&](uint32_t row, uint32_t count) {
      if (row >= parts_.size()) parts_.resize(std::size_t{row} + 1, part_without_pods_);
      parts_[row] = spread::PartOf(count, max_skew_, weight);
    });
    return;
  }
  parts_.reserve(tally_.counts.size());
  for (const uint32_t count : tally_.counts) {
    parts_.push_back(spread::PartOf(count, max_skew_, weight));
  }
}

// The score of a node depends on its own pods alone, whether or not the constraint includes it.
berth::Stale SoftConstraint::PutRowsOfPods(const berth::TopologyHistory& history,
                                           berth::RowSink& rows) const {
  if (history.since() < tally_.counter->since()) return berth::Stale::kAll;
  berth::Stale stale = berth::Stale::kNone;
  const bool reached = history.ForEach([&](const berth::TopologyChange& change) {
    using Change = berth::TopologyChange;
    if (change.kind == Change::kCount && change.id == tally_.counter->id()) {
      rows.Put(change.row);
      if (stale == berth::Stale::kNone) stale = berth::Stale::kRows;
    } else if (change.kind == Change::kCounterMoved && change.id == tally_.counter->id()) {
      stale = berth::Stale::kAll;
    }
  });
  return reached ? stale : berth::Stale::kAll;
}

berth::Stale SoftConstraint::PutChangedRows(const berth::TopologyHistory& history,
                                            berth::RowSink& rows) const {
  if (is_hostname_) return PutRowsOfPods(history, rows);
  const std::optional<TallyChanges> changes = ChangesSince(history, tally_, false);
  if (!changes.has_value()) return berth::Stale::kAll;
  if (!changes->any) return berth::Stale::kNone;
  std::vector<uint8_t> differs(changes->by_domain.size());
  for (std::size_t domain = 0; domain < differs.size(); ++domain) {
    differs[domain] = changes->by_domain[domain] != 0 ? 1 : 0;
  }
  return PutRows(*tally_.topology, differs, rows) ? berth::Stale::kRows : berth::Stale::kNone;
}

// The domains of the candidates.
struct SoftConstraints::Seen {
  std::vector<uint8_t> by_domain;
  uint64_t domains = 0;
  bool without_key = false;

  void Add(uint32_t domain) {
    if (domain == berth::Topology::kNone) {
      without_key = true;
      return;
    }
    domains += by_domain[domain] == 0 ? 1 : 0;
    by_domain[domain] = 1;
  }
  // Returns the number of domains, where nodes without the key have the empty value.
  uint64_t Count(const berth::Topology& topology, berth_id empty_value) const {
    if (!without_key) return domains;
    const uint32_t empty = topology.Find(empty_value);
    return empty != berth::Topology::kNone && by_domain[empty] != 0 ? domains : domains + 1;
  }
};

void SoftConstraints::SetCandidates(const berth::Nodes& feasible, uint64_t total,
                                    berth_id empty_value) {
  const bool all_have_keys = std::all_of(
      list_.begin(), list_.end(),
      [total](const SoftConstraint& each) { return each.tally().topology->nodes() == total; });
  if (all_have_keys && feasible.size() == total) {
    for (SoftConstraint& each : list_) {
      each.SetDomains(each.is_hostname() ? total : each.tally().topology->size());
    }
    return;
  }
  std::vector<Seen> seen(list_.size());
  for (std::size_t i = 0; i < list_.size(); ++i) {
    seen[i].by_domain.resize(list_[i].tally().topology->limit());
  }
  uint64_t scored = 0;
  feasible.ForEach<berth::Columns<>>([&](const auto& node) {
    const uint32_t row = node.row();
    const auto lacks_key = [row](const SoftConstraint& each) { return !each.HasKey(row); };
    if (require_all_keys_ && std::any_of(list_.begin(), list_.end(), lacks_key)) return;
    ++scored;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      seen[i].Add(list_[i].tally().topology->DomainOf(row));
    }
  });
  for (std::size_t i = 0; i < list_.size(); ++i) {
    SoftConstraint& each = list_[i];
    each.SetDomains(each.is_hostname() ? scored
                                       : seen[i].Count(*each.tally().topology, empty_value));
  }
}

}  // namespace spread
