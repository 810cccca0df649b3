// MakePod("web"): a pod, specified in as few words as the test needs.
#ifndef BERTH_TESTING_POD_SPEC_H_
#define BERTH_TESTING_POD_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/quantity.h>
#include <berth/testing/spec.h>

namespace berth::testing {

// A value: copy it, change it, put it into a table of cases. Everything that is not set has the API
// server's default.
//
//   MakePod("web").Label("app", "web").CpuMilli(500).Tolerate("dedicated", "web")
//   MakePod("db").Container("db").Request("cpu", "2").Sidecar("proxy").Request("cpu", "100m")
struct PodSpec : MetaSpec<PodSpec> {
  std::string scheduler_name = "default-scheduler";
  std::string node_name;
  std::optional<int32_t> priority;
  std::string priority_class;
  uint32_t preemption_policy = BERTH_PREEMPT_LOWER_PRIORITY;
  std::string runtime_class;
  std::string os;
  bool host_network = false;
  bool host_users = true;
  bool bind_mount_options = false;  // a mount of a container has bindMountOptions
  uint32_t restart_policy = BERTH_RESTART_ALWAYS;
  std::map<std::string, std::string> node_selector;
  std::optional<std::vector<NodeTermSpec>> required_node_terms;
  std::vector<NodeTermSpec> preferred_node_terms;
  std::vector<PodTermSpec> required_pod_terms;
  std::vector<PodTermSpec> preferred_pod_terms;
  std::vector<PodTermSpec> required_pod_anti_terms;
  std::vector<PodTermSpec> preferred_pod_anti_terms;
  std::vector<TolerationSpec> tolerations;
  std::vector<SpreadSpec> spreads;
  std::vector<ContainerSpec> containers;
  std::vector<ContainerSpec> init_containers;
  Amounts pod_requests;  // spec.resources.requests
  Amounts overhead;
  std::vector<VolumeSpec> volumes;
  std::vector<std::string> gates;
  std::vector<ResourceClaimSpec> claims;
  std::string pod_group;
  std::string nominated_node;
  uint32_t phase = BERTH_PHASE_PENDING;
  int64_t started_ns = 0;
  std::vector<ConditionSpec> conditions;

  PodSpec& Namespace(std::string text) { return ns = std::move(text), *this; }
  PodSpec& SchedulerName(std::string text) { return scheduler_name = std::move(text), *this; }
  PodSpec& NodeName(std::string text) { return node_name = std::move(text), *this; }
  PodSpec& Priority(int32_t value) { return priority = value, *this; }
  PodSpec& PriorityClass(std::string text) { return priority_class = std::move(text), *this; }
  PodSpec& NeverPreempts() { return preemption_policy = BERTH_PREEMPT_NEVER, *this; }
  PodSpec& RuntimeClass(std::string text) { return runtime_class = std::move(text), *this; }
  PodSpec& Os(std::string text) { return os = std::move(text), *this; }
  PodSpec& HostNetwork() { return host_network = true, *this; }
  PodSpec& HostUsersFalse() { return host_users = false, *this; }
  PodSpec& BindMountOptions() { return bind_mount_options = true, *this; }
  PodSpec& RestartPolicy(uint32_t value) { return restart_policy = value, *this; }
  PodSpec& Group(std::string text) { return pod_group = std::move(text), *this; }
  PodSpec& Nominated(std::string node) { return nominated_node = std::move(node), *this; }
  PodSpec& Phase(uint32_t value) { return phase = value, *this; }
  PodSpec& StartedNs(int64_t ns_since_1970) { return started_ns = ns_since_1970, *this; }
  PodSpec& Gate(std::string text) { return gates.push_back(std::move(text)), *this; }
  PodSpec& Volume(VolumeSpec volume) { return volumes.push_back(std::move(volume)), *this; }
  PodSpec& Claim(ResourceClaimSpec claim) { return claims.push_back(std::move(claim)), *this; }
  PodSpec& Condition(ConditionSpec c) { return conditions.push_back(std::move(c)), *this; }

  // Node selection, affinity and tolerations.
  PodSpec& NodeSelector(const std::string& key, std::string value);
  // Adds a required term. One of all required terms must match.
  PodSpec& NodeAffinity(NodeTermSpec term);
  PodSpec& NodeAffinity(Requirements expressions);
  PodSpec& PreferredNodeAffinity(int32_t weight, Requirements expressions);
  PodSpec& PodAffinity(std::string topology_key, Requirements selector);
  PodSpec& PodAntiAffinity(std::string topology_key, Requirements selector);
  PodSpec& PreferredPodAffinity(int32_t weight, std::string topology_key, Requirements selector);
  PodSpec& PreferredPodAntiAffinity(int32_t weight, std::string topology_key,
                                    Requirements selector);
  PodSpec& Toleration(TolerationSpec t) { return tolerations.push_back(std::move(t)), *this; }
  PodSpec& Tolerate(std::string key, std::string value, uint32_t effect = 0);
  PodSpec& TolerateKey(std::string key, uint32_t effect = 0);
  PodSpec& Spread(SpreadSpec spread) { return spreads.push_back(std::move(spread)), *this; }
  PodSpec& Spread(int32_t max_skew, std::string topology_key, Requirements selector,
                  uint32_t when_unsatisfiable = BERTH_DO_NOT_SCHEDULE);

  // Containers. Request() and similar methods apply to the container that was added last, or to a
  // container "c".
  PodSpec& Container(std::string text) { return AddContainer(std::move(text), false, false); }
  PodSpec& InitContainer(std::string text) { return AddContainer(std::move(text), true, false); }
  PodSpec& Sidecar(std::string text) { return AddContainer(std::move(text), true, true); }
  PodSpec& Request(const std::string& resource, std::string_view quantity);
  PodSpec& Request(const std::string& resource, int64_t units);
  PodSpec& CpuMilli(int64_t milli) { return Request("cpu", milli); }
  PodSpec& Memory(int64_t bytes) { return Request("memory", bytes); }
  PodSpec& Memory(std::string_view quantity) { return Request("memory", quantity); }
  PodSpec& Limit(const std::string& resource, std::string_view quantity);
  PodSpec& Allocated(const std::string& resource, std::string_view quantity);
  PodSpec& RestartsAll() { return Last().restarts_all = true, *this; }
  PodSpec& Image(std::string text) { return Last().image = std::move(text), *this; }
  PodSpec& Port(PortSpec port) { return Last().ports.push_back(std::move(port)), *this; }
  PodSpec& HostPort(int32_t port, uint32_t protocol = BERTH_PROTOCOL_TCP, std::string host_ip = "");
  PodSpec& Overhead(const std::string& resource, std::string_view quantity);
  PodSpec& PodLevelRequest(const std::string& resource, std::string_view quantity);
  PodSpec& PersistentClaim(std::string volume, std::string claim);

 private:
  static PodTermSpec Term(std::string topology_key, Requirements selector, int32_t weight);
  PodSpec& AddContainer(std::string text, bool init, bool sidecar);
  ContainerSpec& Last();

  bool last_is_init_ = false;
};

PodSpec MakePod(std::string name);

}  // namespace berth::testing

#endif  // BERTH_TESTING_POD_SPEC_H_
