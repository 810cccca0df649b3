#include "hints.h"

#include <algorithm>
#include <vector>

#include <berth/selectors.h>

namespace affinity {
namespace {

using Terms = berth::Span<const berth_pod_term>;

Terms AffinityOf(berth::Pod pod) { return Terms(pod.affinity().required_pod_terms); }
Terms AntiAffinityOf(berth::Pod pod) { return Terms(pod.affinity().required_pod_anti_terms); }

// Returns whether a term of the pod means `other`.
bool Means(berth::Pod pod, const berth_pod_term& term, const berth_pod& other,
           const berth::TopologyIndex& index) {
  return index.Matches(berth::PodQuery(berth::PodQuery::kWithTerminating).Means(pod.ns(), term),
                       other);
}

// Returns whether the pod has required affinity and all of its terms mean `other`.
bool AllMean(berth::Pod pod, const berth_pod& other, const berth::TopologyIndex& index) {
  const Terms terms = AffinityOf(pod);
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const berth_pod_term& term) {
    return Means(pod, term, other, index);
  });
}

// Returns whether a required anti-affinity term of the pod means `before` and not `after`, which
// may be null.
bool StopsToRepel(berth::Pod pod, const berth_pod& before, const berth_pod* after,
                  const berth::TopologyIndex& index) {
  const Terms terms = AntiAffinityOf(pod);
  return std::any_of(terms.begin(), terms.end(), [&](const berth_pod_term& term) {
    return Means(pod, term, before, index) &&
           (after == nullptr || !Means(pod, term, *after, index));
  });
}

// Returns whether a required anti-affinity term of `other` means the pod.
bool Repels(const berth_pod& other, berth::Pod pod, const berth::TopologyIndex& index) {
  bool repels = false;
  berth::ForEachTerm(other, berth::kRequiredAntiAffinity,
                     [&](berth::TermKind /*kind*/, const berth_pod_term& term) {
                       repels = repels || index.TermMeans(other, term, *pod);
                     });
  return repels;
}

bool PodHelps(berth::Pod pod, const berth_pod* before, const berth_pod* after,
              const berth::TopologyIndex& index) {
  const bool matched = before != nullptr && AllMean(pod, *before, index);
  const bool matches = after != nullptr && AllMean(pod, *after, index);
  if (!matched && matches) return true;
  if (before == nullptr) return false;
  // The last pod that all affinity terms mean may be gone.
  if (matched && !matches && AllMean(pod, *pod, index)) return true;
  return StopsToRepel(pod, *before, after, index) ||
         (after == nullptr && Repels(*before, pod, index));
}

berth_id LabelOf(const berth_node& node, berth_id key) {
  return berth::FindLabel(berth::Labels(node.meta->labels), key);
}

// `before`: null for a node that was added. `after`: null for a node that was removed.
bool NodeHelps(berth::Pod pod, const berth_node* before, const berth_node* after,
               const berth::TopologyIndex& index) {
  if (before == nullptr && after == nullptr) return true;
  const auto value = [](const berth_node* node, berth_id key) {
    return node != nullptr ? LabelOf(*node, key) : BERTH_ID_NONE;
  };
  const auto enters = [&](const berth_pod_term& term) {
    const berth_id now = value(after, term.topology_key);
    return now != BERTH_ID_NONE && value(before, term.topology_key) != now;
  };
  const auto leaves = [&](berth_id key) {
    const berth_id then = value(before, key);
    return then != BERTH_ID_NONE && then != value(after, key);
  };
  const auto leaves_term = [&](const berth_pod_term& term) { return leaves(term.topology_key); };
  const Terms affinity = AffinityOf(pod);
  if (std::any_of(affinity.begin(), affinity.end(), enters)) return true;
  // The last pod that all affinity terms mean may be on no node that counts any more.
  if (std::any_of(affinity.begin(), affinity.end(), leaves_term) && AllMean(pod, *pod, index)) {
    return true;
  }
  const Terms anti = AntiAffinityOf(pod);
  const bool is_new = before == nullptr;
  if (is_new ? !anti.empty() : std::any_of(anti.begin(), anti.end(), leaves_term)) return true;
  std::vector<const berth::TermGroup*> groups;
  index.FindTerms(*pod, berth::kRequiredAntiAffinity, groups);
  return std::any_of(groups.begin(), groups.end(), [&](const berth::TermGroup* group) {
    return is_new || leaves(group->topology().key());
  });
}

