// MakeNode("a"): a node, with the pods on it.
#ifndef BERTH_TESTING_NODE_SPEC_H_
#define BERTH_TESTING_NODE_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/spec.h>

namespace berth::testing {

// A value, like PodSpec. By default a node has room for 110 pods and no other resource.
//
//   MakeNode("a").CpuMilli(4000).Memory("8Gi").Label("zone", "z1").Pod(
//       MakePod("web").CpuMilli(500))
struct NodeSpec : MetaSpec<NodeSpec> {
  bool unschedulable = false;
  std::vector<TaintSpec> taints;
  Amounts allocatable = {{"pods", 110}};
  Amounts capacity;  // resources that are not named here are the same as allocatable
  std::vector<ConditionSpec> conditions;
  std::vector<ImageSpec> images;
  std::vector<std::string> declared_features;
  std::vector<PodSpec> pods;

  NodeSpec& Unschedulable() { return unschedulable = true, *this; }
  NodeSpec& Taint(std::string key, std::string value = "",
                  uint32_t effect = BERTH_EFFECT_NO_SCHEDULE);
  NodeSpec& Allocatable(const std::string& resource, std::string_view quantity);
  NodeSpec& Allocatable(const std::string& resource, int64_t units);
  NodeSpec& CpuMilli(int64_t milli) { return Allocatable("cpu", milli); }
  NodeSpec& Memory(int64_t bytes) { return Allocatable("memory", bytes); }
  NodeSpec& Memory(std::string_view quantity) { return Allocatable("memory", quantity); }
  NodeSpec& Pods(int64_t count) { return Allocatable("pods", count); }
  NodeSpec& Capacity(const std::string& resource, std::string_view quantity);
  NodeSpec& Condition(ConditionSpec c) { return conditions.push_back(std::move(c)), *this; }
  NodeSpec& Image(std::string reference, int64_t size);
  NodeSpec& Feature(std::string text);

  // Adds a pod that runs on this node.
  NodeSpec& Pod(PodSpec pod);
  // Add a pod that uses this amount, for tests in which its other properties do not matter.
  NodeSpec& UsedCpuMilli(int64_t milli) { return Pod(Filler().CpuMilli(milli)); }
  NodeSpec& UsedMemory(int64_t bytes) { return Pod(Filler().Memory(bytes)); }
  NodeSpec& Used(const std::string& resource, std::string_view quantity);

 private:
  PodSpec Filler() const { return MakePod(name + "-used-" + std::to_string(pods.size())); }
};

NodeSpec MakeNode(std::string name);

}  // namespace berth::testing

#endif  // BERTH_TESTING_NODE_SPEC_H_
