#include "tally.h"

#include <algorithm>
#include <cstddef>

#include <berth/selectors.h>

namespace spread {
namespace {

bool SelectsNodes(const berth::Pod& pod) {
  return !pod.node_selector().empty() || pod.affinity().has_required_node_terms != 0;
}

bool AnyHardTaint(const berth::Nodes& all) {
  for (uint32_t b = 0; b < all.block_count(); ++b) {
    const auto block = all.BlockAt<Columns>(b);
    const auto taints = block.Column<berth::TaintsHard>();
    uint32_t any = 0;
    block.ForEachIndex([&](uint32_t i) { any |= taints[i]; });
    if (any != 0) return true;
  }
  return false;
}

void SetAt(std::vector<uint8_t>& flags, uint32_t index) {
  if (index >= flags.size()) flags.resize(std::size_t{index} + 1);
  flags[index] = 1;
}

}  // namespace

std::vector<Tally> Tallier::Count(const TallyRequest& request, const berth::Nodes& all) const {
  std::vector<Tally> tallies;
  tallies.reserve(request.constraints.list.size());
  for (const Constraint& constraint : request.constraints.list) {
    tallies.push_back(CountDomains(request, constraint));
  }
  if (IsNarrowed(request, tallies, all)) CountNodes(request, all, tallies);
  return tallies;
}

Tally Tallier::CountDomains(const TallyRequest& request, const Constraint& constraint) const {
  const berth_selector* const selector =
      Counts(constraint.selector) ? constraint.selector : nullptr;
  const auto query =
      berth::PodQuery(berth::PodQuery::kWithoutTerminating).In(request.cycle.pod().ns(), selector);
  const berth::CountedDomains found = index_.Count(query, constraint.key, request.cycle.id());
  Tally tally;
  tally.counter = found.counter;
  tally.topology = found.topology;
  if (constraint.key == request.counted_by_row) return tally;
  tally.domains = found.topology->size();
  const uint32_t limit = found.topology->limit();
  tally.counts.resize(limit);
  tally.eligible.resize(limit);
  for (uint32_t domain = 0; domain < limit; ++domain) {
    tally.eligible[domain] = found.topology->Nodes(domain) != 0 ? 1 : 0;
  }
  found.counts->ForEach(
      [&tally](uint32_t domain, uint32_t count) { tally.counts[domain] = count; });
  return tally;
}

bool Tallier::IsNarrowed(const TallyRequest& request, const std::vector<Tally>& tallies,
                         const berth::Nodes& all) const {
  const Constraints& constraints = request.constraints;
  if (constraints.HonorAffinity() && SelectsNodes(request.cycle.pod())) return true;
  const bool one_key = tallies.size() == 1;
  for (const Tally& tally : tallies) {
    if (tally.topology->nodes() == all.size()) continue;
    if (request.require_all_keys ? !one_key
                                 : tally.topology->Find(empty_value_) != berth::Topology::kNone) {
      return true;
    }
  }
  return constraints.HonorTaints() && AnyHardTaint(all);
}

// One pass over all nodes.
struct Tallier::Pass {
  const TallyRequest& request;
  const berth::Host& host;
  berth::BoundNodeSelection selection;
  std::vector<std::vector<uint32_t>> rows;  // The counts by row, for each tally.
  std::vector<Tally>& tallies;

  void AddNode(const berth::NodeRow<Columns>& node) {
    const uint32_t row = node.row();
    const auto lacks_key = [row](const Tally& each) {
      return each.topology->DomainOf(row) == berth::Topology::kNone;
    };
    if (request.require_all_keys && std::any_of(tallies.begin(), tallies.end(), lacks_key)) return;
    const bool selected = selection.Matches(node, host);
    const bool tolerated =
        node[berth::TaintsHard{}] == 0 ||
        berth::FindUntolerated(node.view().taints(), request.cycle.pod().tolerations()) == nullptr;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      const Constraint& constraint = request.constraints.list[i];
      if (constraint.key == request.counted_by_row || (constraint.honors_affinity && !selected) ||
          (constraint.honors_taints && !tolerated)) {
        continue;
      }
      AddTo(tallies[i], row, row < rows[i].size() ? rows[i][row] : 0);
    }
  }

