#include "args.h"

#include <algorithm>
#include <cstddef>

#include <berth/names.h>

#include "labels.h"

namespace spread {
namespace {

std::string Text(Action action) {
  return action == Action::kDoNotSchedule ? "DoNotSchedule" : "ScheduleAnyway";
}

void CheckConstraint(const std::vector<DefaultConstraint>& all, std::size_t index,
                     berth::ArgErrors& errors) {
  const DefaultConstraint& constraint = all[index];
  const std::string path = "/defaultConstraints/" + std::to_string(index);
  if (constraint.topology_key.empty()) {
    errors.Add(path + "/topologyKey", "can not be empty");
  } else if (!berth::IsQualifiedName(constraint.topology_key)) {
    errors.Add(path + "/topologyKey",
               "expected a label's key, such as topology.kubernetes.io/zone, "
               "found \"" +
                   constraint.topology_key + "\"");
  }
  if (!constraint.label_selector.absent()) {
    errors.Add(path + "/labelSelector",
               "constraint must not define a selector, as they deduced for each pod");
  }
  const bool repeats =
      std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(index),
                  [&constraint](const DefaultConstraint& earlier) {
                    return earlier.topology_key == constraint.topology_key &&
                           earlier.when_unsatisfiable == constraint.when_unsatisfiable;
                  });
  if (repeats) {
    errors.Add(path, "duplicate value {" + constraint.topology_key + ", " +
                         Text(constraint.when_unsatisfiable) + "}");
  }
}

DefaultConstraint SystemConstraint(std::string_view key, int32_t max_skew) {
  DefaultConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = Action::kScheduleAnyway;
  return constraint;
}

}  // namespace

void Check(const Args& args, berth::ArgErrors& errors) {
  if (args.defaulting_type == DefaultingType::kSystem && !args.default_constraints.empty()) {
    errors.Add("/defaultingType",
               "invalid value \"System\" when .defaultConstraints are not empty, expected "
               "\"List\"");
  }
  for (std::size_t i = 0; i < args.default_constraints.size(); ++i) {
    CheckConstraint(args.default_constraints, i, errors);
  }
}

std::vector<DefaultConstraint> DefaultConstraints(const Args& args) {
  if (args.defaulting_type == DefaultingType::kList) return args.default_constraints;
  // kube-scheduler: podtopologyspread/plugin.go, systemDefaultConstraints.
  return {SystemConstraint(kHostname, 3), SystemConstraint(kZone, 5)};
}

}  // namespace spread
