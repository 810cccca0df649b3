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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/changes.h>
#include <berth/domain_counts.h>
#include <berth/host.h>
#include <berth/internal/fail.h>
#include <berth/internal/namespace_labels.h>
#include <berth/internal/pod_counters.h>
#include <berth/internal/pod_rows.h>
#include <berth/internal/pod_shapes.h>
#include <berth/internal/term_groups.h>
#include <berth/internal/term_words.h>
#include <berth/internal/topologies.h>
#include <berth/needed_kind.h>
#include <berth/pod.h>
#include <berth/pod_counter.h>
#include <berth/pod_query.h>
#include <berth/services.h>
#include <berth/term_group.h>
#include <berth/topology.h>
#include <berth/topology_change.h>

namespace berth {

// The kind that a plugin with an index of the labels of namespaces names in kKinds.
inline constexpr const char* kNamespaceKind = "v1/Namespace";

struct TopologyIndexOptions {
  // Index the pod affinity terms of pods on nodes, for FindTerms(). Without it, these terms cost
  // nothing.
  bool terms = true;
  // Follow the labels of namespaces, which namespaceSelectors match. The plugin names
  // kNamespaceKind in kKinds and BERTH_SERVICE_OBJECTS in kServices. Without it, namespaces have no
  // labels, and a namespaceSelector matches nothing unless it is empty. The index has a NeededKind
  // for the kind.
  bool namespaces = true;
  // Counters may occupy this many bytes. Beyond that, Count() drops those that were not asked for
  // longest, except those of the current cycle. A counter that is dropped is created again, by
  // another scan, when it is asked for.
  uint64_t counter_bytes = uint64_t{16} << 20;
  // How many changes the journal keeps, for `changed`. It occupies 16 bytes for each.
  uint32_t journal = 2048;
};

class TopologyIndex {
 public:
  using Options = TopologyIndexOptions;

  // Starts to watch namespaces, so that it must be created in the plugin's constructor.
  // Errors: throws berth::Error if the host does not serve objects.
  explicit TopologyIndex(Host host, Options options = {});
  TopologyIndex(const TopologyIndex&) = delete;
  TopologyIndex& operator=(const TopologyIndex&) = delete;

  // Applies a change. Called: with every change that the plugin's OnChange receives, in order. A
  // change of a pod costs time in proportion to the counters and the terms that it matches, and to
  // the different pods of its node.
  // Threading: as OnChange.
  void OnChange(const Change& change);

  // --- Counting ---

  // Returns the counter of the query; creates it by a scan over all pods if there is none.
  // `cycle`: Cycle::id(); what this cycle asked for is not dropped before another cycle asks.
  // Threading: [cycle], in PreFilter and PreScore.
  const PodCounter& Count(const PodQuery& query, uint64_t cycle) {
    return FindOrAdd(query.words(), cycle);
  }
  // Returns the counts of the query by domain of a topology key. Queries with several keys share
  // one counter.
  CountedDomains Count(const PodQuery& query, berth_id key, uint64_t cycle) {
    return CountBy(FindOrAdd(query.words(), cycle), key, cycle);
  }
  // Returns the counts of a counter of this cycle by domain of a topology key, for a query with
  // many keys: the query is not looked up again.
  CountedDomains Count(const PodCounter& counter, berth_id key, uint64_t cycle) {
    return CountBy(const_cast<PodCounter&>(counter), key, cycle);
  }
  // Returns whether a pod matches the query, for AddPod and RemovePod, and for hints.
  // Threading: [event] [queue] [cycle] [block].
  bool Matches(const PodQuery& query, const berth_pod& pod) const {
    return internal::MatchQuery(query.words(), namespaces_.View(pod.meta->ns, true),
                                Labels(pod.meta->labels), pod.meta->deleted_ns != 0);
  }
  // Returns whether a selector of some of the pod's labels could tell nodes apart by the pods that
  // it matches in the pod's namespace: whether one of them has a label of the pod. Looks at a
  // limited number of different pods, and returns true if there are more.
  // Threading: [event] [cycle].
  bool MayHavePeers(const berth_pod& pod) const;
  // Return how many nodes there are, and how many have a label with this key.
  // Threading: [event] [cycle].
  uint32_t node_count() const { return rows_.node_count(); }
  uint32_t CountNodesWith(berth_id key) const { return topologies_.NodesWith(key); }
  // Returns the domains of a topology key, or null if no counter and no term of a pod has the key.
  // Threading: [cycle] [block].
  const Topology* FindTopology(berth_id key) const { return topologies_.Find(key); }
  // Returns the node of a row, or null if there is none. Threading: [event] [cycle] [block].
  const berth_node* NodeAt(uint32_t row) const { return rows_.NodeAt(row); }

