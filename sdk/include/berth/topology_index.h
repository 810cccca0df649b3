// TopologyIndex: counts pods by topology domain, and finds the affinity terms of pods on nodes, for
// plugins that compare the pod to schedule with the pods on other nodes.
//
// A plugin owns one index and feeds it:
//
//   static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_OBJECTS};
//   static constexpr std::array kKinds{berth::kNamespaceKind};
//   explicit Zones(berth::Host host) : index_(host) {}
//   void OnChange(const berth::Change& change) { index_.OnChange(change); }
//
// PreFilter asks for counts, and Filter reads them by the number of the node's domain:
//
//   state.pods = index_.Count(berth::PodQuery(berth::PodQuery::kWithoutTerminating)
//                                 .In(pod.ns(), selector), key, cycle.id());
//   ...
//   const uint32_t domain = state.pods.topology->DomainOf(node.row());
//   if (domain == berth::Topology::kNone) return berth::Unresolvable(kNoLabel);
//   return berth::UnschedulableIf(state.pods.counts->At(domain) >= most, kTooMany);
//
// A counter is created by a scan over all pods when it is first asked for, and from then on each
// change of a pod costs time in proportion to the counters and terms that the pod matches. A
// question that was asked before costs one look-up: never a scan over pods.
//
// A pod counts on its node, whichever scheduler placed it, if the node exists. Assumed pods count.
// What-if questions (AddPod, RemovePod) must not write the index: keep a CountChanges in the State.
#ifndef BERTH_TOPOLOGY_INDEX_H_
#define BERTH_TOPOLOGY_INDEX_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/changes.h>
#include <berth/domain_counts.h>
#include <berth/host.h>
#include <berth/pod.h>
#include <berth/pod_query.h>
#include <berth/services.h>
#include <berth/topology.h>

namespace berth {

// The kind that a plugin with an index of the labels of namespaces names in kKinds.
inline constexpr const char* kNamespaceKind = "v1/Namespace";

struct TopologyIndexOptions {
  // Index the pod affinity terms of pods on nodes, for FindTerms(). Without it, these terms cost
  // nothing.
  bool terms = true;
  // Follow the labels of namespaces, which namespaceSelectors match. The plugin must name
  // kNamespaceKind in kKinds and BERTH_SERVICE_OBJECTS in kServices. Without it, no namespace has
  // labels, and a namespaceSelector of a PodQuery means no namespace unless it is empty.
  bool namespaces = true;
  // Counters may occupy this many bytes. Beyond that, Count() drops those that were not asked for
  // longest, except those of the current cycle. A counter that is dropped is created again, by
  // another scan, when it is asked for.
  uint64_t counter_bytes = uint64_t{16} << 20;
  // How many changes the journal keeps, for `changed`. It occupies 16 bytes for each.
  uint32_t journal = 8192;
};

// A counter: how many pods match a query, by row. Rows without a node have no pods.
//
// Lifetime:  until a later cycle calls Count(), which may drop it.
class PodCounter {
 public:
  // Identifies the counter in TopologyChange; no other counter ever has the same id.
  uint32_t id() const { return id_; }
  // Returns the token of the state in which the counter was created. The journal has no changes of
  // the counter before it: a plugin that is asked about an older token answers kAll.
  uint64_t since() const { return since_; }
  const PodQuery& query() const { return query_; }
  // Returns the number of pods by row.
  const DomainCounts& rows() const { return rows_; }

 private:
  friend class TopologyIndex;
  PodQuery query_{PodQuery::kWithTerminating};
  uint32_t id_ = 0;
  uint64_t since_ = 0;
  DomainCounts rows_;
};

// The number of pods that match a query, by domain of one topology key: counts->At(domain). Pods on
// nodes without the label are not counted.
//
// Lifetime:  until a later cycle calls Count().
struct CountedDomains {
  const PodCounter* counter = nullptr;
  const Topology* topology = nullptr;
  const DomainCounts* counts = nullptr;
};

// The kinds of pod affinity terms, as bits.
enum TermKind : uint32_t {
  kRequiredAffinity = 1,
  kRequiredAntiAffinity = 2,
  kPreferredAffinity = 4,
  kPreferredAntiAffinity = 8,
};

// Equal terms of pods on nodes: the pods that have the term, by domain of its topology key. Pods on
// nodes without the label are not counted. A pod that has the term twice counts twice.
//
// Lifetime:  until the current call into the plugin returns, or until the cycle ends.
class TermGroup {
 public:
  // Identifies the group in TopologyChange; no other group ever has the same id.
  uint32_t id() const { return id_; }
  TermKind kind() const { return kind_; }
  int32_t weight() const { return weight_; }  // 0 of a required term.
  const Topology& topology() const { return *topology_; }
  // Returns the number of pods by domain. It may be empty.
  const DomainCounts& counts() const { return counts_; }

