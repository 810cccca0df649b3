// The constraints that apply to a pod: its own, or the default constraints of the profile.
// kube-scheduler: pkg/scheduler/framework/plugins/podtopologyspread/common.go
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <berth/host.h>
#include <berth/pod.h>
#include <berth/signer.h>
#include <berth/topology_index.h>

#include "args.h"
#include "default_selectors.h"

namespace spread {

// One constraint. The selector is that of the pod, or of Constraints::defaults.
struct Constraint {
  const berth_selector* selector = nullptr;  // Null: matches no pod.
  berth_id key = BERTH_ID_NONE;
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  bool honors_affinity = true;
  bool honors_taints = false;
};

// The constraints of one pod with one action.
struct Constraints {
  std::vector<Constraint> list;
  // The selector of default constraints; null if the constraints are the pod's own.
  std::shared_ptr<const JoinedSelector> defaults;
  // False if a selector could not be parsed. The list is not complete then.
  bool valid = true;

  bool HonorAffinity() const;
  bool HonorTaints() const;
};

// Returns whether pods that match the selector are counted. A selector without requirements matches
// every pod, but kube-scheduler 1.36 and 1.37 count no pod for it (fixed in 1.38), and so does
// Berth. The pod itself matches such a selector.
bool Counts(const berth_selector* selector);

// Returns whether the labels of a node contain the topology keys of all constraints.
bool HasAllKeys(berth::Labels labels, const std::vector<Constraint>& constraints);

// Adds the constraints' parts that no part of a pod determines: the selectors of default
// constraints.
void AddTo(const Constraints& constraints, const berth::Host& host, berth::Signer& signer);

// Finds the constraints of pods.
//
// Threading: [queue] [cycle].
class ConstraintSource {
 public:
  // `index` has the pods and nodes, and must outlive the source.
  ConstraintSource(const berth::Host& host, const Args& args, const berth::TopologyIndex& index);

  // Returns the pod's constraints with this action; if the pod has no constraints at all, the
  // default constraints with this action, unless no object selects the pod.
  // Lifetime: until the current cycle or hint ends.
  Constraints Of(const berth::Pod& pod, Action action);

  // Returns whether there is a default constraint with this action.
  bool HasDefault(Action action) const {
    return std::any_of(defaults_.begin(), defaults_.end(),
                       [action](const Default& each) { return each.action == action; });
  }

  // Returns whether candidate nodes must have the topology keys of all soft constraints to get a
  // score. The default constraints of the defaultingType System do not require them.
  bool RequiresAllKeys(const berth::Pod& pod) const {
    return !pod.spreads().empty() || !system_defaults_;
  }

 private:
  struct Default {
    Action action;
    Constraint constraint;
  };

  static bool AddOwn(const berth_spread& from, Constraints& to);
  // Returns whether the decision about the pod can depend on the selector of these default
  // constraints: if it matches a pod, or if only some nodes have a topology key.
  bool MayMatter(const berth::Pod& pod, const std::vector<Constraint>& list, Action action) const;

  const berth::TopologyIndex& index_;
  std::vector<Default> defaults_;
  const bool system_defaults_;
  DefaultSelectors selectors_;
};

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_
