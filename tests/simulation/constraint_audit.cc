#include "tests/simulation/constraint_audit.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace berth::host {
namespace {

using Terms = std::span<const berth_pod_term>;

bool Holds(const berth_requirement& requirement, Id value) {
  const auto values = Elements<Id>(requirement.values);
  const bool is_in = std::ranges::find(values, value) != values.end();
  switch (requirement.op) {
    case BERTH_OP_IN: return value != kNoId && is_in;
    case BERTH_OP_NOT_IN: return value == kNoId || !is_in;
    case BERTH_OP_EXISTS: return value != kNoId;
    case BERTH_OP_DOES_NOT_EXIST: return value == kNoId;
    default: return false;
  }
}

bool Selects(const berth_selector* selector, const Pod& pod) {
  if (selector == nullptr || (selector->flags & BERTH_SELECTOR_INVALID) != 0) return false;
  return std::ranges::all_of(Elements<berth_requirement>(selector->requirements),
                             [&pod](const berth_requirement& requirement) {
                               return Holds(requirement,
                                            FindValue(pod.meta().labels, requirement.key));
                             });
}

Id LabelOf(const Node& node, Id key) { return FindValue(node.meta().labels, key); }

// Calls each(node, pod) for every pod except `but` on a node that exists.
template <class F>
void ForEachOther(const NodeTable& table, const Pod& but, F&& each) {
  for (Row row = 0; row < table.row_count(); ++row) {
    if (!table.IsLive(row)) continue;
    for (const PodRef& pod : table.pods(row)) {
      if (pod->uid() != but.uid()) each(*table.node(row), *pod);
    }
  }
}

// ---- Spreading ----------------------------------------------------------------------------------

std::vector<berth_spread> HardConstraints(const Pod& pod) {
  std::vector<berth_spread> hard;
  for (const berth_spread& each : Elements<berth_spread>(pod.view().spreads)) {
    if (each.when_unsatisfiable == BERTH_DO_NOT_SCHEDULE) hard.push_back(each);
  }
  return hard;
}

bool Tolerates(const Pod& pod, const berth_taint& taint) {
  return std::ranges::any_of(
      Elements<berth_toleration>(pod.view().tolerations),
      [&taint](const berth_toleration& toleration) {
        return (toleration.key == kNoId || toleration.key == taint.key) &&
               (toleration.effect == 0 || toleration.effect == taint.effect) &&
               (toleration.op == BERTH_TOLERATION_EXISTS || toleration.value == taint.value);
      });
}

bool IsCounted(const Node& node, const Pod& pod, const berth_spread& constraint) {
  if (constraint.node_affinity_policy != BERTH_POLICY_IGNORE) {
    for (const auto& label : Elements<berth_id_pair>(pod.view().node_selector)) {
      if (LabelOf(node, label.key) != label.value) return false;
    }
  }
  if (constraint.node_taints_policy != BERTH_POLICY_HONOR) return true;
  return std::ranges::all_of(
      Elements<berth_taint>(node.view().taints), [&pod](const berth_taint& taint) {
        return taint.effect == BERTH_EFFECT_PREFER_NO_SCHEDULE || Tolerates(pod, taint);
      });
}

// Returns the number of matching pods, except `pod`, by value of the topology key. A value has an
// entry if a node with the value is counted.
std::map<Id, int64_t> CountByDomain(const Pod& pod, const std::vector<berth_spread>& hard,
                                    const berth_spread& constraint, const NodeTable& table) {
  std::map<Id, int64_t> counts;
  for (Row row = 0; row < table.row_count(); ++row) {
    if (!table.IsLive(row)) continue;
    const Node& node = *table.node(row);
    const bool has_keys = std::ranges::all_of(hard, [&node](const berth_spread& each) {
      return LabelOf(node, each.topology_key) != kNoId;
    });
    if (!has_keys || !IsCounted(node, pod, constraint)) continue;
    int64_t& count = counts[LabelOf(node, constraint.topology_key)];
    // kube-scheduler 1.36 counts no pod for a selector without requirements.
    if (constraint.selector == nullptr || constraint.selector->requirements.count == 0) continue;
    count += std::ranges::count_if(table.pods(row), [&](const PodRef& other) {
      return other->uid() != pod.uid() && other->ns() == pod.ns() && !other->terminating() &&
             Selects(constraint.selector, *other);
    });
  }
  return counts;
}

// ---- Affinity -----------------------------------------------------------------------------------

// The labels of namespaces that the scheduler has received are not in its cache, so that the audit
// cannot check a selector that depends on them. FreshAudit does.
bool DependsOnNamespaces(const berth_pod_term& term) {
  return term.namespace_selector != nullptr && term.namespace_selector->requirements.count != 0;
}

// REQUIRES: the term does not depend on namespaces.
bool IsInScope(const berth_pod_term& term, const Pod& owner, const Pod& other) {
  const auto namespaces = Elements<Id>(term.namespaces);
  if (term.namespace_selector == nullptr && namespaces.empty()) return owner.ns() == other.ns();
  if (std::ranges::find(namespaces, other.meta().ns) != namespaces.end()) return true;
  return term.namespace_selector != nullptr;
}

bool Means(const berth_pod_term& term, const Pod& owner, const Pod& other) {
  return IsInScope(term, owner, other) && Selects(term.selector, other);
}

bool MeansInAllTerms(Terms terms, const Pod& owner, const Pod& other) {
  return std::ranges::all_of(terms,
                             [&](const berth_pod_term& term) { return Means(term, owner, other); });
}

bool AreInOneDomain(const Node& a, const Node& b, Id key) {
  return LabelOf(a, key) != kNoId && LabelOf(a, key) == LabelOf(b, key);
}

Terms AntiTerms(const Pod& pod) {
  return Elements<berth_pod_term>(pod.view().affinity->required_pod_anti_terms);
}

}  // namespace