 private:
  friend class TopologyIndex;
  uint32_t id_ = 0;
  TermKind kind_ = kRequiredAffinity;
  int32_t weight_ = 0;
  Topology* topology_ = nullptr;
  DomainCounts counts_;
};

// One change that the journal keeps.
struct TopologyChange {
  enum Kind : uint32_t {
    // The count of `row` in counter `id` changed by `delta`, and with it that of the row's domain.
    kCount = 1,
    // The count of the domain of `row` in the term group `id` changed by `delta`.
    kTerm,
    // The counter, or the term group, `id` changed in another way: a node that has counted pods was
    // added, was removed or changed its domain, or labels of a namespace changed. Treat every
    // answer that read it as changed.
    kCounterMoved,
    kTermMoved,
    // The node of `row` was added or removed, or its labels, taints or spec.unschedulable changed.
    // Answers about other rows depend on it only if they depend on which domains there are, or on
    // which nodes are counted.
    kNode,
    // The labels of the namespace with the id `id` changed: which term groups mean a pod of the
    // namespace may have changed.
    kNamespace,
  };
  Kind kind;
  uint32_t id;
  uint32_t row;
  int32_t delta;
};

class TopologyIndex {
 public:
  // Starts to watch namespaces, so that it must be created in the plugin's constructor.
  // Errors: throws berth::Error if the host does not serve objects.
  explicit TopologyIndex(Host host, TopologyIndexOptions options = {});
  TopologyIndex(const TopologyIndex&) = delete;
  TopologyIndex& operator=(const TopologyIndex&) = delete;

  // Applies a change. Called: with every change that the plugin's OnChange receives, in order. A
  // change of a pod costs time in proportion to the counters and the terms that it matches, and to
  // the pods of its node.
  // Threading: as OnChange.
  void OnChange(const Change& change);

  // --- Counting ---

  // Returns the counter of the query; creates it by a scan over all pods if there is none.
  // `cycle`: Cycle::id(); what this cycle asked for is not dropped before another cycle asks.
  // Threading: [cycle], in PreFilter and PreScore.
  const PodCounter& Count(const PodQuery& query, uint64_t cycle);
  // Returns the counts of the query by domain of a topology key. Queries with several keys share
  // one counter.
  CountedDomains Count(const PodQuery& query, berth_id key, uint64_t cycle);
  // Returns whether a pod matches the query, for AddPod and RemovePod, and for hints.
  // Threading: [event] [queue] [cycle] [block].
  bool Matches(const PodQuery& query, const berth_pod& pod) const;
  // Returns the domains of a topology key, or null if nothing that was asked for or that a pod's
  // term names has the key. Threading: [cycle] [block].
  const Topology* FindTopology(berth_id key) const;
  // Returns the node of a row, or null if there is none. Threading: [event] [cycle] [block].
  const berth_node* NodeAt(uint32_t row) const {
    return row < rows_.size() ? rows_[row].node : nullptr;
  }

  // --- Terms of pods on nodes ---

  // Appends the term groups of these kinds (TermKind, combined with |) that mean the pod, in the
  // order of their ids. A term means a pod in one of its namespaces, or in a namespace that its
  // namespaceSelector matches; a namespace that does not exist has no labels. A term whose selector
  // could not be parsed is ignored, with all terms of its list. Some groups may have no pods any
  // more: `changed` needs them.
  // Costs time in proportion to the pod's labels and to the terms with one of them.
  // Threading: [cycle].
  void FindTerms(const berth_pod& pod, uint32_t kinds, std::vector<const TermGroup*>& out) const;
  // Returns whether a term of `owner` means `pod`, as FindTerms() does.
  // Threading: [event] [queue] [cycle] [block].
  bool TermMeans(const berth_pod& owner, const berth_pod_term& term, const berth_pod& pod) const;

  // --- What changed ---

  // Returns the number of the state now, never 0: a token for `changed`. Threading: [cycle].
  uint64_t token() const;
  // Calls `each(const TopologyChange&)` for every change since the state of `token`, oldest first.
  // Returns false, without a call, if the journal does not reach back to it.
  // A delta counts by the domain that its row has now: a row that has since moved to another domain
  // with counted pods is reported as moved too.
  // Threading: [cycle].
  template <class F>
  bool ForEachChangeSince(uint64_t token, F&& each) const;

  // Returns about how many bytes the index occupies. Threading: as OnChange.
  uint64_t bytes() const;

  // For the SDK: receives the changes of namespaces.
  void OnNamespace(const ObjectChange& change);

 private:
  struct Row {
    const berth_node* node = nullptr;
  };

  std::vector<Row> rows_;
};

}  // namespace berth

#endif  // BERTH_TOPOLOGY_INDEX_H_