// ---- Namespaces ---------------------------------------------------------------------------------

// A change of a Namespace object.
struct NamespaceChange {
  const berth_object* before;  // Null for a namespace that was added.
  const berth_object* after;   // Null for a namespace that was deleted.
  const berth::Host& host;

  std::string_view name() const {
    return berth::Str((after != nullptr ? after : before)->meta->name);
  }
};

berth::Labels LabelsOf(const berth_object* ns) {
  return ns != nullptr ? berth::Labels(ns->meta->labels) : berth::Labels();
}

// Returns whether a term of a pod to schedule means pods in the namespace in this state, which is
// null if the namespace does not exist.
bool IsInScope(berth::Pod pod, const berth_pod_term& term, const NamespaceChange& change,
               const berth_object* state) {
  const auto is_it = [&change](berth_id ns) { return change.host.Text(ns) == change.name(); };
  const berth::Span<const berth_id> names(term.namespaces);
  if (std::any_of(names.begin(), names.end(), is_it)) return true;
  if (term.namespace_selector == nullptr) return names.empty() && is_it(pod.ns());
  // An empty selector means all namespaces, and another one only a namespace that exists.
  const bool may_match = state != nullptr || term.namespace_selector->requirements.count == 0;
  return may_match && berth::Matches(term.namespace_selector, LabelsOf(state), change.host);
}

// Returns whether all required affinity terms of the pod mean pods in the namespace in this state.
bool AreAllInScope(berth::Pod pod, const NamespaceChange& change, const berth_object* state) {
  const Terms terms = AffinityOf(pod);
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const berth_pod_term& term) {
    return IsInScope(pod, term, change, state);
  });
}

// Returns whether a required anti-affinity term of a pod on a node means the pod before the change,
// and not afterwards.
bool CeasesToBeRepelled(berth::Pod pod, const NamespaceChange& change,
                        const berth::TopologyIndex& index) {
  if (change.host.Text(pod.ns()) != change.name()) return false;
  std::vector<const berth::TermGroup*> before;
  std::vector<const berth::TermGroup*> after;
  index.FindTermsIf(*pod, LabelsOf(change.before), berth::kRequiredAntiAffinity, before);
  index.FindTermsIf(*pod, LabelsOf(change.after), berth::kRequiredAntiAffinity, after);
  return std::any_of(before.begin(), before.end(), [&after](const berth::TermGroup* group) {
    return std::find(after.begin(), after.end(), group) == after.end();
  });
}

bool NamespaceHelps(berth::Pod pod, const NamespaceChange& change,
                    const berth::TopologyIndex& index) {
  const bool meant = AreAllInScope(pod, change, change.before);
  const bool means = AreAllInScope(pod, change, change.after);
  if (!meant && means) return true;
  // The last pod that all affinity terms mean may be gone.
  if (meant && !means && AllMean(pod, *pod, index)) return true;
  const Terms anti = AntiAffinityOf(pod);
  const auto leaves = [&](const berth_pod_term& term) {
    return IsInScope(pod, term, change, change.before) &&
           !IsInScope(pod, term, change, change.after);
  };
  return std::any_of(anti.begin(), anti.end(), leaves) || CeasesToBeRepelled(pod, change, index);
}

}  // namespace

bool Helps(berth::Pod pod, const berth::Event& event, const berth::TopologyIndex& index,
           const berth::Host& host) {
  if (event.resource == BERTH_RESOURCE_TARGET_POD) return true;
  if (event.resource == BERTH_RESOURCE_NODE) {
    return NodeHelps(pod, berth::NodeIn(event.before), berth::NodeIn(event.after), index);
  }
  const NamespaceChange change{berth::ObjectIn(event.before), berth::ObjectIn(event.after), host};
  if (change.before != nullptr || change.after != nullptr) {
    return NamespaceHelps(pod, change, index);
  }
  const berth_pod* const before = berth::PodIn(event.before);
  const berth_pod* const after = berth::PodIn(event.after);
  if (before == nullptr && after == nullptr) return true;
  return PodHelps(pod, before, after, index);
}

}  // namespace affinity
