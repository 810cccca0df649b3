// The evaluation that keeps answers of plugins from one attempt to the next.
//
// The pods of a Deployment differ in little that plugins look at. ReusedEvaluation keeps, for each
// class of pods (pod_class.h), the verdict and the score of every node. For the next pod of the
// class it asks the plugins only about nodes that changed since, usually the one that the last pod
// went to, and takes the best node from a tree.
#ifndef BERTH_HOST_RUNTIME_REUSE_REUSED_EVALUATION_H_
#define BERTH_HOST_RUNTIME_REUSE_REUSED_EVALUATION_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/reuse/pod_class.h"
#include "host/runtime/reuse/reuse_check.h"

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
  // What plugins do in a call happens twice.
  bool is_checked = false;
};
inline constexpr std::string_view kReusedWrongly = "an answer was reused wrongly: ";

// The classes of one profile. If they need too much memory, it drops the class that was not used
// for the longest time.
//
// Every node is evaluated afresh if the class is not kept (yet), or if the attempt is restricted to
// some nodes. A Filter that has to see all nodes in one call (BERTH_FILTER_WHOLE) is asked in each
// attempt, and so are the Filters after it. All scores are computed then, and if a nominated pod
// keeps a node from being feasible.
//
// Threading: the scheduling thread.
class ReusedEvaluation final : public Evaluation {
 public:
  explicit ReusedEvaluation(const ReuseOptions& options) : options_(options) {}

  Filtered Filter(Attempt& attempt, const Selection& candidates,
                  const Nominator& nominator) override;
  Ranked Score(Attempt& attempt, const Filtered& filtered) override;

  size_t class_count() const { return classes_.size(); }
  // The memory of the classes. It may exceed the limit, but then there is one class.
  size_t bytes() const { return bytes_; }

 private:
  // A class and the scores of its pods.
  struct Entry {
    Entry(const ClassKey& key, ClassMemory& memory) : pod_class(key, memory) {}

    PodClass pod_class;
    // By the key of Score, the last used first. Few, because pods with equal answers of Filter
    // seldom differ in what Score depends on.
    std::vector<std::unique_ptr<ClassScores>> scores;
    size_t bytes = 0;
    uint64_t last_use = 0;     // The number of the lookup.
    LastChecked last_checked;  // For ReuseOptions::is_checked.
  };
  // A class that is not kept, by its hash.
  struct Sighting {
    size_t hash = 0;
    uint32_t count = 0;
  };
  static constexpr size_t kSightings = 1024;
  using Entries = std::list<Entry>;  // The most recently used class is the first.

  // Returns the class, and creates it if it is worth it; otherwise null.
  Entry* EntryFor(const ClassKey& key);
  // Counts an attempt of a class that is not kept. Returns whether the class is worth keeping.
  bool IsAdmitted(const ClassKey& key);
  ClassScores& ScoresFor(const ClassKey& key);
  // Makes the result of Filter from the current class, without the rows of `rejected_`, which
  // nominated pods keep from being feasible.
  Filtered FilteredByClass(const Attempt& attempt);
  // Runs the first whole Filter and the Filters after it over the rows that the class leaves.
  // REQUIRES: there is a whole Filter.
  Filtered FilterAfterClass(Attempt& attempt);
  // Returns the feasible rows of the class, without those of `rejected_`.
  const Selection& FeasibleOfClass();
  Ranked ScoreWithClass(Attempt& attempt, const ClassKey& key);
  // Removes everything but the list element. The caller removes that from classes_.
  void Unlink(Entries::iterator entry);
  // Removes the class of the current attempt, but keeps its memory until the next one, because the
  // result of Filter may refer to it.
  void RetireCurrent();
  // Counts the memory of the current class, and removes classes until the limit is kept.
  void KeepLimit();
  // Return an error, or make it the result, if a new evaluation of the class differs.
  PluginStatus CheckVerdicts(Attempt& attempt);
  void CheckScores(Attempt& attempt, const ClassKey& key, const Filtered& filtered, Ranked& reused);

  const ReuseOptions options_;
  FreshEvaluation fresh_;
  FreshEvaluation checker_{FreshEvaluation::Scores::kByPlugin};
  ClassMemory memory_;
  Entries classes_;
  Entries retired_;  // One class at most.
  std::unordered_multimap<size_t, Entries::iterator> by_hash_;
  size_t bytes_ = 0;
  uint64_t lookups_ = 0;
  std::vector<Sighting> sightings_;  // At hash % kSightings: the last class with this remainder.
  // The class of the current attempt, the first one; null if the attempt reuses nothing.
  Entry* current_ = nullptr;
  // The memory of results.
  Selection reduced_;  // The feasible rows, if they are not all of the class.
  std::vector<RejectedRow> rejected_;
  std::vector<int64_t> totals_;
  std::vector<int64_t> scores_;  // The scores of one plugin.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_REUSED_EVALUATION_H_
