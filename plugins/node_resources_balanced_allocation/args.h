// The arguments of NodeResourcesBalancedAllocation.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go,
// validation/validation_pluginargs.go
#ifndef BERTH_PLUGINS_NODE_RESOURCES_BALANCED_ALLOCATION_ARGS_H_
#define BERTH_PLUGINS_NODE_RESOURCES_BALANCED_ALLOCATION_ARGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <berth/args.h>

namespace balance {

struct Resource {
  std::string name;
  int64_t weight = 1;

  static constexpr auto kArgs = berth::ArgRows<Resource>(
      berth::Arg("name", &Resource::name, berth::kRequired, "The resource's name, such as cpu."),
      berth::Arg("weight", &Resource::weight,
                 "Must be 1 (or 0, which means 1): all resources have the same weight."));
};

struct Args {
  std::vector<Resource> resources = {{"cpu", 1}, {"memory", 1}};
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(
    berth::Arg("resources", &Args::resources,
               "The resources to balance, each named once. An empty list means cpu and memory."));

// Checks the rules that kArgRows cannot express and adds every violation to `errors`.
inline void Check(const Args& args, berth::ArgErrors& errors) {
  for (std::size_t i = 0; i < args.resources.size(); ++i) {
    const Resource& resource = args.resources[i];
    const std::string path = "/resources/" + std::to_string(i);
    if (resource.name.empty()) errors.Add(path + "/name", "expected a resource, found \"\"");
    const auto end = args.resources.begin() + static_cast<std::ptrdiff_t>(i);
    const bool is_repeated = std::any_of(args.resources.begin(), end, [&](const Resource& other) {
      return other.name == resource.name;
    });
    if (is_repeated) errors.Add(path + "/name", "duplicate \"" + resource.name + "\"");
    if (resource.weight != 0 && resource.weight != 1) {
      errors.Add(path + "/weight", "must be 1, found " + std::to_string(resource.weight));
    }
  }
}

}  // namespace balance

#endif  // BERTH_PLUGINS_NODE_RESOURCES_BALANCED_ALLOCATION_ARGS_H_
