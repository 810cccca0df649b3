// PodCounters: the counters of a TopologyIndex, by query.
#ifndef BERTH_INTERNAL_POD_COUNTERS_H_
#define BERTH_INTERNAL_POD_COUNTERS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
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
#include <berth/positions.h>

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
    ++parts_;
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
  // those that `cycle` uses. Calls `drop(first, end)` with the range of counters before it drops
  // them; IsDropped() tells them from others.
  // Called: after every addition. If there are many counters and keys, only one call out of many,
  // and the first one of a cycle, adds up their bytes, so that together the calls of a cycle cost
  // time in proportion to their number.
  template <class F>
  void Evict(uint64_t bytes, uint64_t cycle, F&& drop) {
    if (++calls_ < parts_ / kCallsPart && cycle == last_cycle_) return;
    calls_ = 0;
    last_cycle_ = cycle;
    uint64_t used = this->bytes();
    auto first = counters_.end();  // Of those that are dropped.
    while (used > bytes && first != counters_.begin() && std::prev(first)->cycle_ != cycle) {
      --first;
      used -= BytesOf(*first);
      first->mark_ = kDropped;
    }
    if (first == counters_.end()) return;
    drop(first, counters_.end());
    while (first != counters_.end()) Remove(*first++);
  }
  // Returns whether Evict() is about to drop the counter.
  static bool IsDropped(const PodCounter& counter) { return counter.mark_ == kDropped; }
  // A mark that the index sets and reads: no other counter of its call has it.
  static uint64_t& MarkOf(PodCounter& counter) { return counter.mark_; }
  static bool ReadsNamespaces(const PodCounter& counter) {
    const uint32_t* at = counter.words_.data() + kQueryTerms;
    for (uint32_t i = 0; i < counter.words_[1]; ++i) {
      if (at[1 + *at] != 0) return true;
      SkipScope(at);
      SkipSelector(at);
    }
    return false;
  }

  // Returns whether the labels of namespaces decide which pods a counter counts.
  static bool ReadsLabelsOfNamespaces(const PodCounter& counter) {
    const uint32_t* at = counter.words_.data() + kQueryTerms;
    bool reads = false;
    for (uint32_t i = 0; i < counter.words_[1]; ++i) {
      reads = ScopeReadsLabels(at, BERTH_ID_NONE) || reads;
      SkipSelector(at);
    }
    return reads;
  }

  // Returns the counts of a counter by a key, or null. From now on they are counted if a node has
  // the key. Called: by questions, and for every key that a node is the first one to have.
  static PodCounter::ByKey* FindKey(PodCounter& counter, berth_id key) {
    const std::size_t place = counter.key_places_.Find(key);
    if (place == Positions<berth_id>::kNone) return nullptr;
    PodCounter::ByKey& by_key = counter.keys_[place];
    StartCounting(counter, by_key);
    return &by_key;
  }
  // Adds the counts by a topology. REQUIRES: there are none.
  PodCounter::ByKey& AddKey(PodCounter& counter, Topology& topology) {
    ++parts_;
    PodCounter::ByKey& by_key = counter.keys_.emplace_back(PodCounter::ByKey{&topology, {}});
    counter.key_places_.Use(topology.key());
    StartCounting(counter, by_key);
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
  static constexpr std::size_t kCallsPart = 16;
  static constexpr uint64_t kDropped = ~uint64_t{0};

  // Counts by the key from now on, if a node has it.
  static void StartCounting(PodCounter& counter, PodCounter::ByKey& by_key) {
    if (by_key.counted || by_key.topology->nodes() == 0) return;
    by_key.counted = true;
    counter.counted_keys_.push_back(&by_key);
    counter.rows_.ForEach([&by_key](uint32_t row, uint32_t count) {
      const uint32_t domain = by_key.topology->DomainOf(row);
      if (domain != Topology::kNone) by_key.counts.Add(domain, count);
    });
  }
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
    parts_ -= 1 + counter.keys_.size();
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
  std::size_t parts_ = 0;    // Counters, and their keys.
  std::size_t calls_ = 0;    // Of Evict(), since it added up the bytes.
  uint64_t last_cycle_ = 0;  // The cycle of the last call that did.
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_POD_COUNTERS_H_
