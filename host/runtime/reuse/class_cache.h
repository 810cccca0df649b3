// Filter and Score with answers that are kept from one attempt to the next.
//
// The pods of a Deployment differ in little that plugins look at. ClassCache keeps, for each class
// of pods (class_key.h), the verdict and the score of every node. For the next pod of the class it
// asks the plugins only about nodes that changed since, usually the one that the last pod went to,
// and takes the best node from a tree. The result is exact: the same feasible nodes, verdicts and
// totals as RunFilter() and RunScore() find.
#ifndef BERTH_HOST_RUNTIME_REUSE_CLASS_CACHE_H_
#define BERTH_HOST_RUNTIME_REUSE_CLASS_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/reuse/class_key.h"
#include "host/runtime/reuse/class_memory.h"
#include "host/runtime/reuse/pod_class.h"

namespace berth::host {

struct ReuseOptions {
  // The memory of the answers that each profile keeps: about 400 classes of 5,000 nodes, or 20 of
  // 100,000. If 0, no answer is reused.
  size_t bytes = size_t{64} << 20;
  // Answers are kept from this attempt of a class on. A class of which there is only one pod is not
  // worth the memory and the time to keep them.
  uint32_t sightings = 2;
  // Evaluates every node again after each reuse, and fails the attempt if a result differs, with a
  // message that begins with kReusedWrongly: for tests, and to find a plugin that declares too
  // little. Much slower. A plugin whose answers are random, or depend on the time, differs too.
  bool is_checked = false;
};
inline constexpr std::string_view kReusedWrongly = "an answer was reused wrongly: ";

// The classes of one profile. If they need too much memory, it drops the class that was not used
// for the longest time.
//
// Every node is evaluated, as RunFilter() and RunScore() do, if the class is not kept (yet); if the
// attempt is restricted to some nodes; and if a Filter has to see all nodes in one call
// (BERTH_FILTER_WHOLE). All scores are computed if a nominated pod keeps a node from being
// feasible.
//
// Threading: the scheduling thread.
// Lifetime:  what Attempt::feasible and Attempt::ranking refer to is valid until the next call of
//            Filter() or Clear().
class ClassCache {
 public:
  explicit ClassCache(const ReuseOptions& options) : options_(options) {}
  ClassCache(const ClassCache&) = delete;
  ClassCache& operator=(const ClassCache&) = delete;

  // Takes the place of RunFilter(), with the same contract, except that Attempt::verdicts has the
  // verdicts only if no row is feasible.
  PluginStatus Filter(Attempt& attempt, const Nominator& nominator);

  // Takes the place of RunScore(), with the same contract, except that only the plugins whose
  // answers cannot be reused are in Attempt::scores, and that the totals are in Attempt::ranking,
  // not in Attempt::totals, if there is no such plugin. REQUIRES: Filter() in this attempt.
  PluginStatus Score(Attempt& attempt);

  // Removes all classes.
  void Clear();

  size_t class_count() const { return classes_.size(); }
  // The memory of the classes. It may exceed the limit, but then there is one class.
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Entry(const ClassKey& key, ClassMemory& memory) : pod_class(key, memory) {}

    PodClass pod_class;
    size_t bytes = 0;
    uint64_t last_use = 0;  // The number of the lookup.
  };
  // A class that is not kept, by its hash.
  struct Sighting {
    size_t hash = 0;
    uint32_t count = 0;
  };
  static constexpr size_t kSightings = 1024;
  struct NominatedVerdicts;
  using Entries = std::list<Entry>;  // The most recently used class is the first.

  // Returns the class, and creates it if it is worth it; otherwise null.
  PodClass* ClassFor(const ClassKey& key);
  // Counts an attempt of a class that is not kept. Returns whether the class is worth keeping.
  bool IsAdmitted(const ClassKey& key);
  PluginStatus Refresh(Attempt& attempt, const Nominator& nominator, PodClass& pod_class);
  void SetFeasible(Attempt& attempt, const NominatedVerdicts& nominated);
  PluginStatus ScoreWithClass(Attempt& attempt, const ClassKey& key);
  void Drop(Entries::iterator dropped);
  // Removes the class of the current attempt.
  void DropCurrent();
  // Counts the memory of the current class, and removes classes until the limit is kept.
  void KeepLimit();

  const ReuseOptions options_;
  ClassMemory memory_;
  Entries classes_;
  std::unordered_multimap<size_t, Entries::iterator> by_hash_;
  size_t bytes_ = 0;
  uint64_t lookups_ = 0;
  std::vector<Sighting> sightings_;  // At hash % kSightings: the last class with this remainder.
  // The class of the current attempt, the first one; null if its feasible rows are not those of the
  // attempt.
  PodClass* current_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_CLASS_CACHE_H_
