#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>

namespace berth::testing {

std::string CodeName(berth_code code) {
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

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  out << CodeName(answer.code);
  for (size_t i = 0; i < answer.reasons.size(); ++i) {
    out << (i == 0 ? ": " : ", ") << '"' << answer.reasons[i] << '"';
  }
  return out;
}

std::string ToString(const Answer& answer) {
  std::ostringstream out;
  out << answer;
  return out.str();
}

Answer MakeAnswer(berth_code code, std::vector<std::string> reasons) {
  std::sort(reasons.begin(), reasons.end());
  return {code, std::move(reasons)};
}

Answer FilterResult::On(const std::string& node) const {
  if (!pre_filter.ok()) return pre_filter.code == BERTH_SKIP ? Success() : pre_filter;
  if (!filter.ok()) return filter;
  const auto found = nodes.find(node);
  return found != nodes.end() ? found->second : Error("the test has no node \"" + node + "\"");
}

std::vector<std::string> FilterResult::Fitting() const {
  std::vector<std::string> names;
  for (const auto& [name, answer] : nodes) {
    if (answer.ok()) names.push_back(name);
  }
  return names;
}

std::ostream& operator<<(std::ostream& out, const FilterResult& result) {
  out << "PreFilter " << result.pre_filter;
  if (!result.filter.ok()) out << "; Filter " << result.filter;
  for (const auto& [name, answer] : result.nodes) out << "; " << name << ' ' << answer;
  return out;
}

std::ostream& operator<<(std::ostream& out, const ScoreResult& result) {
  out << "PreFilter " << result.pre_filter << "; PreScore " << result.pre_score;
  if (!result.score.ok()) out << "; Score " << result.score;
  for (const auto& [name, raw] : result.raw) {
    const auto normal = result.normalized.find(name);
    out << "; " << name << ' ' << raw;
    if (normal != result.normalized.end()) out << " -> " << normal->second;
  }
  return out;
}

}  // namespace berth::testing
