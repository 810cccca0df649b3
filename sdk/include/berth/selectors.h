// Selectors and tolerations, which match exactly as in kube-scheduler. They compare ids, so that a
// match costs a few comparisons. `texts` is the berth::Host, or another object with a method
// Text(berth_id). The templates are declared inline because GCC otherwise calls them once per node.
#ifndef BERTH_SELECTORS_H_
#define BERTH_SELECTORS_H_

#include <cstdint>
#include <limits>
#include <string_view>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>

namespace berth {
namespace internal {

struct Parsed {
  bool ok = false;
  int64_t value = 0;
};

// Parses base 10 with an optional sign, as Go's strconv.ParseInt(text, 10, 64).
constexpr Parsed ParseInt64(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return {};
  const uint64_t limit =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (limit - digit) / 10) return {};
    value = value * 10 + digit;
  }
  return {true, static_cast<int64_t>(negative ? ~value + 1 : value)};
}

// Returns whether the text is an integer without leading zeros, as apimachinery's
// validation.IsDecimalInteger.
constexpr bool IsDecimalInteger(std::string_view text) {
  if (text == "0") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() != '0' && text.front() != '+' && ParseInt64(text).ok;
}

}  // namespace internal

// Returns whether a requirement holds for the value of its key; 0 means that the key is absent.
// NotIn and DoesNotExist hold for an absent key. Gt and Lt compare integers; a value that is not an
// integer never matches.
// kube-scheduler: labels.Requirement.Matches, nodeaffinity.
template <class Texts>
inline bool Matches(const berth_requirement& requirement, berth_id value, const Texts& texts) {
  const auto in = [&] {
    for (const berth_id candidate : Span<const berth_id>(requirement.values)) {
      if (candidate == value) return true;
    }
    return false;
  };
  const bool there = value != BERTH_ID_NONE;
  switch (requirement.op) {
    case BERTH_OP_IN: return there && in();
    case BERTH_OP_NOT_IN: return !there || !in();
    case BERTH_OP_EXISTS: return there;
    case BERTH_OP_DOES_NOT_EXIST: return !there;
    case BERTH_OP_GT:
    case BERTH_OP_LT: {
      if (!there) return false;
      const internal::Parsed number = internal::ParseInt64(texts.Text(value));
      if (!number.ok) return false;
      return requirement.op == BERTH_OP_GT ? number.value > requirement.number
                                           : number.value < requirement.number;
    }
    default: return false;
  }
}

// Returns whether all requirements hold for these labels.
template <class Texts>
inline bool Matches(Span<const berth_requirement> requirements, Labels labels, const Texts& texts) {
  for (const berth_requirement& requirement : requirements) {
    if (!Matches(requirement, FindLabel(labels, requirement.key), texts)) return false;
  }
  return true;
}

// Matches a label selector. A selector without requirements matches everything. A null selector, or
// one that could not be parsed, matches nothing.
template <class Texts>
inline bool Matches(const berth_selector* selector, Labels labels, const Texts& texts) {
  if (selector == nullptr || (selector->flags & BERTH_SELECTOR_INVALID) != 0) return false;
  return Matches(Span<const berth_requirement>(selector->requirements), labels, texts);
}

// Returns whether all pairs of a nodeSelector are labels of the node.
inline bool HasAll(Labels wanted, Labels labels) {
  for (const berth_id_pair& pair : wanted) {
    if (FindLabel(labels, pair.key) != pair.value) return false;
  }
  return true;
}

// Matches a node selector term: all expressions hold for the labels and all fields for the name. A
// term without expressions and fields, or one that could not be parsed, matches no node. The only
// field is metadata.name.
template <class Texts>
inline bool Matches(const berth_node_term& term, const berth_node& node, const Texts& texts) {
  if ((term.flags & BERTH_SELECTOR_INVALID) != 0) return false;
  if (term.expressions.count == 0 && term.fields.count == 0) return false;
  for (const berth_requirement& field : Span<const berth_requirement>(term.fields)) {
    if (!Matches(field, node.name, texts)) return false;
  }
  return Matches(Span<const berth_requirement>(term.expressions), Labels(node.meta->labels), texts);
}

