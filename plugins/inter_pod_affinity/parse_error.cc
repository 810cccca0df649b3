#include "parse_error.h"

#include <string_view>
#include <utility>
#include <vector>

namespace affinity {
namespace {

bool IsInvalid(const berth_selector* selector) {
  return selector != nullptr && (selector->flags & BERTH_SELECTOR_INVALID) != 0;
}

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Returns the values as Go prints a []string with %#v.
std::string GoList(const berth_requirement& requirement, const berth::Host& host) {
  std::string text = "[]string{";
  for (const berth_id value : berth::Span<const berth_id>(requirement.values)) {
    if (text.back() != '{') text += ", ";
    text += Quoted(host.Text(value));
  }
  return text + "}";
}

// Returns why a requirement is wrong, or an empty text if its operator and number of values are
// right.
std::string WhyInvalid(const berth_requirement& requirement, const berth::Host& host) {
  switch (requirement.op) {
    case BERTH_OP_IN:
    case BERTH_OP_NOT_IN:
      if (requirement.values.count != 0) return {};
      return "values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be "
             "empty";
    case BERTH_OP_EXISTS:
    case BERTH_OP_DOES_NOT_EXIST:
      if (requirement.values.count == 0) return {};
      return "values: Invalid value: " + GoList(requirement, host) +
             ": values set must be empty for exists and does not exist";
    case BERTH_OP_GT: return "\"Gt\" is not a valid label selector operator";
    case BERTH_OP_LT: return "\"Lt\" is not a valid label selector operator";
    default:
      return "the operator for key " + Quoted(host.Text(requirement.key)) +
             " is not a valid label selector operator";
  }
}

std::string WhyInvalid(const berth_selector& selector, const berth::Host& host) {
  const berth::Span<const berth_requirement> requirements(selector.requirements);
  for (const berth_requirement& requirement : requirements) {
    std::string why = WhyInvalid(requirement, host);
    if (!why.empty()) return why;
  }
  return "a key or value of the label selector is not valid";
}

// Returns why a list of terms cannot be parsed; empty if it can be.
std::string WhyInvalid(const berth_array& terms, const berth::Host& host) {
  for (const berth_pod_term& term : berth::Span<const berth_pod_term>(terms)) {
    if (IsInvalid(term.selector)) return WhyInvalid(*term.selector, host);
    if (IsInvalid(term.namespace_selector)) return WhyInvalid(*term.namespace_selector, host);
  }
  return {};
}

}  // namespace

std::string ParseError(berth::Pod pod, const berth::Host& host) {
  const berth_affinity& affinity = pod.affinity();
  const std::pair<std::string_view, const berth_array&> lists[] = {
      {"requiredAffinityTerms", affinity.required_pod_terms},
      {"requiredAntiAffinityTerms", affinity.required_pod_anti_terms},
      {"preferredAffinityTerms", affinity.preferred_pod_terms},
      {"preferredAntiAffinityTerms", affinity.preferred_pod_anti_terms}};
  std::vector<std::string> errors;
  for (const auto& [name, terms] : lists) {
    const std::string why = WhyInvalid(terms, host);
    if (!why.empty()) errors.push_back(std::string(name) + ": " + why);
  }
  if (errors.size() < 2) return errors.empty() ? std::string() : errors.front();
  // Several errors are printed in brackets, as apimachinery's Aggregate prints them.
  std::string text = "[";
  for (const std::string& error : errors) text += (text.size() == 1 ? "" : ", ") + error;
  return text + "]";
}

}  // namespace affinity
