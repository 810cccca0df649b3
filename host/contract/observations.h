// Records the facts that a check of a plugin has observed. A check without a finding proves nothing
// if the plugin did nothing that the check asks about.
#ifndef BERTH_HOST_CONTRACT_OBSERVATIONS_H_
#define BERTH_HOST_CONTRACT_OBSERVATIONS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <berth/testing/answer.h>

namespace berth::host {

// A promise that could not be observed.
struct ContractGap {
  std::string promise;
  std::string text;  // One sentence: what would be needed to observe it.
};

// The facts of one check.
struct Observations {
  // Filter or Score.
  struct Step {
    const char* name;
    const char* before;  // The points that may reject or skip a pod before this one.
    bool is_declared = false;
    bool is_serial = false;              // BERTH_FILTER_SERIAL or BERTH_SCORE_SERIAL.
    bool is_whole = false;               // BERTH_FILTER_WHOLE.
    bool has_dependence = false;         // It declares a berth_dependence.
    bool is_called = false;              // PreFilter and PreScore let at least one pod reach it.
    bool differs_by_node = false;        // The results for two nodes differed, for one pod.
    std::set<std::string> results = {};  // The different results for all nodes of a pod.

    // Returns whether any two results differed.
    bool differs() const { return differs_by_node || results.size() > 1; }
  };

  Step filter{.name = "Filter", .before = "PreFilter"};
  Step score{.name = "Score", .before = "PreFilter or PreScore"};
  bool has_status = false;    // A point of the plugin returns a status.
  bool can_reject = false;    // A point of the plugin may reject a pod or a node.
  bool has_rejected = false;  // Such a point did.
  bool has_queue_sort = false;
  bool has_lanes = false;  // Of QueueSort.
  bool has_add_pod = false;
  bool has_slots = false;
  bool has_hint_parts = false;       // A hint declares the parts of the pod that it reads.
  std::set<uint32_t> hints = {};     // The different answers of hints.
  bool has_called_services = false;  // Services that abi.h restricts to some functions.
  bool has_seen_what_if = false;     // A pod that was added or removed changed a result of Filter.
  bool can_measure_heap = true;
  std::vector<std::string> absent_columns = {};  // Columns without a value on any node.

  void AddAnswer(const testing::Answer& answer);
  void AddFilter(const testing::FilterResult& result);
  void AddScore(const testing::ScoreResult& result);

  // Returns the promises that this check could not observe, one gap for each.
  std::vector<ContractGap> Gaps() const;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_OBSERVATIONS_H_
