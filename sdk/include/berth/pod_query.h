// PodQuery: says which pods on nodes a TopologyIndex counts.
#ifndef BERTH_POD_QUERY_H_
#define BERTH_POD_QUERY_H_

#include <cstdint>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/term_words.h>

namespace berth {

// Conditions on a pod, all of which must hold. Build one in PreFilter or PreScore, pass it to
// TopologyIndex::Count(), and drop it, or Clear() it for the next one. Queries with the same
// conditions in the same order share one counter.
//
//   PodQuery(PodQuery::kWithoutTerminating).In(pod.ns(), spread.selector)
//   PodQuery(PodQuery::kWithTerminating).Means(pod.ns(), term_1).Means(pod.ns(), term_2)
class PodQuery {
 public:
  // Whether pods that are being deleted (berth_meta.deleted_ns is not 0) are counted: affinity
  // counts them, spreading does not.
  enum Terminating : uint32_t { kWithoutTerminating, kWithTerminating };

  explicit PodQuery(Terminating terminating) : words_{terminating, 0} {}

  // The pod is in the namespace and the selector matches its labels. A null selector, or one that
  // could not be parsed, matches no pod; one without requirements matches every pod.
  PodQuery& In(berth_id ns, const berth_selector* selector) {
    ++words_[1];
    internal::AppendScope(ns, words_);
    internal::AppendSelector(selector, words_);
    return *this;
  }
  // A pod affinity term means the pod. `ns`: the namespace of the term's pod. A namespaceSelector
  // means namespaces that exist; one without requirements means all pods.
  PodQuery& Means(berth_id ns, const berth_pod_term& term) {
    ++words_[1];
    internal::AppendTerm(ns, term, words_);
    return *this;
  }
  // Removes all conditions.
  void Clear() {
    words_.resize(2);
    words_[1] = 0;
  }
  // Returns how many conditions there are. A query without conditions matches every pod.
  uint32_t size() const { return words_[1]; }

  // For the index: the conditions in the form of term_words.h. The first word is Terminating, the
  // second one the number of terms that follow.
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  std::vector<uint32_t> words_;
};

}  // namespace berth

#endif  // BERTH_POD_QUERY_H_
