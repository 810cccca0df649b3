// TopologyDeltas: reads from the journal of a TopologyIndex by how much counts differ from those of
// an earlier state, for FilterChanged and ScoreChanged.
//
//   berth::TopologyDeltas deltas;
//   deltas.Read(state.counter).Read(state.groups[0])...;
//   const berth::TopologyHistory history = index_.ExchangeToken(token);
//   if (!deltas.Since(history, cycle.pod().ns())) return berth::Stale::kAll;
//   berth::DomainSink sink(rows);
//   deltas.ForEachDomain(state.counter, topology,
//                        [&](uint32_t domain, int64_t delta, uint32_t row) {
//                          // The count was counts.At(domain) - delta.
//                          sink.Put(topology, domain, row);
//                        });
//   return sink.stale();
#ifndef BERTH_TOPOLOGY_DELTAS_H_
#define BERTH_TOPOLOGY_DELTAS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/dependence.h>
#include <berth/pod_counter.h>
#include <berth/positions.h>
#include <berth/term_group.h>
#include <berth/topology.h>
#include <berth/topology_change.h>
#include <berth/topology_index.h>

namespace berth {

// Threading: [cycle].
class TopologyDeltas {
 public:
  // Add what the answers read, before Since(). The same counter or group may be added twice.
  TopologyDeltas& Read(const PodCounter& counter) {
    since_ = std::max(since_, counter.since());
    return Add(TopologyChange::kCount, counter.id());
  }
  TopologyDeltas& Read(const TermGroup& group) { return Add(TopologyChange::kTerm, group.id()); }

  // Collects the differences between the earlier state of `history` and now. `ns`: the namespace
  // whose labels decide which terms mean the pod; 0: the answers read no terms of other pods.
  // Returns false if they are not known: treat every answer as changed.
  bool Since(const TopologyHistory& history, berth_id ns) {
    if (history.since() < since_) return false;
    bool known = true;
    const bool reaches = history.ForEach([&](const TopologyChange& change) {
      if (known) known = Apply(change, ns);
    });
    for (Source& source : sources_) Merge(source);
    return reaches && known;
  }
  // Does the same for the state of a token.
  bool Since(uint64_t token, const TopologyIndex& index, berth_id ns) {
    return Since(index.HistorySince(token), ns);
  }

  // Calls `each(uint32_t row, int64_t delta)` for every row whose count differs from that of the
  // earlier state, by ascending row. Each row is in the domain that it was in then.
  template <class T, class F>
  void ForEach(const T& counted, F&& each) const {
    const std::size_t place = PlaceOf(KindOf(counted), counted.id());
    if (place == Positions<uint64_t>::kNone) return;
    for (const Delta& row : sources_[place]) each(row.index, row.delta);
  }
  // Calls `each(uint32_t domain, int64_t delta, uint32_t row)` for every domain of the topology
  // whose count differs from that of the earlier state, by ascending number. `row` is one of its
  // rows.
  template <class T, class F>
  void ForEachDomain(const T& counted, const Topology& topology, F&& each) const {
    struct InDomain {
      uint32_t domain;
      uint32_t row;
      int64_t delta;
    };
    std::vector<InDomain> all;
    ForEach(counted, [&](uint32_t row, int64_t delta) {
      const uint32_t domain = topology.DomainOf(row);
      if (domain != Topology::kNone) all.push_back({domain, row, delta});
    });
    std::sort(all.begin(), all.end(),
              [](const InDomain& a, const InDomain& b) { return a.domain < b.domain; });
    for (std::size_t i = 0; i < all.size();) {
      const InDomain first = all[i];
      int64_t sum = 0;
      for (; i < all.size() && all[i].domain == first.domain; ++i) sum += all[i].delta;
      if (sum != 0) each(first.domain, sum, first.row);
    }
  }

 private:
  struct Delta {
    uint32_t index;
    int64_t delta;
  };
  using Source = std::vector<Delta>;  // By row.

