// Selectors and pod affinity terms as sequences of ids. Two terms are equal if their words are.
//
//   selector:  the number of requirements, or kNothing; for each: key, op, number of values, values
//   term:      the number of namespaces, the namespaces, 1 if there is a namespaceSelector else 0,
//              the namespaceSelector, the selector
#ifndef BERTH_INTERNAL_TERM_WORDS_H_
#define BERTH_INTERNAL_TERM_WORDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>

namespace berth::internal {

using Words = std::vector<uint32_t>;

// The number of requirements of a selector that matches nothing.
inline constexpr uint32_t kNothing = ~uint32_t{0};

inline bool MatchesNothing(const berth_selector* selector) {
  return selector == nullptr || (selector->flags & BERTH_SELECTOR_INVALID) != 0;
}

inline void AppendSelector(const berth_selector* selector, Words& words) {
  if (MatchesNothing(selector)) return words.push_back(kNothing);
  const Span<const berth_requirement> requirements(selector->requirements);
  words.push_back(static_cast<uint32_t>(requirements.size()));
  for (const berth_requirement& requirement : requirements) {
    const Span<const berth_id> values(requirement.values);
    words.insert(words.end(),
                 {requirement.key, requirement.op, static_cast<uint32_t>(values.size())});
    words.insert(words.end(), values.begin(), values.end());
  }
}

// Appends the scope of one namespace.
inline void AppendScope(berth_id ns, Words& words) { words.insert(words.end(), {1, ns, 0}); }

// Appends a term. `ns`: the namespace of its pod, which counts if the term names no namespaces.
inline void AppendTerm(berth_id ns, const berth_pod_term& term, Words& words) {
  const Span<const berth_id> namespaces(term.namespaces);
  if (namespaces.empty() && term.namespace_selector == nullptr) {
    AppendScope(ns, words);
  } else {
    words.push_back(static_cast<uint32_t>(namespaces.size()));
    words.insert(words.end(), namespaces.begin(), namespaces.end());
    words.push_back(term.namespace_selector != nullptr ? 1 : 0);
    if (term.namespace_selector != nullptr) AppendSelector(term.namespace_selector, words);
  }
  AppendSelector(term.selector, words);
}

// Returns whether a requirement holds for the value of its key. A pod's or namespace's selector has
// only the first four operators; the others match nothing.
inline bool HoldsFor(uint32_t op, const uint32_t* values, uint32_t count, berth_id value) {
  const bool is_in = std::find(values, values + count, value) != values + count;
  switch (op) {
    case BERTH_OP_IN: return value != BERTH_ID_NONE && is_in;
    case BERTH_OP_NOT_IN: return value == BERTH_ID_NONE || !is_in;
    case BERTH_OP_EXISTS: return value != BERTH_ID_NONE;
    case BERTH_OP_DOES_NOT_EXIST: return value == BERTH_ID_NONE;
    default: return false;
  }
}

// Returns whether the selector at `at` matches the labels, and moves `at` behind the selector.
inline bool MatchSelector(const uint32_t*& at, Labels labels) {
  const uint32_t requirements = *at++;
  if (requirements == kNothing) return false;
  bool matches = true;
  for (uint32_t i = 0; i < requirements; ++i) {
    const uint32_t key = at[0];
    const uint32_t op = at[1];
    const uint32_t count = at[2];
    at += 3;
    matches = matches && HoldsFor(op, at, count, FindLabel(labels, key));
    at += count;
  }
  return matches;
}

// Moves `at` behind the selector.
inline void SkipSelector(const uint32_t*& at) {
  const uint32_t requirements = *at++;
  if (requirements == kNothing) return;
  for (uint32_t i = 0; i < requirements; ++i) at += 3 + at[2];
}

// A namespace as a term sees it.
struct NamespaceView {
  berth_id id = BERTH_ID_NONE;
  bool exists = false;  // There is a Namespace object, or its absence does not matter.
  Labels labels;        // Empty if there is no Namespace object.
};

// Returns whether the namespace is in the scope of the term at `at`, and moves `at` to the selector
// of the term. A namespaceSelector without requirements matches every namespace; another one only a
// namespace that exists.
inline bool MatchScope(const uint32_t*& at, const NamespaceView& ns) {
  const uint32_t count = *at++;
  bool matches = std::find(at, at + count, ns.id) != at + count;
  at += count;
  if (*at++ == 0) return matches;
  const bool may_match = ns.exists || *at == 0;
  const bool selected = MatchSelector(at, ns.labels);
  return matches || (may_match && selected);
}

// Returns whether the labels of a namespace decide whether it is in the scope of the term at `at`,
// and moves `at` to the selector of the term.
inline bool ScopeReadsLabels(const uint32_t*& at, berth_id ns) {
  const uint32_t count = *at++;
  const bool is_named = std::find(at, at + count, ns) != at + count;
  at += count;
  if (*at++ == 0) return false;
  const uint32_t requirements = *at;
  SkipSelector(at);
  return !is_named && requirements != 0 && requirements != kNothing;
}

// Returns whether the term at `at` means a pod with these labels in this namespace, and moves `at`
// behind the term.
inline bool MatchTerm(const uint32_t*& at, const NamespaceView& ns, Labels labels) {
  const bool in_scope = MatchScope(at, ns);
  return MatchSelector(at, labels) && in_scope;
}

// Moves `at` to the selector of the term.
inline void SkipScope(const uint32_t*& at) {
  at += 1 + *at;
  if (*at++ != 0) SkipSelector(at);
}

// Calls `each(uint32_t& id)` for every id in the selector at `at`, and moves `at` behind it.
template <class F>
void ForEachSelectorId(uint32_t*& at, F&& each) {
  const uint32_t requirements = *at++;
  if (requirements == kNothing) return;
  for (uint32_t i = 0; i < requirements; ++i) {
    const uint32_t count = at[2];
    each(at[0]);
    at += 3;
    for (uint32_t value = 0; value < count; ++value) each(*at++);
  }
}

// Calls `each(uint32_t& id)` for every id in the term at `at`, and moves `at` behind the term.
template <class F>
void ForEachTermId(uint32_t*& at, F&& each) {
  const uint32_t namespaces = *at++;
  for (uint32_t i = 0; i < namespaces; ++i) each(*at++);
  if (*at++ != 0) ForEachSelectorId(at, each);
  ForEachSelectorId(at, each);
}

// A hash for tables that are keyed by words. It also mixes in a key of the process, because authors
// of objects choose what the words stand for.
struct WordsHash {
  uint64_t key = 0;

  std::size_t operator()(const Words& words) const {
    uint64_t hash = key ^ words.size();
    for (const uint32_t word : words) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TERM_WORDS_H_
