// The results of a plugin, to compare and to print.
#ifndef BERTH_TESTING_ANSWER_H_
#define BERTH_TESTING_ANSWER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

// Returns "UnschedulableAndUnresolvable" for BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, and "code 77"
// for a number that is not a code.
std::string CodeName(berth_code code);

// A code and its reasons. Reasons are sorted, because their order has no meaning.
struct Answer {
  berth_code code = BERTH_SUCCESS;
  std::vector<std::string> reasons = {};

  bool ok() const { return code == BERTH_SUCCESS; }
  friend bool operator==(const Answer&, const Answer&) = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer);

std::string ToString(const Answer& answer);

Answer MakeAnswer(berth_code code, std::vector<std::string> reasons = {});

// Expected results: EXPECT_EQ(result.On("a"), Unschedulable("Insufficient cpu")).
inline Answer Success() { return {}; }
inline Answer Skip() { return {BERTH_SKIP, {}}; }
template <class... Text>
Answer Unschedulable(Text... reasons) {
  return MakeAnswer(BERTH_UNSCHEDULABLE, {reasons...});
}
template <class... Text>
Answer Unresolvable(Text... reasons) {
  return MakeAnswer(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {reasons...});
}
template <class... Text>
Answer Pending(Text... reasons) {
  return MakeAnswer(BERTH_PENDING, {reasons...});
}
template <class... Text>
Answer Error(Text... reasons) {
  return MakeAnswer(BERTH_ERROR, {reasons...});
}

// The reason for a node that PreFilter's node names exclude.
inline constexpr const char* kLeftOutByPreFilter = "node is filtered out by the prefilter result";

// The results of PreFilter and Filter for one pod on all nodes.
struct FilterResult {
  Answer pre_filter;                                   // Success if the plugin has no PreFilter
  std::optional<std::vector<std::string>> only_nodes;  // the names that PreFilter passed, sorted
  Answer filter;  // of the whole call; if it is not Success, there are no verdicts
  std::map<std::string, Answer> nodes;  // verdict by node; empty when Filter was not called

  // Returns the result for one node: PreFilter's rejection, or the verdict. Returns an Error for a
  // node that does not exist.
  Answer On(const std::string& node) const;
  // Returns the names of the nodes that can run the pod, sorted.
  std::vector<std::string> Fitting() const;
  friend bool operator==(const FilterResult&, const FilterResult&) = default;
};

std::ostream& operator<<(std::ostream& out, const FilterResult& result);

// The results of PreScore, Score and normalisation for one pod on all nodes.
struct ScoreResult {
  Answer pre_filter;
  Answer pre_score;      // Success if the plugin has no PreScore
  Answer score;          // of the whole call; if it is not Success, there are no scores
  bool skipped = false;  // PreScore returned Skip
  std::map<std::string, int64_t> raw;         // by node; empty when Score was not called
  std::map<std::string, int64_t> normalized;  // 0..100

  friend bool operator==(const ScoreResult&, const ScoreResult&) = default;
};

std::ostream& operator<<(std::ostream& out, const ScoreResult& result);

struct PermitResult {
  Answer answer;
  int64_t timeout_ns = 0;
};

struct PostFilterResult {
  Answer answer;
  uint32_t mode = BERTH_NOMINATE_KEEP;
  std::string nominated;  // empty: no node
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_ANSWER_H_
