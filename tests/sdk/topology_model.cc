#include "tests/sdk/topology_model.h"

#include <algorithm>
#include <utility>

namespace berth::testing {
namespace {

bool Holds(const RequirementSpec& requirement, const TopologyModel::Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool has = label != labels.end();
  const bool in =
      has && std::count(requirement.values.begin(), requirement.values.end(), label->second) != 0;
  switch (requirement.op) {
    case BERTH_OP_IN: return in;
    case BERTH_OP_NOT_IN: return !in;
    case BERTH_OP_EXISTS: return has;
    default: return !has;
  }
}

}  // namespace

bool TopologyModel::Matches(const SelectorSpec& selector, const Labels& labels) {
  return !selector.invalid &&
         std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [&labels](const RequirementSpec& each) { return Holds(each, labels); });
}

bool TopologyModel::Means(const PodSpec& owner, const PodTermSpec& term, const PodSpec& pod,
                          bool must_exist) const {
  if (!term.selector.has_value() || !Matches(*term.selector, pod.labels)) return false;
  if (term.namespaces.empty() && !term.namespace_selector.has_value()) return owner.ns == pod.ns;
  if (std::count(term.namespaces.begin(), term.namespaces.end(), pod.ns) != 0) return true;
  if (!term.namespace_selector.has_value()) return false;
  const auto found = cluster_.namespaces().find(pod.ns);
  const bool exists = found != cluster_.namespaces().end();
  if (!exists && must_exist && !term.namespace_selector->requirements.empty()) return false;
  return Matches(*term.namespace_selector, exists ? found->second.spec().labels : Labels());
}

bool TopologyModel::AsksAll(const PodSpec& asks, const std::vector<PodTermSpec>& terms,
                            const PodSpec& pod) const {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const PodTermSpec& term) { return Asks(asks, term, pod); });
}

std::map<uint32_t, uint64_t> TopologyModel::CountByRow(const PodSpec& asks,
                                                       const std::vector<PodTermSpec>& terms,
                                                       bool terminating) const {
  std::map<uint32_t, uint64_t> counts;
  for (const auto& [key, placed] : cluster_.pods()) {
    const PodSpec& pod = placed.pod.spec();
    if (!cluster_.nodes().contains(placed.row) || (pod.deleted_ns != 0 && !terminating)) continue;
    if (AsksAll(asks, terms, pod)) ++counts[placed.row];
  }
  return counts;
}

std::map<std::string, uint64_t> TopologyModel::CountByValue(const PodSpec& asks,
                                                            const std::vector<PodTermSpec>& terms,
                                                            bool terminating,
                                                            const std::string& key) const {
  std::map<std::string, uint64_t> counts;
  for (const auto& [row, count] : CountByRow(asks, terms, terminating)) {
    const Labels& labels = cluster_.nodes().at(row).spec().labels;
    const auto label = labels.find(key);
    if (label != labels.end()) counts[label->second] += count;
  }
  return counts;
}

TopologyModel::TermCounts TopologyModel::TermsOf(const PodSpec& pod) const {
  TermCounts counts;
  for (const auto& [name, placed] : cluster_.pods()) {
    const auto node = cluster_.nodes().find(placed.row);
    if (node == cluster_.nodes().end()) continue;
    const PodSpec& owner = placed.pod.spec();
    const std::pair<TermKind, const std::vector<PodTermSpec>&> lists[] = {
        {kRequiredAffinity, owner.required_pod_terms},
        {kRequiredAntiAffinity, owner.required_pod_anti_terms},
        {kPreferredAffinity, owner.preferred_pod_terms},
        {kPreferredAntiAffinity, owner.preferred_pod_anti_terms}};
    for (const auto& [kind, terms] : lists) {
      for (const PodTermSpec& term : terms) {
        const Labels& labels = node->second.spec().labels;
        const auto label = labels.find(term.topology_key);
        if (label == labels.end() || !Means(owner, term, pod, false)) continue;
        ++counts[{kind, term.weight, term.topology_key, label->second}];
      }
    }
  }
  return counts;
}

}  // namespace berth::testing