  // --- Terms of pods on nodes ---

  // Appends the term groups of these kinds (TermKind, combined with |) that mean the pod, in the
  // order of their ids. A term means a pod in one of its namespaces, or in a namespace that its
  // namespaceSelector matches; a namespace that does not exist has no labels. Some groups may have
  // no pods any more: `changed` needs them.
  // Costs time in proportion to the pod's labels and to the terms with one of them.
  // Threading: [cycle].
  void FindTerms(const berth_pod& pod, uint32_t kinds, std::vector<const TermGroup*>& out) const {
    FindTermsIf(pod, namespaces_.View(pod.meta->ns, false).labels, kinds, out);
  }
  // Appends the term groups that would mean the pod if its namespace had these labels, for hints
  // that compare two states of a namespace. Threading: [queue] [cycle].
  void FindTermsIf(const berth_pod& pod, Labels namespace_labels, uint32_t kinds,
                   std::vector<const TermGroup*>& out) const;
  // Returns whether a term of `owner` means `pod`, as FindTerms() does.
  // Threading: [event] [queue] [cycle] [block].
  bool TermMeans(const berth_pod& owner, const berth_pod_term& term, const berth_pod& pod) const;

  // --- What changed ---

  // Returns the number of the state now, never 0: a token for `changed`. Threading: [cycle].
  uint64_t token() const { return journal_.token(); }
  // Returns the changes since the state of `token`, and sets `token` to that of the state now.
  // Called: by FilterChanged and ScoreChanged, with the token that they receive. If since() of the
  //         result is 0, they return Stale::kAll before they read the state of the cycle, which
  //         does not exist if the profile leaves out PreFilter or PreScore.
  // Threading: [cycle].
  TopologyHistory ExchangeToken(uint64_t& token) const {
    return {journal_, std::exchange(token, journal_.token())};
  }
  // Returns the changes since the state of `token`. Threading: [cycle].
  TopologyHistory HistorySince(uint64_t token) const { return {journal_, token}; }
  // Calls `each(const TopologyChange&)` for every change since the state of `token`, oldest first.
  // Returns false, without a call, if the journal does not reach back to it.
  // <berth/topology_deltas.h> sums them up. Threading: [cycle].
  template <class F>
  bool ForEachChangeSince(uint64_t token, F&& each) const {
    return journal_.ForEachSince(token, each);
  }

  // Returns about how many bytes the index occupies. Reads every counter. Threading: as OnChange.
  uint64_t bytes() const {
    return rows_.bytes() + shapes_.bytes() + counters_.bytes() + terms_.bytes() +
           topologies_.bytes() + journal_.bytes();
  }

  // For the SDK: receives the changes of namespaces.
  void OnNamespace(const ObjectChange& change);

 private:
  void OnNode(uint32_t row, const berth_node* old, const berth_node* now);
  void OnPod(uint32_t row, const berth_pod* old, const berth_pod* now);
  uint32_t AddShape(const Pod& pod);
  void DropShape(uint32_t shape);
  // Adds to, or subtracts from, all that counts the pods of a shape. `moved`: the pods stay, and
  // their node's domains change.
  void Apply(uint32_t row, const internal::PodShape& shape, int32_t pods, bool moved);
  PodCounter& FindOrAdd(const internal::Words& query, uint64_t cycle);
  CountedDomains CountBy(PodCounter& counter, berth_id key, uint64_t cycle);
  bool MatchesShape(const internal::Words& query, const internal::PodShape& shape) const {
    return internal::MatchQuery(query, namespaces_.View(shape.key.ns, true), shape.label_view(),
                                shape.key.terminating);
  }
  // Lists the counter with the shapes that it counts, and counts their pods.
  void Fill(PodCounter& counter);
  // A shape that a counter begins (`sign` 1) or ceases (-1) to count.
  struct Moved {
    PodCounter* counter;
    uint32_t shape;
    int8_t sign;
  };
  // Lists the counters with the shapes of a namespace again, after its labels changed.
  std::vector<Moved> Relist(berth_id ns);
  // Adds signs[shape] times the pods of the rows with nodes to the counter.
  void AddRows(PodCounter& counter, const std::vector<int8_t>& signs);
  void Evict(uint64_t cycle);
  Topology& UseTopology(berth_id key) {
    return topologies_.Use(key, [this, key](Topology& topology) {
      rows_.ForEachNode([&topology, key](uint32_t row, const berth_node& node) {
        topology.Set(row, internal::Topologies::ValueOf(&node, key));
      });
    });
  }

