// A cluster that feeds a TopologyIndex: nodes on rows, pods on rows, and namespaces.
#ifndef BERTH_TESTS_SDK_TOPOLOGY_CLUSTER_H_
#define BERTH_TESTS_SDK_TOPOLOGY_CLUSTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/views.h>
#include <berth/topology_index.h>

namespace berth::testing {

// A host that serves strings and namespaces. Ids that nothing holds have no text.
class TopologyHost {
 public:
  TopologyHost();
  TopologyHost(const TopologyHost&) = delete;
  TopologyHost& operator=(const TopologyHost&) = delete;

  Host host() const { return Host(*services_); }
  Ids& ids() { return ids_; }
  // How often an id was interned and not released.
  int64_t held_ids() const { return held_; }
  // Adds, changes or removes (`now` is null) a namespace.
  void Change(const berth_object* old, const berth_object* now);

  bool serves_objects = true;
  std::vector<std::string> look_ups;  // "get v1/Namespace <name>", "list v1/Namespace".

 private:
  static TopologyHost& Of(const berth_host* host) {
    return *static_cast<TopologyHost*>(host->impl);
  }
  static berth_code GetService(const berth_host* host, const char* id,
                               const void** service) noexcept;

  berth_host abi_;
  Ids ids_;
  int64_t held_ = 0;
  void (*changed_)(void* to, const berth_object_change* change) noexcept = nullptr;
  void* changed_to_ = nullptr;
  ::berth::internal::Fault fault_;
  std::unique_ptr<::berth::internal::Services> services_;
};

class TopologyCluster {
 public:
  struct PlacedPod {
    uint32_t row;
    PodHandle pod;
  };

  explicit TopologyCluster(TopologyIndexOptions options = {}) : index_(host_.host(), options) {}

  TopologyIndex& index() { return index_; }
  TopologyHost& host() { return host_; }
  Ids& ids() { return host_.ids(); }
  berth_id Id(std::string_view text) { return host_.ids().Find(text); }

  // Adds a node, or replaces the node of the row.
  void PutNode(uint32_t row, const NodeSpec& node);
  void RemoveNode(uint32_t row);
  // Adds a pod, or replaces the pod of this name and namespace on its row.
  void PutPod(uint32_t row, const PodSpec& pod);
  void RemovePod(const std::string& name, const std::string& ns = "default");
  void PutNamespace(const std::string& name, const std::map<std::string, std::string>& labels);
  void RemoveNamespace(const std::string& name);

  // Returns the number of pods in the domain with this value of the key.
  uint64_t CountIn(const CountedDomains& counted, std::string_view value) {
    const uint32_t domain = counted.topology->Find(Id(value));
    return domain == Topology::kNone ? 0 : counted.counts->At(domain);
  }
  PodHandle Pod(PodSpec spec);

  const std::map<uint32_t, NodeHandle>& nodes() const { return nodes_; }
  const std::map<std::string, PlacedPod>& pods() const { return pods_; }
  const std::map<std::string, ObjectHandle>& namespaces() const { return namespaces_; }

 private:
  berth_change Change(uint32_t kind, uint32_t row);

  TopologyHost host_;
  std::map<uint32_t, NodeHandle> nodes_;
  std::map<std::string, PlacedPod> pods_;  // By "namespace/name".
  std::map<std::string, ObjectHandle> namespaces_;
  TopologyIndex index_;
  uint64_t sequence_ = 0;
};

}  // namespace berth::testing

#endif  // BERTH_TESTS_SDK_TOPOLOGY_CLUSTER_H_
