// The arguments of PodTopologySpread.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go,
// validation/validation_pluginargs.go
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_ARGS_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_ARGS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/args.h>

namespace spread {

enum class Action : uint32_t {
  kDoNotSchedule = BERTH_DO_NOT_SCHEDULE,
  kScheduleAnyway = BERTH_SCHEDULE_ANYWAY,
};

enum class Policy : uint32_t {
  kHonor = BERTH_POLICY_HONOR,
  kIgnore = BERTH_POLICY_IGNORE,
};

enum class DefaultingType : uint32_t { kSystem, kList };

struct DefaultConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  Action when_unsatisfiable = Action::kDoNotSchedule;
  int32_t min_domains = 1;
  Policy node_affinity_policy = Policy::kHonor;
  Policy node_taints_policy = Policy::kIgnore;
  std::vector<std::string> match_label_keys;
  berth::Value label_selector;

  static constexpr auto kArgs = berth::ArgRows<DefaultConstraint>(
      berth::Arg("maxSkew", &DefaultConstraint::max_skew, berth::kRequired,
                 berth::Range{1, std::numeric_limits<int32_t>::max()},
                 "How many more matching pods a domain may have than the domain with the fewest."),
      berth::Arg("topologyKey", &DefaultConstraint::topology_key, berth::kRequired,
                 "The node label whose values are the domains."),
      berth::Arg("whenUnsatisfiable", &DefaultConstraint::when_unsatisfiable, berth::kRequired,
                 berth::Names{berth::Name{"DoNotSchedule", Action::kDoNotSchedule},
                              berth::Name{"ScheduleAnyway", Action::kScheduleAnyway}},
                 "Whether a node that violates the constraint is rejected or scores lower."),
      berth::Arg("minDomains", &DefaultConstraint::min_domains,
                 berth::Range{1, std::numeric_limits<int32_t>::max()},
                 "With fewer domains than this, the smallest count is taken to be 0."),
      berth::Arg("nodeAffinityPolicy", &DefaultConstraint::node_affinity_policy,
                 berth::Names{berth::Name{"Honor", Policy::kHonor},
                              berth::Name{"Ignore", Policy::kIgnore}},
                 "Honor counts only nodes that the pod's nodeSelector and required node affinity "
                 "select."),
      berth::Arg("nodeTaintsPolicy", &DefaultConstraint::node_taints_policy,
                 berth::Names{berth::Name{"Honor", Policy::kHonor},
                              berth::Name{"Ignore", Policy::kIgnore}},
                 "Honor counts only nodes without a NoSchedule or NoExecute taint that the pod "
                 "does not tolerate."),
      berth::Arg("matchLabelKeys", &DefaultConstraint::match_label_keys,
                 "Has no effect, as in kube-scheduler: the selector is deduced for each pod."),
      berth::Arg("labelSelector", &DefaultConstraint::label_selector,
                 "Must not be set: the selector is deduced for each pod."));
};

struct Args {
  std::vector<DefaultConstraint> default_constraints;
  DefaultingType defaulting_type = DefaultingType::kSystem;
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(
    berth::Arg("defaultConstraints", &Args::default_constraints,
               "The constraints of pods that have none of their own. Requires the defaultingType "
               "List."),
    berth::Arg("defaultingType", &Args::defaulting_type,
               berth::Names{berth::Name{"System", DefaultingType::kSystem},
                            berth::Name{"List", DefaultingType::kList}},
               "System: spread over hostnames (maxSkew 3) and zones (maxSkew 5), both "
               "ScheduleAnyway. List: defaultConstraints, which may be empty."));

// Checks the rules that kArgRows cannot express and adds every violation to `errors`.
void Check(const Args& args, berth::ArgErrors& errors);

// Returns the constraints of pods without constraints of their own.
std::vector<DefaultConstraint> DefaultConstraints(const Args& args);

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_ARGS_H_