  // Tells the host that the labels of namespaces are needed if `reads()` is true.
  template <class F>
  void NoteNamespaces(F&& reads) const {
    if (!options_.namespaces || namespaces_.size() != 0 || !namespace_need_.is_open()) return;
    namespace_need_.Note(reads());
  }

  const Options options_;
  mutable NeededKind namespace_need_;
  internal::NamespaceLabels namespaces_;
  internal::PodRows rows_;
  internal::PodShapes shapes_;
  internal::Topologies topologies_;
  internal::PodCounters counters_;
  internal::TermGroups terms_;
  internal::TopologyJournal journal_;
  std::vector<int8_t> signs_;  // By shape; for AddRows().
};

inline TopologyIndex::TopologyIndex(Host host, Options options)
    : options_(options),
      namespace_need_(host, kNamespaceKind),
      namespaces_(host),
      shapes_(options.terms),
      topologies_(host),
      counters_(host),
      terms_(host),
      journal_(options.journal) {
  if (!options_.namespaces) return;
  if (!host.objects()) internal::Fail("this host does not serve objects, such as namespaces");
  const Status status = host.objects().Watch<&TopologyIndex::OnNamespace>(kNamespaceKind, this);
  if (!status.ok()) internal::Fail("this host cannot watch namespaces");
}

inline void TopologyIndex::OnChange(const Change& change) {
  if (options_.namespaces) namespace_need_.Note(false);
  switch (change.kind) {
    case BERTH_CHANGE_POD_ADDED: OnPod(change.row, nullptr, change.pod); break;
    case BERTH_CHANGE_POD_CHANGED: OnPod(change.row, change.old_pod, change.pod); break;
    case BERTH_CHANGE_POD_REMOVED: OnPod(change.row, change.pod, nullptr); break;
    case BERTH_CHANGE_NODE_ADDED: OnNode(change.row, nullptr, change.node); break;
    case BERTH_CHANGE_NODE_CHANGED: OnNode(change.row, change.old_node, change.node); break;
    case BERTH_CHANGE_NODE_REMOVED: OnNode(change.row, change.node, nullptr); break;
    default: break;
  }
  terms_.Trim(journal_.oldest(), [this](const Topology& topology) { topologies_.Drop(topology); });
}

// ---- Nodes and pods -----------------------------------------------------------------------------

inline void TopologyIndex::OnNode(uint32_t row, const berth_node* old, const berth_node* now) {
  if (old != nullptr && now != nullptr && internal::SameForScheduling(*old, *now)) {
    return rows_.SetNode(row, now);
  }
  const bool stays = old != nullptr && now != nullptr && !topologies_.Moves(old, now);
  if (!stays) {
    if (old != nullptr) {
      rows_.ForEachPods(row, [this, row](uint32_t shape, uint32_t pods) {
        Apply(row, shapes_[shape], -static_cast<int32_t>(pods), true);
      });
    }
    topologies_.Set(row, old, now, [this](berth_id key) {
      counters_.ForEach([key](PodCounter& counter) {
        static_cast<void>(internal::PodCounters::FindKey(counter, key));
      });
    });
    if (now != nullptr) {
      rows_.ForEachPods(row, [this, row](uint32_t shape, uint32_t pods) {
        Apply(row, shapes_[shape], static_cast<int32_t>(pods), true);
      });
    }
  }
  topologies_.CountKeys(old, now);
  rows_.SetNode(row, now);
  journal_.Add({TopologyChange::kNodeChanged, 0, row, stays ? 0 : 1});
}

inline void TopologyIndex::OnPod(uint32_t row, const berth_pod* old, const berth_pod* now) {
  if (old != nullptr && now != nullptr && shapes_.KeyOf(*old) == shapes_.KeyOf(*now)) return;
  const bool has_node = rows_.NodeAt(row) != nullptr;
  // The new state is added first, so that what both states have does not become empty.
  if (now != nullptr) {
    uint32_t shape = shapes_.Find(shapes_.KeyOf(*now));
    if (shape == internal::PodShapes::kNone) shape = AddShape(*now);
    ++shapes_[shape].pods;
    rows_.AddPod(row, shape);
    if (has_node) Apply(row, shapes_[shape], 1, false);
  }
  if (old != nullptr) {
    const uint32_t shape = shapes_.Find(shapes_.KeyOf(*old));
    if (shape == internal::PodShapes::kNone || !rows_.RemovePod(row, shape)) return;
    if (has_node) Apply(row, shapes_[shape], -1, false);
    if (--shapes_[shape].pods == 0) DropShape(shape);
  }
}

inline void TopologyIndex::Apply(uint32_t row, const internal::PodShape& shape, int32_t pods,
                                 bool moved) {
  for (PodCounter* const counter : shape.counters) {
    counter->Add(row, pods);
    journal_.Add(
        {moved ? TopologyChange::kCounterMoved : TopologyChange::kCount, counter->id(), row, pods});
  }
  for (TermGroup* const group : shape.terms) {
    if (!terms_.Count(*group, row, pods)) continue;
    journal_.Add(
        {moved ? TopologyChange::kTermMoved : TopologyChange::kTerm, group->id(), row, pods});
  }
}

inline uint32_t TopologyIndex::AddShape(const Pod& pod) {
  const uint32_t added = shapes_.Add(pod);
  internal::PodShape& shape = shapes_[added];
  counters_.ForEachCandidate(shape.key.ns, shape.label_view(), [&](PodCounter& counter) {
    if (MatchesShape(internal::PodCounters::WordsOf(counter), shape)) {
      shape.counters.push_back(&counter);
    }
  });
  if (!options_.terms) return added;
  constexpr uint32_t kAll =
      kRequiredAffinity | kRequiredAntiAffinity | kPreferredAffinity | kPreferredAntiAffinity;
  ForEachTerm(*pod, kAll, [&](TermKind kind, const berth_pod_term& term) {
    TermGroup* const group = terms_.Use(
        kind, shape.key.ns, term, [&]() -> Topology& { return UseTopology(term.topology_key); });
    if (group != nullptr) shape.terms.push_back(group);
  });
  return added;
}

inline void TopologyIndex::DropShape(uint32_t shape) {
  for (TermGroup* const group : shapes_[shape].terms) terms_.Drop(*group, journal_.token());
  shapes_.Remove(shape);
}

// ---- Counters -----------------------------------------------------------------------------------

inline CountedDomains TopologyIndex::CountBy(PodCounter& counter, berth_id key, uint64_t cycle) {
  PodCounter::ByKey* by_key = internal::PodCounters::FindKey(counter, key);
  if (by_key == nullptr) {
    by_key = &counters_.AddKey(counter, UseTopology(key));
    Evict(cycle);
  }
  return {&counter, by_key->topology, &by_key->counts};
}

inline bool TopologyIndex::MayHavePeers(const berth_pod& pod) const {
  constexpr uint32_t kMostShapes = 64;
  const Labels labels(pod.meta->labels);
  uint32_t seen = 0;
  bool any = false;
  shapes_.ForEachIn(pod.meta->ns, [&](uint32_t shape) {
    if (any) return;
    const Labels other = shapes_[shape].label_view();
    any = ++seen > kMostShapes ||
          std::any_of(labels.begin(), labels.end(), [&other](const berth_id_pair& label) {
            return FindLabel(other, label.key) == label.value;
          });
  });
  return any;
}

inline PodCounter& TopologyIndex::FindOrAdd(const internal::Words& query, uint64_t cycle) {
  PodCounter* const found = counters_.Find(query, cycle);
  if (found != nullptr) return *found;
  PodCounter& added = counters_.Add(query, cycle);
  NoteNamespaces([&added] { return internal::PodCounters::ReadsLabelsOfNamespaces(added); });
  // The journal does not have what happened before to the pods that the query matches. A change of
  // its own separates the state in which the counter was created from all earlier ones.
  journal_.Add({TopologyChange::kCounterMoved, added.id(), 0, 0});
  internal::PodCounters::SetSince(added, journal_.token());
  Fill(added);
  Evict(cycle);
  return added;
}

inline void TopologyIndex::Evict(uint64_t cycle) {
  counters_.Evict(options_.counter_bytes, cycle, [this](auto first, auto end) {
    for (uint32_t shape = 0; shape < shapes_.limit(); ++shape) {
      std::erase_if(shapes_[shape].counters, [](const PodCounter* counter) {
        return internal::PodCounters::IsDropped(*counter);
      });
    }
    for (; first != end; ++first) {
      internal::PodCounters::ForEachKey(
          *first, [this](const Topology& topology) { topologies_.Drop(topology); });
    }
  });
}

inline void TopologyIndex::Fill(PodCounter& counter) {
  const internal::Words& query = internal::PodCounters::WordsOf(counter);
  signs_.assign(shapes_.limit(), 0);
  bool any = false;
  const auto add = [&](uint32_t shape) {
    if (signs_[shape] != 0 || !MatchesShape(query, shapes_[shape])) return;
    shapes_[shape].counters.push_back(&counter);
    signs_[shape] = 1;
    any = true;
  };
  // Only the shapes of the namespaces that the first condition names can match.
  const uint32_t* const scope = query.data() + internal::kQueryTerms;
  if (query[1] != 0 && scope[1 + *scope] == 0) {
    for (uint32_t i = 0; i < *scope; ++i) shapes_.ForEachIn(scope[1 + i], add);
  } else {
    shapes_.ForEach(add);
  }
  if (any) AddRows(counter, signs_);
}

inline std::vector<TopologyIndex::Moved> TopologyIndex::Relist(berth_id ns) {
  using Counters = internal::PodCounters;
  std::vector<Moved> moved;
  uint64_t listed = 0;  // The mark of the counters that the shape is listed with.
  counters_.ForEach([](PodCounter& counter) { Counters::MarkOf(counter) = 0; });
  shapes_.ForEachIn(ns, [&](uint32_t number) {
    internal::PodShape& shape = shapes_[number];
    ++listed;
    for (PodCounter* const counter : shape.counters) Counters::MarkOf(*counter) = listed;
    counters_.ForEach([&](PodCounter& counter) {
      if (!Counters::ReadsNamespaces(counter)) return;
      const bool had = Counters::MarkOf(counter) == listed;
      const bool has = MatchesShape(Counters::WordsOf(counter), shape);
      if (had == has) return;
      moved.push_back({&counter, number, static_cast<int8_t>(has ? 1 : -1)});
      if (has) shape.counters.push_back(&counter);
      Counters::MarkOf(counter) = has ? listed : 0;
    });
    std::erase_if(shape.counters,
                  [listed](PodCounter* counter) { return Counters::MarkOf(*counter) != listed; });
  });
  std::stable_sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) {
    return a.counter->id() < b.counter->id();
  });
  return moved;
}