  void AddTo(Tally& tally, uint32_t row, uint32_t count) const {
    uint32_t domain = tally.topology->DomainOf(row);
    if (domain == berth::Topology::kNone) domain = tally.absent;
    if (domain == berth::Topology::kNone) return;
    SetAt(tally.included, row);
    tally.counts[domain] += count;
    tally.domains += tally.eligible[domain] == 0 ? 1 : 0;
    tally.eligible[domain] = 1;
  }
};

void Tallier::CountNodes(const TallyRequest& request, const berth::Nodes& all,
                         std::vector<Tally>& tallies) const {
  Pass pass{request, host_, {}, {}, tallies};
  if (request.constraints.HonorAffinity()) {
    pass.selection.Bind(request.cycle.pod(), request.cycle, host_);
  }
  for (Tally& tally : tallies) {
    std::vector<uint32_t>& rows = pass.rows.emplace_back();
    if (tally.topology->key() == request.counted_by_row) continue;
    std::fill(tally.counts.begin(), tally.counts.end(), 0);
    std::fill(tally.eligible.begin(), tally.eligible.end(), 0);
    tally.domains = 0;
    tally.included.assign(1, 0);
    if (!request.require_all_keys) tally.absent = tally.topology->Find(empty_value_);
    tally.counter->rows().ForEach([&rows](uint32_t row, uint32_t count) {
      if (row >= rows.size()) rows.resize(std::size_t{row} + 1);
      rows[row] = count;
    });
  }
  all.ForEach<Columns>([&pass](const berth::NodeRow<Columns>& node) { pass.AddNode(node); });
}

std::optional<TallyChanges> ChangesSince(const berth::TopologyHistory& history, const Tally& tally,
                                         bool nodes_matter) {
  if (history.since() < tally.counter->since()) return std::nullopt;
  TallyChanges changes;
  changes.by_domain.resize(tally.counts.size());
  bool known = true;
  std::vector<uint32_t> counted;  // Rows whose count changed.
  std::vector<uint32_t> moved;    // Rows that may have left their domain.
  const bool reached = history.ForEach([&](const berth::TopologyChange& change) {
    using Change = berth::TopologyChange;
    if (change.kind == Change::kNodeChanged) {
      known = known && !nodes_matter && !tally.narrowed();
      if (change.delta != 0) moved.push_back(change.row);
    } else if (change.kind == Change::kCounterMoved) {
      known = known && change.id != tally.counter->id();
    } else if (change.kind == Change::kCount && change.id == tally.counter->id()) {
      counted.push_back(change.row);
      const uint32_t domain = tally.DomainOf(change.row);
      if (domain == berth::Topology::kNone) return;
      changes.by_domain[domain] += change.delta;
      changes.any = true;
    }
  });
  // The domain that a row had when its count changed is not known if it may have left the domain.
  const bool is_mixed = std::any_of(moved.begin(), moved.end(), [&counted](uint32_t row) {
    return std::find(counted.begin(), counted.end(), row) != counted.end();
  });
  if (!reached || !known || is_mixed) return std::nullopt;
  return changes;
}

bool PutRows(const berth::Topology& topology, const std::vector<uint8_t>& flagged,
             berth::RowSink& rows) {
  bool any = false;
  uint32_t left = flagged.empty() ? 0 : topology.nodes();
  for (uint32_t row = 0; left != 0; ++row) {
    const uint32_t domain = topology.DomainOf(row);
    if (domain == berth::Topology::kNone) continue;
    --left;
    if (flagged[domain] == 0) continue;
    rows.Put(row);
    any = true;
  }
  return any;
}

}  // namespace spread
