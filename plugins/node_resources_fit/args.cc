#include "args.h"

#include <cstddef>

#include <berth/names.h>

namespace fit {
namespace {

std::string At(std::string_view path, std::size_t index, std::string_view member = {}) {
  return std::string(path) + "/" + std::to_string(index) + std::string(member);
}

void CheckIgnored(const Args& args, berth::ArgErrors& errors) {
  constexpr std::string_view kExpected = "expected a qualified name, such as ";
  for (std::size_t i = 0; i < args.ignored_resources.size(); ++i) {
    const std::string& name = args.ignored_resources[i];
    if (berth::IsQualifiedName(name)) continue;
    errors.Add(At("/ignoredResources", i),
               std::string(kExpected) + "example.com/gpu, found \"" + name + "\"");
  }
  for (std::size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    if (group.find('/') != std::string::npos) {
      errors.Add(At("/ignoredResourceGroups", i),
                 "resource group name can't contain '/', found \"" + group + "\"");
    } else if (!berth::IsQualifiedName(group)) {
      errors.Add(At("/ignoredResourceGroups", i),
                 std::string(kExpected) + "example.com, found \"" + group + "\"");
    }
  }
}

void CheckShape(const std::vector<ShapePoint>& shape, berth::ArgErrors& errors) {
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    errors.Add(At("/scoringStrategy/requestedToCapacityRatio/shape", i, "/utilization"),
               "values must be sorted in increasing order, found " +
                   std::to_string(shape[i].utilization) + " after " +
                   std::to_string(shape[i - 1].utilization));
  }
}

// Returns whether `resource` is an extended resource.
// component-helpers and pkg/apis/core/v1/helper: IsExtendedResourceName.
bool IsExtended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos &&
         !resource.starts_with("requests.");
}

}  // namespace

void Check(const Args& args, berth::ArgErrors& errors) {
  CheckIgnored(args, errors);
  const ScoringStrategy& strategy = args.scoring_strategy;
  for (std::size_t i = 0; i < strategy.resources.size(); ++i) {
    if (!strategy.resources[i].name.empty()) continue;
    errors.Add(At("/scoringStrategy/resources", i, "/name"), "expected a resource, found \"\"");
  }
  const std::vector<ShapePoint>& shape = strategy.requested_to_capacity_ratio.shape;
  const bool is_ratio = strategy.type == StrategyType::kRequestedToCapacityRatio;
  if (is_ratio && shape.empty()) {
    errors.Add("/scoringStrategy/requestedToCapacityRatio",
               "must be specified when type is RequestedToCapacityRatio");
  } else if (!is_ratio && !shape.empty()) {
    errors.Add("/scoringStrategy/requestedToCapacityRatio",
               "must be nil when type is not RequestedToCapacityRatio");
  }
  CheckShape(shape, errors);
}

Ignored::Ignored(const Args& args)
    : names_(args.ignored_resources.begin(), args.ignored_resources.end()),
      groups_(args.ignored_resource_groups.begin(), args.ignored_resource_groups.end()) {}

bool Ignored::Has(std::string_view resource) const {
  if (names_.empty() && groups_.empty()) return false;
  if (!IsExtended(resource)) return false;
  return names_.contains(resource) || groups_.contains(resource.substr(0, resource.find('/')));
}

}  // namespace fit
