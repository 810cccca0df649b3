#include "hints.h"

#include <algorithm>
#include <vector>

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

// `before`: null for a node that was added.
bool NodeHelps(berth::Pod pod, const berth_node* before, const berth_node& after,
               const berth::TopologyIndex& index) {
  const Terms affinity = AffinityOf(pod);
  const auto gets = [&](const berth_pod_term& term) {
    const berth_id now = LabelOf(after, term.topology_key);
    return now != BERTH_ID_NONE &&
           (before == nullptr || LabelOf(*before, term.topology_key) != now);
  };
  if (std::any_of(affinity.begin(), affinity.end(), gets)) return true;
  const auto leaves = [&](berth_id key) {
    if (before == nullptr) return true;
    const berth_id then = LabelOf(*before, key);
    return then != BERTH_ID_NONE && then != LabelOf(after, key);
  };
  const Terms anti = AntiAffinityOf(pod);
  if (std::any_of(anti.begin(), anti.end(),
                  [&](const berth_pod_term& term) { return leaves(term.topology_key); })) {
    return true;
  }
  std::vector<const berth::TermGroup*> groups;
  index.FindTerms(*pod, berth::kRequiredAntiAffinity, groups);
  return std::any_of(groups.begin(), groups.end(), [&](const berth::TermGroup* group) {
    return leaves(group->topology().key());
  });
}

}  // namespace

bool Helps(berth::Pod pod, const berth::Event& event, const berth::TopologyIndex& index) {
  if (event.resource == BERTH_RESOURCE_TARGET_POD) return true;
  if (const berth_node* const after = berth::NodeIn(event.after)) {
    return NodeHelps(pod, berth::NodeIn(event.before), *after, index);
  }
  const berth_pod* const before = berth::PodIn(event.before);
  const berth_pod* const after = berth::PodIn(event.after);
  if (before == nullptr && after == nullptr) return true;
  return PodHelps(pod, before, after, index);
}

}  // namespace affinity
