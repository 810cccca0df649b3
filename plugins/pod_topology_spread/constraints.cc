#include "constraints.h"

#include <algorithm>

#include <berth/span.h>

namespace spread {

bool Constraints::HonorAffinity() const {
  return std::any_of(list.begin(), list.end(),
                     [](const Constraint& each) { return each.honors_affinity; });
}

bool Constraints::HonorTaints() const {
  return std::any_of(list.begin(), list.end(),
                     [](const Constraint& each) { return each.honors_taints; });
}

bool Counts(const berth_selector* selector) {
  return selector != nullptr && selector->requirements.count != 0 &&
         (selector->flags & BERTH_SELECTOR_INVALID) == 0;
}

bool HasAllKeys(berth::Labels labels, const std::vector<Constraint>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(), [labels](const Constraint& each) {
    return berth::FindLabel(labels, each.key) != BERTH_ID_NONE;
  });
}

void AddTo(const Constraints& constraints, const berth::Host& host, berth::Signer& signer) {
  signer.Add(constraints.defaults != nullptr);
  if (constraints.defaults == nullptr) return;
  const berth::Span<const berth_requirement> all(constraints.defaults->get()->requirements);
  signer.Add(uint64_t{all.size()});
  for (const berth_requirement& each : all) {
    signer.Add(host.Text(each.key)).Add(each.op).Add(each.number).Add(each.values.count);
    for (const berth_id value : berth::Span<const berth_id>(each.values)) {
      signer.Add(host.Text(value));
    }
  }
}

ConstraintSource::ConstraintSource(const berth::Host& host, const Args& args,
                                   const berth::TopologyIndex& index)
    : index_(index),
      system_defaults_(args.defaulting_type == DefaultingType::kSystem),
      selectors_(host) {
  for (const DefaultConstraint& each : DefaultConstraints(args)) {
    if (!each.match_label_keys.empty() && host.log()) {
      host.log().Warn("matchLabelKeys of a default constraint has no effect",
                      {{"topologyKey", each.topology_key}});
    }
    const Constraint constraint{nullptr,
                                host.Intern(each.topology_key),
                                each.max_skew,
                                each.min_domains,
                                each.node_affinity_policy == Policy::kHonor,
                                each.node_taints_policy == Policy::kHonor};
    defaults_.push_back({each.when_unsatisfiable, constraint});
  }
}

Constraints ConstraintSource::Of(const berth::Pod& pod, Action action) {
  Constraints found;
  for (const berth_spread& each : pod.spreads()) {
    if (each.when_unsatisfiable != static_cast<uint32_t>(action)) continue;
    if (!AddOwn(each, found)) break;
  }
  if (pod.spreads().empty()) {
    for (const Default& each : defaults_) {
      if (each.action == action) found.list.push_back(each.constraint);
    }
  }
  const bool has_defaults = pod.spreads().empty() && !found.list.empty();
  selectors_.NoteNeeds(pod, [&] { return has_defaults && MayMatter(pod, found.list, action); });
  if (!has_defaults) return found;
  found.defaults = selectors_.For(pod);
  if (found.defaults == nullptr) {
    found.list.clear();
    return found;
  }
  for (Constraint& each : found.list) each.selector = found.defaults->get();
  return found;
}

bool ConstraintSource::MayMatter(const berth::Pod& pod, const std::vector<Constraint>& list,
                                 Action action) const {
  if (index_.MayHavePeers(*pod)) return true;
  return std::any_of(list.begin(), list.end(), [&](const Constraint& each) {
    const uint32_t nodes = index_.CountNodesWith(each.key);
    // If no node has the key, a constraint with DoNotSchedule rejects all of them.
    return nodes < index_.node_count() && (nodes > 0 || action == Action::kDoNotSchedule);
  });
}

bool ConstraintSource::AddOwn(const berth_spread& from, Constraints& to) {
  if (from.selector != nullptr && (from.selector->flags & BERTH_SELECTOR_INVALID) != 0) {
    to.valid = false;
    return false;
  }
  to.list.push_back({from.selector, from.topology_key, from.max_skew, from.min_domains,
                     from.node_affinity_policy != BERTH_POLICY_IGNORE,
                     from.node_taints_policy == BERTH_POLICY_HONOR});
  return true;
}

}  // namespace spread
