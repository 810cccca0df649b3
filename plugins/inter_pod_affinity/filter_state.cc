#include "filter_state.h"

#include <utility>

namespace affinity {
namespace {

// So many groups of terms of existing pods are looked at one by one in Changed().
constexpr size_t kMostGroups = 64;

using berth::CountedDomains;
using berth::Pod;
using berth::PodQuery;
using berth::Span;
using berth::TermGroup;
using berth::Topology;
using berth::TopologyIndex;

// Returns whether a count became 0, or was 0, when it changed by `delta` to `now`.
bool BecameOrWasZero(uint64_t now, int64_t delta) {
  return (now == 0) != (static_cast<int64_t>(now) == delta);
}

}  // namespace

void FilterState::Prepare(Pod pod, uint64_t cycle, TopologyIndex& index) {
  AddExisting(pod, index);
  AddAffinity(pod, cycle, index);
  AddAntiAffinity(pod, cycle, index);
  FillRejections();
}

std::size_t FilterState::KeyOf(const Topology& topology) {
  std::size_t key = 0;
  while (key < keys_.size() && keys_[key].topology != &topology) ++key;
  if (key == keys_.size()) keys_.push_back({&topology, 0, {}, {}});
  return key;
}

void FilterState::AddExisting(Pod pod, const TopologyIndex& index) {
  index.FindTerms(*pod, berth::kRequiredAntiAffinity, existing_);
  const bool any = std::any_of(existing_.begin(), existing_.end(),
                               [](const TermGroup* group) { return !group->counts().empty(); });
  if (!any) existing_.clear();
  for (const TermGroup* const group : existing_) KeyOf(group->topology());
}

void FilterState::AddAffinity(Pod pod, uint64_t cycle, TopologyIndex& index) {
  const Span<const berth_pod_term> terms(pod.affinity().required_pod_terms);
  if (terms.empty()) return;
  PodQuery query(PodQuery::kWithTerminating);
  for (const berth_pod_term& term : terms) query.Means(pod.ns(), term);
  for (const berth_pod_term& term : terms) {
    const CountedDomains domains = index.Count(query, term.topology_key, cycle);
    affinity_.push_back({domains, {}, KeyOf(*domains.topology), queries_.size()});
    affinity_total_ += static_cast<int64_t>(domains.counts->total());
  }
  matches_itself_ = index.Matches(query, *pod);
  queries_.push_back(std::move(query));
}

void FilterState::AddAntiAffinity(Pod pod, uint64_t cycle, TopologyIndex& index) {
  for (const berth_pod_term& term :
       Span<const berth_pod_term>(pod.affinity().required_pod_anti_terms)) {
    PodQuery query(PodQuery::kWithTerminating);
    query.Means(pod.ns(), term);
    const CountedDomains domains = index.Count(query, term.topology_key, cycle);
    anti_.push_back({domains, {}, KeyOf(*domains.topology), queries_.size()});
    queries_.push_back(std::move(query));
  }
}

void FilterState::FillRejections() {
  for (Key& key : keys_) {
    key.limit = key.topology->limit();
    key.rejections.assign(std::size_t{key.limit} + 1, 0);
  }
  for (const Counted& counted : affinity_) {
    Key& key = keys_[counted.key];
    std::fill(key.rejections.begin(), key.rejections.end(), kNoPods);
    key.rejections.back() = kNoKey;
  }
  // All affinity terms with one key have the same counts.
  for (const Counted& counted : affinity_) {
    std::vector<uint8_t>& rejections = keys_[counted.key].rejections;
    counted.domains.counts->ForEach(
        [&rejections](uint32_t domain, uint32_t /*count*/) { rejections[domain] = 0; });
  }
  const auto reject = [](Key& key, const berth::DomainCounts& counts, Rejection rejection) {
    counts.ForEach([&key, rejection](uint32_t domain, uint32_t /*count*/) {
      key.rejections[domain] = static_cast<uint8_t>(key.rejections[domain] | rejection);
    });
  };
  for (const Counted& counted : anti_) {
    reject(keys_[counted.key], *counted.domains.counts, kOwnAntiAffinity);
  }
  for (const TermGroup* const group : existing_) {
    reject(keys_[KeyOf(group->topology())], group->counts(), kExistingPodsAntiAffinity);
  }
}

void FilterState::Refill(Key& key, uint32_t domain) {
  const auto index = static_cast<std::size_t>(&key - keys_.data());
  uint32_t rejections = 0;
  for (const Counted& counted : affinity_) {
    if (counted.key == index && counted.At(domain) <= 0) rejections |= kNoPods;
  }
  for (const Counted& counted : anti_) {
    if (counted.key == index && counted.At(domain) > 0) rejections |= kOwnAntiAffinity;
  }
  int64_t existing = key.existing.At(domain);
  for (const TermGroup* const group : existing_) {
    if (&group->topology() != key.topology) continue;
    existing += static_cast<int64_t>(group->counts().At(domain));
  }
  if (existing > 0) rejections |= kExistingPodsAntiAffinity;
  key.rejections[domain] = static_cast<uint8_t>(rejections);
}

// ---- AddPod and RemovePod -----------------------------------------------------------------------

void FilterState::Change(Pod pod, Pod other, const berth_node& node, uint32_t row, int64_t sign,
                         const TopologyIndex& index) {
  ChangeCounted(affinity_, *other, row, sign, index);
  ChangeCounted(anti_, *other, row, sign, index);
  berth::ForEachTerm(*other, berth::kRequiredAntiAffinity,
                     [&](berth::TermKind /*kind*/, const berth_pod_term& term) {
                       if (!index.TermMeans(*other, term, *pod)) return;
                       ChangeExisting(term.topology_key, node, row, sign);
                     });
  affinity_total_ = 0;
  for (const Counted& counted : affinity_) {
    affinity_total_ +=
        static_cast<int64_t>(counted.domains.counts->total()) + counted.changes.total();
  }
}

void FilterState::ChangeCounted(std::vector<Counted>& all, const berth_pod& other, uint32_t row,
                                int64_t sign, const TopologyIndex& index) {
  for (Counted& counted : all) {
    const uint32_t domain = counted.domains.topology->DomainOf(row);
    if (domain == Topology::kNone || !index.Matches(queries_[counted.query], other)) continue;
    counted.changes.Add(domain, sign);
    Refill(keys_[counted.key], domain);
  }
}

void FilterState::ChangeExisting(berth_id key, const berth_node& node, uint32_t row, int64_t sign) {
  const berth_id value = berth::FindLabel(berth::Labels(node.meta->labels), key);
  if (value == BERTH_ID_NONE) return;
  for (Key& known : keys_) {
    if (known.topology->key() != key) continue;
    const uint32_t domain = known.topology->DomainOf(row);
    known.existing.Add(domain, sign);
    return Refill(known, domain);
  }
  for (OtherPair& pair : other_pairs_) {
    if (pair.key != key || pair.value != value) continue;
    pair.count += sign;
    return;
  }
  other_pairs_.push_back({key, value, sign});
}

uint32_t FilterState::OtherRejections(const berth_node& node) const {
  const berth::Labels labels(node.meta->labels);
  const bool repels =
      std::any_of(other_pairs_.begin(), other_pairs_.end(), [labels](const OtherPair& pair) {
        return pair.count > 0 && berth::FindLabel(labels, pair.key) == pair.value;
      });
  return repels ? kExistingPodsAntiAffinity : 0;
}

// ---- Dependence ---------------------------------------------------------------------------------

void FilterState::Sign(berth::Signer& signer) const {
  signer.Add(matches_itself_);
  signer.Add(existing_.size());
  for (const TermGroup* const group : existing_) signer.Add(group->id());
}

berth::Stale FilterState::Changed(const berth::TopologyHistory& history, berth_id ns,
                                  berth::RowSink& rows) const {
  // The work below grows with the square of the number of groups. To filter all nodes is faster.
  if (existing_.size() > kMostGroups) return berth::Stale::kAll;
  berth::TopologyDeltas deltas;
  for (const Counted& counted : affinity_) deltas.Read(*counted.domains.counter);
  for (const Counted& counted : anti_) deltas.Read(*counted.domains.counter);
  for (const TermGroup* const group : existing_) deltas.Read(*group);
  if (!deltas.Since(history, ns)) return berth::Stale::kAll;

  berth::DomainSink domains(rows);
  const auto report = [&](const auto& counted, const Topology& topology,
                          const berth::DomainCounts& counts) {
    int64_t sum = 0;
    deltas.ForEachDomain(counted, topology, [&](uint32_t domain, int64_t delta, uint32_t row) {
      sum += delta;
      if (BecameOrWasZero(counts.At(domain), delta)) domains.Put(topology, domain, row);
    });
    return sum;
  };
  int64_t affinity_delta = 0;
  for (const Counted& counted : affinity_) {
    affinity_delta +=
        report(*counted.domains.counter, *counted.domains.topology, *counted.domains.counts);
  }
  for (const Counted& counted : anti_) {
    report(*counted.domains.counter, *counted.domains.topology, *counted.domains.counts);
  }
  for (const TermGroup* const group : existing_) {
    report(*group, group->topology(), group->counts());
  }
  // The first pod of a set may run where others may not.
  const auto total = static_cast<uint64_t>(affinity_total_);
  if (matches_itself_ && BecameOrWasZero(total, affinity_delta)) return berth::Stale::kAll;
  return domains.stale();
}

}  // namespace affinity
