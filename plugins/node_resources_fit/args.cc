#include "args.h"

#include <algorithm>
#include <cstddef>

namespace fit {
namespace {

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Letters and digits at both ends, `inside` between them.
template <class Edge>
bool IsBounded(std::string_view text, Edge is_edge, std::string_view inside) {
  if (text.empty() || !is_edge(text.front()) || !is_edge(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_edge(c) || inside.find(c) != std::string_view::npos;
  });
}

// RFC 1123: labels of lower case letters, digits and "-", with dots between them.
bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsBounded(text.substr(0, dot), IsLowerOrDigit, "-")) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// apimachinery: util/validation, IsQualifiedName.
bool IsQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    if (!IsDnsSubdomain(text.substr(0, slash))) return false;
    name = text.substr(slash + 1);
  }
  return name.size() <= 63 && IsBounded(name, IsLetterOrDigit, "-_.");
}

std::string At(std::string_view path, std::size_t index, std::string_view member = {}) {
  return std::string(path) + "/" + std::to_string(index) + std::string(member);
}

void CheckIgnored(const Args& args, berth::ArgErrors& errors) {
  constexpr std::string_view kExpected = "expected a qualified name, such as ";
  for (std::size_t i = 0; i < args.ignored_resources.size(); ++i) {
    const std::string& name = args.ignored_resources[i];
    if (IsQualifiedName(name)) continue;
    errors.Add(At("/ignoredResources", i),
               std::string(kExpected) + "example.com/gpu, found \"" + name + "\"");
  }
  for (std::size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    if (group.find('/') != std::string::npos) {
      errors.Add(At("/ignoredResourceGroups", i),
                 "resource group name can't contain '/', found \"" + group + "\"");
    } else if (!IsQualifiedName(group)) {
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
