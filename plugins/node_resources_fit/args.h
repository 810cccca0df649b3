// The arguments of NodeResourcesFit.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go,
// validation/validation_pluginargs.go
#ifndef BERTH_PLUGINS_NODE_RESOURCES_FIT_ARGS_H_
#define BERTH_PLUGINS_NODE_RESOURCES_FIT_ARGS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <berth/args.h>

namespace fit {

struct Resource {
  std::string name;
  int64_t weight = 1;

  static constexpr auto kArgs = berth::ArgRows<Resource>(
      berth::Arg("name", &Resource::name, berth::kRequired, "The resource's name, such as cpu."),
      berth::Arg("weight", &Resource::weight, berth::Range{0, 100},
                 "The resource's weight in the score. 0 means 1."));
};

struct ShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;

  static constexpr auto kArgs = berth::ArgRows<ShapePoint>(
      berth::Arg("utilization", &ShapePoint::utilization, berth::Range{0, 100},
                 "The used part of the resource in percent. Must increase from point to point."),
      berth::Arg("score", &ShapePoint::score, berth::Range{0, 10},
                 "The score at this utilization."));
};

struct Ratio {
  std::vector<ShapePoint> shape;

  static constexpr auto kArgs = berth::ArgRows<Ratio>(
      berth::Arg("shape", &Ratio::shape, berth::kRequired, berth::Items{1},
                 "The points of a piecewise linear function from utilization to score."));
};

enum class StrategyType { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct ScoringStrategy {
  StrategyType type = StrategyType::kLeastAllocated;
  std::vector<Resource> resources = {{"cpu", 1}, {"memory", 1}};
  Ratio requested_to_capacity_ratio;

  static constexpr auto kArgs = berth::ArgRows<ScoringStrategy>(
      berth::Arg("type", &ScoringStrategy::type, berth::kRequired,
                 berth::Names{berth::Name{"LeastAllocated", StrategyType::kLeastAllocated},
                              berth::Name{"MostAllocated", StrategyType::kMostAllocated},
                              berth::Name{"RequestedToCapacityRatio",
                                          StrategyType::kRequestedToCapacityRatio}},
                 "LeastAllocated prefers empty nodes, MostAllocated full nodes, "
                 "RequestedToCapacityRatio uses `shape`."),
      berth::Arg("resources", &ScoringStrategy::resources,
                 "The resources to score. An empty list means cpu and memory."),
      berth::Arg("requestedToCapacityRatio", &ScoringStrategy::requested_to_capacity_ratio,
                 "Required for the type RequestedToCapacityRatio, not allowed for the others."));
};

struct Args {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  ScoringStrategy scoring_strategy;
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(
    berth::Arg("ignoredResources", &Args::ignored_resources,
               "Extended resources that Filter does not check."),
    berth::Arg("ignoredResourceGroups", &Args::ignored_resource_groups,
               "Groups of extended resources that Filter does not check. The group example.com "
               "contains example.com/gpu."),
    berth::Arg("scoringStrategy", &Args::scoring_strategy, "How nodes are scored."));

// Checks the rules that kArgRows cannot express and adds every violation to `errors`.
void Check(const Args& args, berth::ArgErrors& errors);

// The set of resources that Filter does not check.
class Ignored {
 public:
  explicit Ignored(const Args& args);

  // Returns whether `resource` is ignored. Only extended resources can be ignored: names with a
  // prefix outside of kubernetes.io.
  bool Has(std::string_view resource) const;

 private:
  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> groups_;
};

}  // namespace fit

#endif  // BERTH_PLUGINS_NODE_RESOURCES_FIT_ARGS_H_
