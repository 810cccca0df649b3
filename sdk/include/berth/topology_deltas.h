// TopologyDeltas: reads from the journal of a TopologyIndex by how much counts differ from those of
// an earlier state, for FilterChanged and ScoreChanged.
//
//   berth::TopologyDeltas deltas;
//   deltas.Read(state.counter).Read(state.groups[0])...;
//   if (!deltas.Since(token, index_, cycle.pod().ns())) return berth::Stale::kAll;
//   deltas.ForEach(state.counter, [&](uint32_t row, int64_t delta) { ... });
#ifndef BERTH_TOPOLOGY_DELTAS_H_
#define BERTH_TOPOLOGY_DELTAS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/pod_counter.h>
#include <berth/term_group.h>
#include <berth/topology_change.h>
#include <berth/topology_index.h>

namespace berth {

// Threading: [cycle].
class TopologyDeltas {
 public:
  // Add what the answers read, before Since(). The same counter or group may be added twice.
  TopologyDeltas& Read(const PodCounter& counter) {
    since_ = std::max(since_, counter.since());
    return Add({TopologyChange::kCount, counter.id(), {}});
  }
  TopologyDeltas& Read(const TermGroup& group) {
    return Add({TopologyChange::kTerm, group.id(), {}});
  }

  // Collects the differences between the state of `token` and now. `ns`: the namespace whose labels
  // decide which terms mean the pod; 0: the answers read no terms of other pods.
  // Returns false if they are not known: treat every answer as changed.
  bool Since(uint64_t token, const TopologyIndex& index, berth_id ns) {
    if (token < since_) return false;
    bool known = true;
    const bool reaches = index.ForEachChangeSince(token, [&](const TopologyChange& change) {
      if (known) known = Apply(change, ns);
    });
    return reaches && known;
  }

  // Calls `each(uint32_t row, int64_t delta)` for every row whose count differs from that of the
  // earlier state. Each row is in the domain that it was in then.
  template <class F>
  void ForEach(const PodCounter& counter, F&& each) const {
    Visit(TopologyChange::kCount, counter.id(), each);
  }
  template <class F>
  void ForEach(const TermGroup& group, F&& each) const {
    Visit(TopologyChange::kTerm, group.id(), each);
  }
  // Returns the difference of the count of the domain of the topology.
  template <class T>
  int64_t In(const T& counted, const Topology& topology, uint32_t domain) const {
    int64_t sum = 0;
    ForEach(counted, [&](uint32_t row, int64_t delta) {
      if (topology.DomainOf(row) == domain) sum += delta;
    });
    return sum;
  }

 private:
  struct RowDelta {
    uint32_t row;
    int64_t delta;
  };
  struct Source {
    TopologyChange::Kind kind;  // kCount or kTerm.
    uint32_t id;
    std::vector<RowDelta> rows;
  };

  TopologyDeltas& Add(Source source) {
    if (Find(source.kind, source.id) == nullptr) sources_.push_back(std::move(source));
    return *this;
  }
  const Source* Find(TopologyChange::Kind kind, uint32_t id) const {
    for (const Source& source : sources_) {
      if (source.id == id && source.kind == kind) return &source;
    }
    return nullptr;
  }
  Source* Find(TopologyChange::Kind kind, uint32_t id) {
    return const_cast<Source*>(std::as_const(*this).Find(kind, id));
  }
  template <class F>
  void Visit(TopologyChange::Kind kind, uint32_t id, F&& each) const {
    const Source* const source = Find(kind, id);
    if (source == nullptr) return;
    for (const RowDelta& row : source->rows) {
      if (row.delta != 0) each(row.row, row.delta);
    }
  }
  // Returns false if the differences are not known after the change.
  bool Apply(const TopologyChange& change, berth_id ns) {
    switch (change.kind) {
      case TopologyChange::kCount:
      case TopologyChange::kTerm:
        if (Source* const source = Find(change.kind, change.id)) Add(*source, change);
        return true;
      case TopologyChange::kCounterMoved: return Find(TopologyChange::kCount, change.id) == nullptr;
      case TopologyChange::kTermMoved: return Find(TopologyChange::kTerm, change.id) == nullptr;
      case TopologyChange::kNode: return change.delta == 0 || !Differs(change.row);
      case TopologyChange::kNamespace: return change.id != ns;
    }
    return false;
  }
  static void Add(Source& source, const TopologyChange& change) {
    for (RowDelta& row : source.rows) {
      if (row.row == change.row) {
        row.delta += change.delta;
        return;
      }
    }
    source.rows.push_back({change.row, change.delta});
  }
  bool Differs(uint32_t row) const {
    return std::any_of(sources_.begin(), sources_.end(), [row](const Source& source) {
      return std::any_of(source.rows.begin(), source.rows.end(), [row](const RowDelta& each) {
        return each.row == row && each.delta != 0;
      });
    });
  }

  std::vector<Source> sources_;
  uint64_t since_ = 0;
};

}  // namespace berth

#endif  // BERTH_TOPOLOGY_DELTAS_H_