inline void TopologyIndex::AddRows(PodCounter& counter, const std::vector<int8_t>& signs) {
  rows_.ForEachNode([&](uint32_t row, const berth_node& /*node*/) {
    int64_t change = 0;
    rows_.ForEachPods(row, [&](uint32_t shape, uint32_t pods) {
      change += signs[shape] * static_cast<int64_t>(pods);
    });
    if (change != 0) counter.Add(row, change);
  });
}

inline void TopologyIndex::OnNamespace(const ObjectChange& change) {
  const berth_id ns = namespaces_.Apply(change);
  if (ns == BERTH_ID_NONE) return;
  journal_.Add({TopologyChange::kNamespaceChanged, ns, 0, 0});
  const std::vector<Moved> moved = Relist(ns);
  for (std::size_t i = 0; i < moved.size();) {
    PodCounter& counter = *moved[i].counter;
    signs_.assign(shapes_.limit(), 0);
    for (; i < moved.size() && moved[i].counter == &counter; ++i) {
      signs_[moved[i].shape] = moved[i].sign;
    }
    AddRows(counter, signs_);
    journal_.Add({TopologyChange::kCounterMoved, counter.id(), 0, 0});
  }
}

// ---- Terms --------------------------------------------------------------------------------------

inline void TopologyIndex::FindTermsIf(const berth_pod& pod, Labels namespace_labels,
                                       uint32_t kinds, std::vector<const TermGroup*>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  NoteNamespaces(
      [&] { return terms_.ReadsLabelsOfNamespace(kinds, pod.meta->ns, Labels(pod.meta->labels)); });
  terms_.ForEachMeaning(kinds, {pod.meta->ns, true, namespace_labels}, Labels(pod.meta->labels),
                        [&out](const TermGroup& group) { out.push_back(&group); });
  std::sort(out.begin() + first, out.end(),
            [](const TermGroup* a, const TermGroup* b) { return a->id() < b->id(); });
}

inline bool TopologyIndex::TermMeans(const berth_pod& owner, const berth_pod_term& term,
                                     const berth_pod& pod) const {
  internal::Words words;
  internal::AppendTerm(owner.meta->ns, term, words);
  const uint32_t* at = words.data();
  return internal::MatchTerm(at, namespaces_.View(pod.meta->ns, false), Labels(pod.meta->labels));
}

}  // namespace berth

#endif  // BERTH_TOPOLOGY_INDEX_H_
