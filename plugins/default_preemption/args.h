// The arguments of DefaultPreemption.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go, DefaultPreemptionArgs.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_ARGS_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_ARGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <berth/args.h>

namespace preemption {

struct Args {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
  bool strict_budgets = false;
  bool least_work_lost = false;
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(
    berth::Arg("minCandidateNodesPercentage", &Args::min_candidate_nodes_percentage,
               berth::Range{0, 100},
               "The search for candidates ends when it has found this percentage of the nodes on "
               "which preemption may help."),
    berth::Arg("minCandidateNodesAbsolute", &Args::min_candidate_nodes_absolute,
               berth::Range{0, std::numeric_limits<int32_t>::max()},
               "The search for candidates does not end before it has found this many."),
    berth::Arg("strictBudgets", &Args::strict_budgets,
               "Whether a node is no candidate if its victims violate a PodDisruptionBudget. "
               "Otherwise such a node is chosen only if every other candidate violates budgets, "
               "too."),
    berth::Arg("leastWorkLost", &Args::least_work_lost,
               "Whether, of candidates that are equal by all criteria, the one is chosen whose "
               "victims have run for the shortest time in sum."));

// Checks the rule that kArgRows cannot express.
inline void Check(const Args& args, berth::ArgErrors& errors) {
  if (args.min_candidate_nodes_percentage != 0 || args.min_candidate_nodes_absolute != 0) return;
  errors.Add("/minCandidateNodesPercentage",
             "cannot be zero at the same time as minCandidateNodesAbsolute");
}

// Returns how many candidates the search needs of `nodes` on which preemption may help.
// kube-scheduler: default_preemption.go, calculateNumCandidates.
inline std::size_t CandidatesNeeded(const Args& args, std::size_t nodes) {
  const std::size_t part =
      nodes * static_cast<std::size_t>(args.min_candidate_nodes_percentage) / 100;
  const auto least = static_cast<std::size_t>(args.min_candidate_nodes_absolute);
  return std::min(std::max(part, least), nodes);
}

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_ARGS_H_
