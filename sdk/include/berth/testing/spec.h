// The parts of pods and nodes in a test: values that consist of text and numbers, without ids and
// pointers.
#ifndef BERTH_TESTING_SPEC_H_
#define BERTH_TESTING_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/quantity.h>

namespace berth::testing {

// One requirement of a selector: In("zone", {"a", "b"}), Exists("gpu"), Gt("cores", 8).
struct RequirementSpec {
  std::string key;
  uint32_t op = BERTH_OP_IN;
  std::vector<std::string> values = {};
  int64_t number = 0;
};
using Requirements = std::vector<RequirementSpec>;

RequirementSpec In(std::string key, std::vector<std::string> values);
RequirementSpec NotIn(std::string key, std::vector<std::string> values);
inline RequirementSpec Exists(std::string key) { return {std::move(key), BERTH_OP_EXISTS, {}, 0}; }
RequirementSpec DoesNotExist(std::string key);
RequirementSpec Gt(std::string key, int64_t number);
RequirementSpec Lt(std::string key, int64_t number);

struct SelectorSpec {
  Requirements requirements = {};
  bool invalid = false;
};

struct NodeTermSpec {
  Requirements expressions = {};
  Requirements fields = {};
  int32_t weight = 0;
  bool invalid = false;
};

struct PodTermSpec {
  std::string topology_key;
  std::optional<SelectorSpec> selector = {};
  std::optional<SelectorSpec> namespace_selector = {};
  // empty, and no namespace selector: the pod's own namespace
  std::vector<std::string> namespaces = {};
  int32_t weight = 0;
};

struct TolerationSpec {
  std::string key;  // empty: every key
  std::string value = "";
  uint32_t op = BERTH_TOLERATION_EQUAL;
  uint32_t effect = 0;  // 0: every effect
  int64_t seconds = -1;
};

struct TaintSpec {
  std::string key;
  std::string value = "";
  uint32_t effect = BERTH_EFFECT_NO_SCHEDULE;
};

struct SpreadSpec {
  std::string topology_key;
  std::optional<SelectorSpec> selector = {};
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  uint32_t when_unsatisfiable = BERTH_DO_NOT_SCHEDULE;
  uint32_t node_affinity_policy = BERTH_POLICY_HONOR;
  uint32_t node_taints_policy = BERTH_POLICY_IGNORE;
};

struct PortSpec {
  int32_t container_port = 0;
  int32_t host_port = 0;
  uint32_t protocol = BERTH_PROTOCOL_TCP;
  std::string host_ip = "";
};

struct ContainerSpec {
  std::string name;
  std::string image = "";
  bool sidecar = false;
  Amounts requests = {};
  Amounts limits = {};
  Amounts allocated =
      {};  // status.containerStatuses[].allocatedResources, while a resize is in progress
  std::vector<PortSpec> ports = {};
  bool restarts_all = false;  // a restart rule with the action RestartAllContainers
};

struct VolumeSpec {
  std::string name;
  uint32_t kind = BERTH_VOLUME_OTHER;
  std::string source = "";  // see BERTH_VOLUME_*; empty for an ephemeral volume: "<pod>-<volume>"
  std::string pool = "";
  std::vector<std::string> hosts = {};
  bool read_only = false;
};

struct ResourceClaimSpec {
  std::string name;
  std::string claim_name = "";
  std::string template_name = "";
  bool not_needed = false;  // the status states that no claim is generated
};

struct ConditionSpec {
  std::string type;
  uint32_t status = BERTH_CONDITION_TRUE;
  std::string reason = "";
  int64_t transition_ns = 0;
};

struct ImageSpec {
  std::vector<std::string> names;
  int64_t size = 0;
};

struct OwnerSpec {
  std::string kind;
  std::string name;
  std::string uid = "";
  std::string api_version = "apps/v1";
  bool controller = true;
};

// The metadata of every object. `Self` is the derived class; each function returns the object
// itself.
template <class Self>
struct MetaSpec {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version = "1";
  int64_t generation = 1;
  int64_t created_ns = 0;
  int64_t deleted_ns = 0;
  std::map<std::string, std::string> labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<OwnerSpec> owners;
  std::vector<std::pair<std::string, std::string>> fields;  // path, JSON; empty: not set

  Self& Uid(std::string text) { return uid = std::move(text), self(); }
  Self& ResourceVersion(std::string text) { return resource_version = std::move(text), self(); }
  Self& CreatedNs(int64_t ns_since_1970) { return created_ns = ns_since_1970, self(); }
  Self& DeletedNs(int64_t ns_since_1970) { return deleted_ns = ns_since_1970, self(); }
  Self& Label(const std::string& key, std::string value) {
    return labels[key] = std::move(value), self();
  }
  Self& Annotation(std::string key, std::string value) {
    return annotations.emplace_back(std::move(key), std::move(value)), self();
  }
  Self& Owner(OwnerSpec owner) { return owners.push_back(std::move(owner)), self(); }
  // Sets a part of the object that no view has: Field("/spec/hostIPC", "true"). A plugin sees it,
  // as in the host, through every path of kFields that names it, a part of it, or an object or
  // array that contains it.
  Self& Field(std::string path, std::string json) {
    return fields.emplace_back(std::move(path), std::move(json)), self();
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SPEC_H_
