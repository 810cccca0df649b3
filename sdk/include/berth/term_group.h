// TermGroup: equal pod affinity terms of pods on nodes, as TopologyIndex maintains them.
#ifndef BERTH_TERM_GROUP_H_
#define BERTH_TERM_GROUP_H_

#include <cstdint>

#include <berth/abi.h>
#include <berth/domain_counts.h>
#include <berth/internal/term_words.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/topology.h>

namespace berth {
namespace internal {
class TermGroups;
}

// The kinds of pod affinity terms, as bits.
enum TermKind : uint32_t {
  kRequiredAffinity = 1,
  kRequiredAntiAffinity = 2,
  kPreferredAffinity = 4,
  kPreferredAntiAffinity = 8,
};

// Calls `each(TermKind, const berth_pod_term&)` for every term of the pod of these kinds. If a
// selector of a list could not be parsed, the pod has none of the terms of the list.
// kube-scheduler: pkg/scheduler/framework, GetAffinityTerms
template <class F>
void ForEachTerm(const berth_pod& pod, uint32_t kinds, F&& each) {
  const auto is_invalid = [](const berth_selector* selector) {
    return selector != nullptr && (selector->flags & BERTH_SELECTOR_INVALID) != 0;
  };
  const auto list = [&](TermKind kind, const berth_array& array) {
    if ((kinds & kind) == 0) return;
    const Span<const berth_pod_term> terms(array);
    for (const berth_pod_term& term : terms) {
      if (is_invalid(term.selector) || is_invalid(term.namespace_selector)) return;
    }
    for (const berth_pod_term& term : terms) each(kind, term);
  };
  list(kRequiredAffinity, pod.affinity->required_pod_terms);
  list(kRequiredAntiAffinity, pod.affinity->required_pod_anti_terms);
  list(kPreferredAffinity, pod.affinity->preferred_pod_terms);
  list(kPreferredAntiAffinity, pod.affinity->preferred_pod_anti_terms);
}

// The pods that have equal terms, by domain of the terms' topology key. Pods on nodes without the
// label are not counted. A pod that has the term twice counts twice.
//
// Lifetime:  until the next change of a pod or node.
class TermGroup {
 public:
  // Returns what identifies the group in TopologyChange. No other group ever has the same id.
  uint32_t id() const { return id_; }
  TermKind kind() const { return static_cast<TermKind>(words_[0]); }
  // Returns the weight of a preferred term; 0 of a required one.
  int32_t weight() const { return static_cast<int32_t>(words_[1]); }
  const Topology& topology() const { return *topology_; }
  // Returns the number of pods by domain. There may be none any more.
  const DomainCounts& counts() const { return counts_; }

 private:
  friend class internal::TermGroups;

  uint32_t id_ = 0;
  uint32_t requirement_ = 0;  // See TermFinder::Add().
  uint32_t users_ = 0;        // The shapes that have the term.
  bool entered_ = false;      // The finder has the group: it has or had a count.
  uint64_t retired_ = 0;      // The token of the state in which the last user left.
  Topology* topology_ = nullptr;
  DomainCounts counts_;
  internal::Words words_;  // Kind, weight, topology key, and the term, with interned ids.
};

}  // namespace berth

#endif  // BERTH_TERM_GROUP_H_
