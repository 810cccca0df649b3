// The results of a plugin, to compare and to print.
#ifndef BERTH_TESTING_ANSWER_H_
#define BERTH_TESTING_ANSWER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

// Returns "UnschedulableAndUnresolvable" for BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, and "code 77"
// for a number that is not a code.
inline std::string CodeName(berth_code code) {
  switch (code) {
    case BERTH_SUCCESS: return "Success";
    case BERTH_ERROR: return "Error";
    case BERTH_UNSCHEDULABLE: return "Unschedulable";
    case BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE: return "UnschedulableAndUnresolvable";
    case BERTH_WAIT: return "Wait";
    case BERTH_SKIP: return "Skip";
    case BERTH_PENDING: return "Pending";
    case BERTH_CANCELLED: return "Cancelled";
    case BERTH_UNSUPPORTED: return "Unsupported";
    case BERTH_NOT_FOUND: return "NotFound";
    case BERTH_BAD_ARGUMENT: return "BadArgument";
    case BERTH_CONFLICT: return "Conflict";
    case BERTH_BUG: return "Bug";
    default: return "code " + std::to_string(code);
  }
}

// A code and its reasons. Reasons are sorted, because their order has no meaning.
struct Answer {
  berth_code code = BERTH_SUCCESS;
  std::vector<std::string> reasons = {};

  bool ok() const { return code == BERTH_SUCCESS; }
  friend bool operator==(const Answer&, const Answer&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  out << CodeName(answer.code);
  for (size_t i = 0; i < answer.reasons.size(); ++i) {
    out << (i == 0 ? ": " : ", ") << '"' << answer.reasons[i] << '"';
  }
  return out;
}

inline std::string ToString(const Answer& answer) {
  std::ostringstream out;
  out << answer;
  return out.str();
}

inline Answer MakeAnswer(berth_code code, std::vector<std::string> reasons = {}) {
  std::sort(reasons.begin(), reasons.end());
  return {code, std::move(reasons)};
}

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
  Answer On(const std::string& node) const {
    if (!pre_filter.ok()) return pre_filter.code == BERTH_SKIP ? Success() : pre_filter;
    if (!filter.ok()) return filter;
    const auto found = nodes.find(node);
    return found != nodes.end() ? found->second : Error("the test has no node \"" + node + "\"");
  }
  // Returns the names of the nodes that can run the pod, sorted.
  std::vector<std::string> Fitting() const {
    std::vector<std::string> names;
    for (const auto& [name, answer] : nodes) {
      if (answer.ok()) names.push_back(name);
    }
    return names;
  }
  friend bool operator==(const FilterResult&, const FilterResult&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const FilterResult& result) {
  out << "PreFilter " << result.pre_filter;
  if (!result.filter.ok()) out << "; Filter " << result.filter;
  for (const auto& [name, answer] : result.nodes) out << "; " << name << ' ' << answer;
  return out;
}

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

inline std::ostream& operator<<(std::ostream& out, const ScoreResult& result) {
  out << "PreFilter " << result.pre_filter << "; PreScore " << result.pre_score;
  if (!result.score.ok()) out << "; Score " << result.score;
  for (const auto& [name, raw] : result.raw) {
    const auto normal = result.normalized.find(name);
    out << "; " << name << ' ' << raw;
    if (normal != result.normalized.end()) out << " -> " << normal->second;
  }
  return out;
}

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
