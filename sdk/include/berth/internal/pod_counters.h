// PodCounters: the counters of a TopologyIndex, by query.
#ifndef BERTH_INTERNAL_POD_COUNTERS_H_
#define BERTH_INTERNAL_POD_COUNTERS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/internal/pod_shapes.h>
#include <berth/internal/term_finder.h>
#include <berth/internal/term_words.h>
#include <berth/internal/topologies.h>
#include <berth/pod.h>
#include <berth/pod_counter.h>
#include <berth/pod_query.h>

namespace berth::internal {

// The words of a query: see PodQuery::words().
inline constexpr uint32_t kQueryTerms = 2;

// Returns whether a pod matches the words of a query. `ns`: the pod's namespace, for terms of the
// pod to schedule.
inline bool MatchQuery(const Words& query, const NamespaceView& ns, Labels labels,
                       bool terminating) {
  if (terminating && query[0] == PodQuery::kWithoutTerminating) return false;
  const uint32_t* at = query.data() + kQueryTerms;
  for (uint32_t i = 0; i < query[1]; ++i) {
    if (!MatchTerm(at, ns, labels)) return false;
  }
  return true;
}

class PodCounters {
 public:
  explicit PodCounters(Host host)
      : host_(host), by_query_(0, WordsHash{host.hash_key()[0]}), finder_(host.hash_key()[0]) {}

  // Returns the counter of a query, now used by `cycle`, or null.
  PodCounter* Find(const Words& query, uint64_t cycle) {
    const auto found = by_query_.find(query);
    if (found == by_query_.end()) return nullptr;
    counters_.splice(counters_.begin(), counters_, found->second);
    found->second->cycle_ = cycle;
    return &*found->second;
  }
  // Creates an empty counter. REQUIRES: the query has none.
  PodCounter& Add(const Words& query, uint64_t cycle) {
    counters_.emplace_front();
    PodCounter& counter = counters_.front();
    counter.id_ = ++last_id_;
    counter.cycle_ = cycle;
    counter.words_ = query;
    ForEachId(counter.words_, [this](uint32_t& id) { host_.Intern(host_.Text(id)); });
    by_query_.emplace(counter.words_, counters_.begin());
    if (query[1] == 0) {
      finder_.AddForAll(&counter);
    } else {
      counter.requirement_ = finder_.Add(&counter, counter.words_.data() + kQueryTerms);
    }
    return counter;
  }
  // Drops the counters that were not used longest, until the others occupy at most `bytes`. Keeps
  // those that `cycle` uses. Calls `drop(PodCounter&)` for each before it is dropped.
  template <class F>
  void Evict(uint64_t bytes, uint64_t cycle, F&& drop) {
    uint64_t used = this->bytes();
    while (used > bytes && !counters_.empty() && counters_.back().cycle_ != cycle) {
      PodCounter& counter = counters_.back();
      used -= BytesOf(counter);
      drop(counter);
      Remove(counter);
    }
  }

  // Returns the counts of a counter by a key, or null.
  static PodCounter::ByKey* FindKey(PodCounter& counter, berth_id key) {
    for (PodCounter::ByKey& by_key : counter.keys_) {
      if (by_key.topology->key() == key) return &by_key;
    }
    return nullptr;
  }
  // Adds the counts by a topology. REQUIRES: there are none.
  static PodCounter::ByKey& AddKey(PodCounter& counter, Topology& topology) {
    PodCounter::ByKey& by_key = counter.keys_.emplace_back(PodCounter::ByKey{&topology, {}});
    counter.rows_.ForEach([&by_key](uint32_t row, uint32_t count) {
      const uint32_t domain = by_key.topology->DomainOf(row);
      if (domain != Topology::kNone) by_key.counts.Add(domain, count);
    });
    return by_key;
  }
  template <class F>
  static void ForEachKey(PodCounter& counter, F&& each) {
    for (PodCounter::ByKey& by_key : counter.keys_) each(*by_key.topology);
  }
  static void SetSince(PodCounter& counter, uint64_t token) { counter.since_ = token; }
  static const Words& WordsOf(const PodCounter& counter) { return counter.words_; }

  // Calls `each(PodCounter&)` for every counter whose query may match a pod.
  template <class F>
  void ForEachCandidate(berth_id ns, Labels labels, F&& each) const {
    if (!counters_.empty()) finder_.ForEachCandidate(ns, labels, each);
  }
  // Calls `each(PodCounter&)` for every counter, the one that was used last first.
  template <class F>
  void ForEach(F&& each) {
    for (PodCounter& counter : counters_) each(counter);
  }

  std::size_t size() const { return counters_.size(); }
  // Returns about how many bytes the counters occupy. Takes time in proportion to their number.
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const PodCounter& counter : counters_) bytes += BytesOf(counter);
    return bytes;
  }

 private:
  static constexpr uint64_t kNodeBytes = 128;  // A counter in containers and in the finder.

  static uint64_t BytesOf(const PodCounter& counter) {
    // The query is stored twice.
    uint64_t bytes = sizeof(PodCounter) + 2 * counter.words_.size() * sizeof(uint32_t) +
                     kNodeBytes + counter.rows_.bytes();
    for (const PodCounter::ByKey& by_key : counter.keys_) {
      bytes += sizeof(by_key) + kNodeBytes + by_key.counts.bytes();
    }
    return bytes;
  }
  template <class F>
  static void ForEachId(Words& query, F&& each) {
    uint32_t* at = query.data() + kQueryTerms;
    for (uint32_t i = 0; i < query[1]; ++i) ForEachTermId(at, each);
  }
  void Remove(PodCounter& counter) {
    if (counter.words_[1] == 0) {
      finder_.RemoveForAll(&counter);
    } else {
      finder_.Remove(&counter, counter.words_.data() + kQueryTerms, counter.requirement_);
    }
    const auto found = by_query_.find(counter.words_);
    const auto at = found->second;
    by_query_.erase(found);
    ForEachId(at->words_, [this](uint32_t& id) { host_.Release(id); });
    counters_.erase(at);
  }

  Host host_;
  std::list<PodCounter> counters_;  // The one that was used last first.
  std::unordered_map<Words, std::list<PodCounter>::iterator, WordsHash> by_query_;
  TermFinder<PodCounter> finder_;
  uint32_t last_id_ = 0;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_POD_COUNTERS_H_