  // `kind`: kCount or kTerm.
  static uint64_t KeyOf(TopologyChange::Kind kind, uint32_t id) {
    return uint64_t{static_cast<uint32_t>(kind)} << 32 | id;
  }
  static TopologyChange::Kind KindOf(const PodCounter& /*counter*/) {
    return TopologyChange::kCount;
  }
  static TopologyChange::Kind KindOf(const TermGroup& /*group*/) { return TopologyChange::kTerm; }

  TopologyDeltas& Add(TopologyChange::Kind kind, uint32_t id) {
    if (places_.Use(KeyOf(kind, id)) == sources_.size()) sources_.emplace_back();
    return *this;
  }
  // Returns the number of the source, or Positions::kNone.
  std::size_t PlaceOf(TopologyChange::Kind kind, uint32_t id) const {
    return places_.Find(KeyOf(kind, id));
  }
  bool Reads(TopologyChange::Kind kind, uint32_t id) const {
    return PlaceOf(kind, id) != Positions<uint64_t>::kNone;
  }
  // Returns false if the differences are not known after the change.
  bool Apply(const TopologyChange& change, berth_id ns) {
    switch (change.kind) {
      case TopologyChange::kCount:
      case TopologyChange::kTerm: {
        const std::size_t place = PlaceOf(change.kind, change.id);
        if (place == Positions<uint64_t>::kNone) return true;
        sources_[place].push_back({change.row, change.delta});
        return true;
      }
      case TopologyChange::kCounterMoved: return !Reads(TopologyChange::kCount, change.id);
      case TopologyChange::kTermMoved: return !Reads(TopologyChange::kTerm, change.id);
      case TopologyChange::kNodeChanged: return change.delta == 0 || !Differs(change.row);
      case TopologyChange::kNamespaceChanged: return change.id != ns;
    }
    return false;
  }
  bool Differs(uint32_t row) const {
    return std::any_of(sources_.begin(), sources_.end(), [row](const Source& source) {
      int64_t sum = 0;
      for (const Delta& each : source) sum += each.index == row ? each.delta : 0;
      return sum != 0;
    });
  }
  // Sorts the deltas, and adds up those of one index.
  static void Merge(std::vector<Delta>& deltas) {
    std::sort(deltas.begin(), deltas.end(),
              [](const Delta& a, const Delta& b) { return a.index < b.index; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < deltas.size();) {
      Delta sum = deltas[i];
      while (++i < deltas.size() && deltas[i].index == sum.index) sum.delta += deltas[i].delta;
      if (sum.delta != 0) deltas[kept++] = sum;
    }
    deltas.resize(kept);
  }

  std::vector<Source> sources_;
  Positions<uint64_t> places_;  // The sources, by KeyOf().
  uint64_t since_ = 0;
};

// Reports the rows of domains to the host, each domain once.
class DomainSink {
 public:
  explicit DomainSink(RowSink& rows) : rows_(rows) {}

  // `row`: one row of the domain.
  void Put(const Topology& topology, uint32_t domain, uint32_t row) {
    stale_ = Stale::kRows;
    if (topology.Nodes(domain) == 1) return rows_.Put(row);
    const std::size_t known = put_.size();
    if (put_.Use({&topology, domain}) != known) return;
    topology.ForEachRow(domain, [this](uint32_t each) { rows_.Put(each); });
  }
  // Returns kRows if rows were reported, else kNone.
  Stale stale() const { return stale_; }

 private:
  using Key = std::pair<const Topology*, uint32_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const Topology*>()(key.first) + key.second * std::size_t{0x9e3779b97f4a7c15};
    }
  };

  RowSink& rows_;
  Stale stale_ = Stale::kNone;
  Positions<Key, Hash> put_;
};

}  // namespace berth

#endif  // BERTH_TOPOLOGY_DELTAS_H_