// Returns whether any of the terms matches: requiredDuringSchedulingIgnoredDuringExecution.
template <class Texts>
inline bool MatchesAny(Span<const berth_node_term> terms, const berth_node& node,
                       const Texts& texts) {
  for (const berth_node_term& term : terms) {
    if (Matches(term, node, texts)) return true;
  }
  return false;
}

// Matches a node selector of the service Selectors. A null selector, or one that could not be
// parsed, matches no node.
template <class Texts>
inline bool Matches(const berth_node_selector* selector, const berth_node& node,
                    const Texts& texts) {
  if (selector == nullptr || (selector->flags & BERTH_SELECTOR_INVALID) != 0) return false;
  return MatchesAny(Span<const berth_node_term>(selector->terms), node, texts);
}

// Matches the pod's nodeSelector and its required node affinity.
template <class Texts>
inline bool MatchesNodeSelection(const Pod& pod, const berth_node& node, const Texts& texts) {
  if (!HasAll(pod.node_selector(), Labels(node.meta->labels))) return false;
  const berth_affinity& affinity = pod.affinity();
  return affinity.has_required_node_terms == 0 ||
         MatchesAny(Span<const berth_node_term>(affinity.required_node_terms), node, texts);
}

// Returns whether a toleration matches a taint: the effect is empty or equal, the key is empty or
// equal, and the operator holds. Gt and Lt never match, as in kube-scheduler with the gate
// TaintTolerationComparisonOperators off. component-helpers: v1.Toleration.ToleratesTaint.
inline bool Tolerates(const berth_toleration& toleration, const berth_taint& taint) {
  if (toleration.effect != 0 && toleration.effect != taint.effect) return false;
  if (toleration.key != BERTH_ID_NONE && toleration.key != taint.key) return false;
  if (toleration.op == BERTH_TOLERATION_EQUAL) return toleration.value == taint.value;
  return toleration.op == BERTH_TOLERATION_EXISTS;
}

// Returns the result of Tolerates() with the gate TaintTolerationComparisonOperators on: Gt matches
// if the taint's value is greater than the toleration's, Lt if it is less. Both values must be
// decimal integers.
template <class Texts>
inline bool ToleratesComparing(const berth_toleration& toleration, const berth_taint& taint,
                               const Texts& texts) {
  if (toleration.op != BERTH_TOLERATION_GT && toleration.op != BERTH_TOLERATION_LT) {
    return Tolerates(toleration, taint);
  }
  if (toleration.effect != 0 && toleration.effect != taint.effect) return false;
  if (toleration.key != BERTH_ID_NONE && toleration.key != taint.key) return false;
  const std::string_view limit = texts.Text(toleration.value);
  const std::string_view value = texts.Text(taint.value);
  if (!internal::IsDecimalInteger(limit) || !internal::IsDecimalInteger(value)) return false;
  const int64_t right = internal::ParseInt64(limit).value;
  const int64_t left = internal::ParseInt64(value).value;
  return toleration.op == BERTH_TOLERATION_GT ? left > right : left < right;
}

inline bool ToleratesAny(Span<const berth_toleration> tolerations, const berth_taint& taint) {
  for (const berth_toleration& toleration : tolerations) {
    if (Tolerates(toleration, taint)) return true;
  }
  return false;
}

// A taint with NoSchedule or NoExecute rejects a pod that does not tolerate it.
constexpr bool IsHard(const berth_taint& taint) {
  return taint.effect == BERTH_EFFECT_NO_SCHEDULE || taint.effect == BERTH_EFFECT_NO_EXECUTE;
}

// Returns the first hard taint that no toleration matches, or null.
inline const berth_taint* FindUntolerated(Span<const berth_taint> taints,
                                          Span<const berth_toleration> tolerations) {
  for (const berth_taint& taint : taints) {
    if (IsHard(taint) && !ToleratesAny(tolerations, taint)) return &taint;
  }
  return nullptr;
}

}  // namespace berth

#endif  // BERTH_SELECTORS_H_