void ConstraintAudit::CheckAssumed(const Pod& pod, const NodeTable& table, Row row) {
  // The members of a group are reported when all of them are assumed, and members that were rolled
  // back may have counted. Neither can hide a violation of anti-affinity.
  if (Text(pod.view().pod_group).empty()) {
    CheckSpread(pod, table, row);
    CheckAffinity(pod, table, row);
  }
  CheckAntiAffinity(pod, table, row);
}

void ConstraintAudit::CheckSpread(const Pod& pod, const NodeTable& table, Row row) {
  const Node& node = *table.node(row);
  const std::vector<berth_spread> hard = HardConstraints(pod);
  for (const berth_spread& constraint : hard) {
    ++spread_checks_;
    const Id value = LabelOf(node, constraint.topology_key);
    if (value == kNoId) {
      return findings_.Add(Describe(pod) + " is on " + std::string(node.name()) +
                           ", which lacks the label of a constraint");
    }
    const std::map<Id, int64_t> counts = CountByDomain(pod, hard, constraint, table);
    int64_t min = counts.empty() ? 0 : INT64_MAX;
    for (const auto& [domain, count] : counts) min = std::min(min, count);
    if (static_cast<int64_t>(counts.size()) < constraint.min_domains) min = 0;
    const auto here = counts.find(value);
    const int64_t count =
        (here == counts.end() ? 0 : here->second) + (Selects(constraint.selector, pod) ? 1 : 0);
    if (count - min <= constraint.max_skew) continue;
    findings_.Add(Describe(pod) + " on " + std::string(node.name()) + " makes " +
                  std::to_string(count) + " pods in its domain where the smallest count is " +
                  std::to_string(min));
  }
}

void ConstraintAudit::CheckAffinity(const Pod& pod, const NodeTable& table, Row row) {
  const Terms terms = Elements<berth_pod_term>(pod.view().affinity->required_pod_terms);
  if (terms.empty() || std::ranges::any_of(terms, DependsOnNamespaces)) return;
  ++affinity_checks_;
  const Node& node = *table.node(row);
  std::set<Id> reached;  // The keys of terms that a pod in the domain of the node satisfies.
  bool any = false;
  ForEachOther(table, pod, [&](const Node& at, const Pod& other) {
    if (!MeansInAllTerms(terms, pod, other)) return;
    for (const berth_pod_term& term : terms) {
      any |= LabelOf(at, term.topology_key) != kNoId;
      if (AreInOneDomain(at, node, term.topology_key)) reached.insert(term.topology_key);
    }
  });
  // The first pod of a set that is affine to itself needs no other pod.
  const bool is_first = !any && MeansInAllTerms(terms, pod, pod);
  for (const berth_pod_term& term : terms) {
    if (LabelOf(node, term.topology_key) == kNoId ||
        (!is_first && !reached.contains(term.topology_key))) {
      findings_.Add(Describe(pod) + " on " + std::string(node.name()) +
                    " violates its required affinity");
    }
  }
}

void ConstraintAudit::CheckAntiAffinity(const Pod& pod, const NodeTable& table, Row row) {
  const Node& node = *table.node(row);
  affinity_checks_ += AntiTerms(pod).empty() ? 0 : 1;
  ForEachOther(table, pod, [&](const Node& at, const Pod& other) {
    const auto violates = [&](const Pod& owner, const Pod& meant) {
      return std::ranges::any_of(AntiTerms(owner), [&](const berth_pod_term& term) {
        return !DependsOnNamespaces(term) && Means(term, owner, meant) &&
               AreInOneDomain(at, node, term.topology_key);
      });
    };
    if (violates(pod, other)) {
      findings_.Add(Describe(pod) + " on " + std::string(node.name()) +
                    " violates its anti-affinity to " + Describe(other));
    }
    if (violates(other, pod)) {
      findings_.Add(Describe(pod) + " on " + std::string(node.name()) +
                    " violates the anti-affinity of " + Describe(other));
    }
  });
}

}  // namespace berth::host
