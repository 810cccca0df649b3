#include "filter_state.h"

#include <algorithm>
#include <utility>

namespace affinity {
namespace {

// So many groups of terms of existing pods are looked at one by one in Changed().
constexpr size_t kMostGroups = 1024;

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
  const std::size_t key = key_places_.Use(topology.key());
  if (key == keys_.size()) keys_.push_back({&topology, 0, {}, {}, {}, {}, {}});
  return key;
}

void FilterState::AddExisting(Pod pod, const TopologyIndex& index) {
  index.FindTerms(*pod, berth::kRequiredAntiAffinity, existing_);
  const bool any = std::any_of(existing_.begin(), existing_.end(),
                               [](const TermGroup* group) { return !group->counts().empty(); });
  if (!any) existing_.clear();
  for (std::size_t i = 0; i < existing_.size(); ++i) {
    if (existing_[i]->counts().empty()) continue;
    keys_[KeyOf(existing_[i]->topology())].groups.push_back(i);
  }
}

void FilterState::AddAffinity(Pod pod, uint64_t cycle, TopologyIndex& index) {
  const Span<const berth_pod_term> terms(pod.affinity().required_pod_terms);
  if (terms.empty()) return;
  PodQuery query(PodQuery::kWithTerminating);
  for (const berth_pod_term& term : terms) query.Means(pod.ns(), term);
  const berth::PodCounter& counter = index.Count(query, cycle);
  for (const berth_pod_term& term : terms) {
    const CountedDomains domains = index.Count(counter, term.topology_key, cycle);
    const std::size_t key = KeyOf(*domains.topology);
    keys_[key].affinity.push_back(affinity_.size());
    affinity_.push_back({domains, {}, key, queries_.size()});
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
    const std::size_t key = KeyOf(*domains.topology);
    keys_[key].anti.push_back(anti_.size());
    anti_.push_back({domains, {}, key, queries_.size()});
    queries_.push_back(std::move(query));
  }
}

void FilterState::FillRejections() {
  for (Key& key : keys_) {
    key.limit = key.topology->limit();
    key.rejections.assign(std::size_t{key.limit} + 1, key.affinity.empty() ? 0 : kNoPods);
    const auto reject = [&key](const berth::DomainCounts& counts, Rejection rejection) {
      counts.ForEach([&key, rejection](uint32_t domain, uint32_t /*count*/) {
        key.rejections[domain] = static_cast<uint8_t>(key.rejections[domain] | rejection);
      });
    };
    if (!key.affinity.empty()) {
      key.rejections.back() = kNoKey;
      // All affinity terms with one key have the same counts.
      affinity_[key.affinity.front()].domains.counts->ForEach(
          [&key](uint32_t domain, uint32_t /*count*/) { key.rejections[domain] = 0; });
    }
    for (const std::size_t i : key.anti) reject(*anti_[i].domains.counts, kOwnAntiAffinity);
    for (const std::size_t i : key.groups) {
      reject(existing_[i]->counts(), kExistingPodsAntiAffinity);
    }
  }
}

void FilterState::Refill(Key& key, uint32_t domain) {
  uint32_t rejections = 0;
  for (const std::size_t i : key.affinity) {
    if (affinity_[i].At(domain) <= 0) rejections |= kNoPods;
  }
  for (const std::size_t i : key.anti) {
    if (anti_[i].At(domain) > 0) rejections |= kOwnAntiAffinity;
  }
  int64_t existing = key.existing.At(domain);
  for (const std::size_t i : key.groups) {
    existing += static_cast<int64_t>(existing_[i]->counts().At(domain));
  }
  if (existing > 0) rejections |= kExistingPodsAntiAffinity;
  key.rejections[domain] = static_cast<uint8_t>(rejections);
}

// ---- AddPod and RemovePod -----------------------------------------------------------------------

void FilterState::Change(Pod pod, Pod other, const berth_node& node, uint32_t row, int64_t sign,
                         const TopologyIndex& index) {
  std::vector<uint8_t> means;
  means.reserve(queries_.size());
  for (const PodQuery& query : queries_) means.push_back(index.Matches(query, *other) ? 1 : 0);
  std::vector<std::size_t> keys;
  ChangeCounted(affinity_, means, row, sign, keys);
  ChangeCounted(anti_, means, row, sign, keys);
  berth::ForEachTerm(*other, berth::kRequiredAntiAffinity,
                     [&](berth::TermKind /*kind*/, const berth_pod_term& term) {
                       if (!index.TermMeans(*other, term, *pod)) return;
                       ChangeExisting(term.topology_key, node, row, sign, keys);
                     });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::size_t key : keys) Refill(keys_[key], keys_[key].topology->DomainOf(row));
  affinity_total_ = 0;
  for (const Counted& counted : affinity_) {
    affinity_total_ +=
        static_cast<int64_t>(counted.domains.counts->total()) + counted.changes.total();
  }
}

void FilterState::ChangeCounted(std::vector<Counted>& all, const std::vector<uint8_t>& means,
                                uint32_t row, int64_t sign, std::vector<std::size_t>& keys) {
  for (Counted& counted : all) {
    const uint32_t domain = counted.domains.topology->DomainOf(row);
    if (domain == Topology::kNone || means[counted.query] == 0) continue;
    counted.changes.Add(domain, sign);
    keys.push_back(counted.key);
  }
}

void FilterState::ChangeExisting(berth_id key, const berth_node& node, uint32_t row, int64_t sign,
                                 std::vector<std::size_t>& keys) {
  const berth_id value = berth::FindLabel(berth::Labels(node.meta->labels), key);
  if (value == BERTH_ID_NONE) return;
  const std::size_t known = key_places_.Find(key);
  if (known != berth::Positions<berth_id>::kNone) {
    keys_[known].existing.Add(keys_[known].topology->DomainOf(row), sign);
    return keys.push_back(known);
  }
  const std::size_t pair = pair_places_.Use(uint64_t{key} << 32 | value);
  if (pair == other_pairs_.size()) other_pairs_.push_back({key, value, 0});
  other_pairs_[pair].count += sign;
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
  // To filter all nodes is faster than to look at so many groups.
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
