#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>

namespace berth::testing {

NodeSpec& NodeSpec::Taint(std::string key, std::string value, uint32_t effect) {
  return taints.push_back({std::move(key), std::move(value), effect}), *this;
}

NodeSpec& NodeSpec::Allocatable(const std::string& resource, std::string_view quantity) {
  return allocatable[resource] = ParseAmount(resource, quantity), *this;
}

NodeSpec& NodeSpec::Allocatable(const std::string& resource, int64_t units) {
  return allocatable[resource] = units, *this;
}

NodeSpec& NodeSpec::Capacity(const std::string& resource, std::string_view quantity) {
  return capacity[resource] = ParseAmount(resource, quantity), *this;
}

NodeSpec& NodeSpec::Image(std::string reference, int64_t size) {
  return images.push_back({{std::move(reference)}, size}), *this;
}

NodeSpec& NodeSpec::Feature(std::string text) {
  return declared_features.push_back(std::move(text)), *this;
}

NodeSpec& NodeSpec::Pod(PodSpec pod) {
  if (pod.node_name.empty()) pod.node_name = name;
  if (pod.phase == BERTH_PHASE_PENDING) pod.phase = BERTH_PHASE_RUNNING;
  return pods.push_back(std::move(pod)), *this;
}

NodeSpec& NodeSpec::Used(const std::string& resource, std::string_view quantity) {
  return Pod(Filler().Request(resource, quantity));
}

NodeSpec MakeNode(std::string name) {
  NodeSpec node;
  node.uid = "uid-" + name;
  node.name = std::move(name);
  return node;
}

}  // namespace berth::testing
