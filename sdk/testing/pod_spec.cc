#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/quantity.h>
#include <berth/testing/spec.h>

namespace berth::testing {

PodSpec& PodSpec::NodeSelector(const std::string& key, std::string value) {
  return node_selector[key] = std::move(value), *this;
}

PodSpec& PodSpec::NodeAffinity(NodeTermSpec term) {
  if (!required_node_terms) required_node_terms.emplace();
  return required_node_terms->push_back(std::move(term)), *this;
}

PodSpec& PodSpec::NodeAffinity(Requirements expressions) {
  return NodeAffinity(NodeTermSpec{std::move(expressions)});
}

PodSpec& PodSpec::PreferredNodeAffinity(int32_t weight, Requirements expressions) {
  preferred_node_terms.push_back({std::move(expressions), {}, weight});
  return *this;
}

PodSpec& PodSpec::PodAffinity(std::string topology_key, Requirements selector) {
  required_pod_terms.push_back(Term(std::move(topology_key), std::move(selector), 0));
  return *this;
}

PodSpec& PodSpec::PodAntiAffinity(std::string topology_key, Requirements selector) {
  required_pod_anti_terms.push_back(Term(std::move(topology_key), std::move(selector), 0));
  return *this;
}

PodSpec& PodSpec::PreferredPodAffinity(int32_t weight, std::string topology_key,
                                       Requirements selector) {
  preferred_pod_terms.push_back(Term(std::move(topology_key), std::move(selector), weight));
  return *this;
}

PodSpec& PodSpec::PreferredPodAntiAffinity(int32_t weight, std::string topology_key,
                                           Requirements selector) {
  preferred_pod_anti_terms.push_back(Term(std::move(topology_key), std::move(selector), weight));
  return *this;
}

PodSpec& PodSpec::Tolerate(std::string key, std::string value, uint32_t effect) {
  return Toleration({std::move(key), std::move(value), BERTH_TOLERATION_EQUAL, effect});
}

PodSpec& PodSpec::TolerateKey(std::string key, uint32_t effect) {
  return Toleration({std::move(key), "", BERTH_TOLERATION_EXISTS, effect});
}

PodSpec& PodSpec::Spread(int32_t max_skew, std::string topology_key, Requirements selector,
                         uint32_t when_unsatisfiable) {
  return Spread({std::move(topology_key), SelectorSpec{std::move(selector)}, max_skew, 1,
                 when_unsatisfiable});
}

PodSpec& PodSpec::Request(const std::string& resource, std::string_view quantity) {
  return Last().requests[resource] = ParseAmount(resource, quantity), *this;
}

PodSpec& PodSpec::Request(const std::string& resource, int64_t units) {
  return Last().requests[resource] = units, *this;
}

PodSpec& PodSpec::Limit(const std::string& resource, std::string_view quantity) {
  return Last().limits[resource] = ParseAmount(resource, quantity), *this;
}

PodSpec& PodSpec::Allocated(const std::string& resource, std::string_view quantity) {
  return Last().allocated[resource] = ParseAmount(resource, quantity), *this;
}

PodSpec& PodSpec::HostPort(int32_t port, uint32_t protocol, std::string host_ip) {
  return Port({port, port, protocol, std::move(host_ip)});
}

PodSpec& PodSpec::Overhead(const std::string& resource, std::string_view quantity) {
  return overhead[resource] = ParseAmount(resource, quantity), *this;
}

PodSpec& PodSpec::PodLevelRequest(const std::string& resource, std::string_view quantity) {
  return pod_requests[resource] = ParseAmount(resource, quantity), *this;
}

PodSpec& PodSpec::PersistentClaim(std::string volume, std::string claim) {
  return Volume({std::move(volume), BERTH_VOLUME_CLAIM, std::move(claim)});
}

PodTermSpec PodSpec::Term(std::string topology_key, Requirements selector, int32_t weight) {
  return {std::move(topology_key), SelectorSpec{std::move(selector)}, {}, {}, weight};
}

PodSpec& PodSpec::AddContainer(std::string text, bool init, bool sidecar) {
  auto& list = init ? init_containers : containers;
  list.push_back({std::move(text), "", sidecar});
  last_is_init_ = init;
  return *this;
}

ContainerSpec& PodSpec::Last() {
  if (last_is_init_) return init_containers.back();
  if (containers.empty()) Container("c");
  return containers.back();
}

PodSpec MakePod(std::string name) {
  PodSpec pod;
  pod.ns = "default";
  pod.uid = "uid-" + name;
  pod.name = std::move(name);
  return pod;
}

}  // namespace berth::testing
