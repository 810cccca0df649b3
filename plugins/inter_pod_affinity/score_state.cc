#include "score_state.h"

#include <cstddef>

namespace affinity {
namespace {

// Returns the sum of weights that one pod of the group adds to its domain.
int64_t WeightOf(const berth::TermGroup& group, int32_t required_weight) {
  switch (group.kind()) {
    case berth::kRequiredAffinity: return required_weight;
    case berth::kPreferredAffinity: return group.weight();
    case berth::kPreferredAntiAffinity: return -int64_t{group.weight()};
    default: return 0;
  }
}

}  // namespace

ScoreState::Key& ScoreState::KeyOf(const berth::Topology& topology) {
  const std::size_t key = key_places_.Use(topology.key());
  if (key == keys_.size()) {
    const uint32_t limit = topology.limit();
    keys_.push_back({&topology, limit, std::vector<int64_t>(std::size_t{limit} + 1)});
  }
  return keys_[key];
}

void ScoreState::Add(const berth::Topology& topology, const berth::DomainCounts& counts,
                     int64_t weight) {
  if (counts.empty()) return;
  any_ = true;
  std::vector<int64_t>& sums = KeyOf(topology).sums;
  counts.ForEach(
      [&sums, weight](uint32_t domain, uint32_t count) { sums[domain] += weight * count; });
}

void ScoreState::AddTerms(berth::Pod pod, const berth_array& terms, int64_t sign, uint64_t cycle,
                          berth::TopologyIndex& index) {
  for (const berth_pod_term& term : berth::Span<const berth_pod_term>(terms)) {
    berth::PodQuery query(berth::PodQuery::kWithTerminating);
    query.Means(pod.ns(), term);
    counted_.push_back(index.Count(query, term.topology_key, cycle));
    Add(*counted_.back().topology, *counted_.back().counts, sign * term.weight);
  }
}

bool ScoreState::Prepare(berth::Pod pod, int32_t required_weight, uint64_t cycle,
                         berth::TopologyIndex& index) {
  AddTerms(pod, pod.affinity().preferred_pod_terms, 1, cycle, index);
  AddTerms(pod, pod.affinity().preferred_pod_anti_terms, -1, cycle, index);
  uint32_t kinds = berth::kPreferredAffinity | berth::kPreferredAntiAffinity;
  if (required_weight > 0) kinds |= berth::kRequiredAffinity;
  index.FindTerms(*pod, kinds, groups_);
  for (const berth::TermGroup* const group : groups_) {
    Add(group->topology(), group->counts(), WeightOf(*group, required_weight));
  }
  return any_;
}

void ScoreState::Sign(berth::Signer& signer) const {
  signer.Add(groups_.size());
  for (const berth::TermGroup* const group : groups_) signer.Add(group->id());
}

berth::Stale ScoreState::Changed(const berth::TopologyHistory& history, berth_id ns,
                                 berth::RowSink& rows) const {
  berth::TopologyDeltas deltas;
  for (const berth::CountedDomains& counted : counted_) deltas.Read(*counted.counter);
  for (const berth::TermGroup* const group : groups_) deltas.Read(*group);
  if (!deltas.Since(history, ns)) return berth::Stale::kAll;
  berth::DomainSink domains(rows);
  const auto report = [&](const auto& counted, const berth::Topology& topology) {
    deltas.ForEachDomain(counted, topology, [&](uint32_t domain, int64_t /*delta*/, uint32_t row) {
      domains.Put(topology, domain, row);
    });
  };
  for (const berth::CountedDomains& counted : counted_) {
    report(*counted.counter, *counted.topology);
  }
  for (const berth::TermGroup* const group : groups_) report(*group, group->topology());
  return domains.stale();
}

}  // namespace affinity
