// Completes new pods, as an API server does.
#ifndef BERTH_HOST_CLUSTER_CONTROL_PLANE_ADMISSION_H_
#define BERTH_HOST_CLUSTER_CONTROL_PLANE_ADMISSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/status.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// To how many pods each rule has added something.
struct AdmissionCounts {
  size_t pods = 0;
  size_t limit_ranges = 0;
  size_t priorities = 0;
  size_t tolerations = 0;
  size_t runtime_classes = 0;
  // Pods with a container that requests no cpu or no memory, which a LimitRange could add.
  size_t without_requests = 0;
};

// Applies the admission plugins of kube-apiserver that are on by default and change what a
// scheduler reads, in the order of the API server:
//   LimitRanger               requests and limits of the containers of a pod, from the LimitRanges
//                             of its namespace (type Container: default, defaultRequest, and what
//                             follows from max and min)
//   Priority                  priority and preemptionPolicy, from the PriorityClass that the pod
//                             names or that is the global default, also the two system classes
//   DefaultTolerationSeconds  tolerations of nodes that are not ready or not reachable, for 300 s
//   RuntimeClass              overhead, nodeSelector and tolerations of the RuntimeClass
// kubernetes: plugin/pkg/admission/{limitranger,priority,defaulttolerationseconds,runtimeclass},
// and SetDefaults_LimitRangeItem in pkg/apis/core/v1/defaults.go. Decoder adds the defaults of the
// API itself.
//
// Differences: nothing is rejected because of a maximum, a minimum or a quota. A pod without a
// class that states a priority or an overhead keeps it: it may come from a cluster. The taint
// not-ready, which a new node gets, is not added to nodes.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  the cluster must outlive it.
class Admission {
 public:
  explicit Admission(const EmbeddedCluster& cluster) : cluster_(cluster) {}

  // Completes the JSON of a pod that a decoder accepts. `stored`: the pod as the cluster has it, if
  // this is an update: it keeps its priority and its preemptionPolicy, and its classes need not
  // exist any more.
  // Errors: with the JSON pointer, kNotFound for a class that the cluster does not have, and
  //         kInvalidArgument for one that contradicts the pod:
  //         /spec/priorityClassName: expected a PriorityClass of the cluster, found "gold"
  Status Admit(nlohmann::ordered_json& pod, const Pod* stored = nullptr);
  const AdmissionCounts& counts() const { return counts_; }
  // Returns whether a node of the cluster has a taint that every admitted pod tolerates, so that
  // the added tolerations can change a decision.
  bool DoTolerationsMatter() const;

  // Returns the kinds that Admit() reads, in the versions that Kubernetes serves.
  static std::span<const std::string_view> Kinds();
  // Returns whether Admit() reads objects of the kind, in any version, such as "v1/LimitRange".
  static bool Reads(std::string_view kind);
  // Checks an object of such a kind, whose mistakes would otherwise let pods ask for too little.
  // Errors: kInvalidArgument, with the JSON pointer of the value that an API server refuses.
  static Status Check(std::string_view kind, const nlohmann::ordered_json& object);
  // To be called after an object of such a kind has changed.
  void Refresh() { policies_.reset(); }

 private:
  using Json = nlohmann::ordered_json;

  struct LimitDefaults {
    Json requests = Json::object();
    Json limits = Json::object();
  };
  struct Policies {
    std::map<std::string, std::vector<LimitDefaults>> limits;  // By namespace.
    std::map<std::string, Json> priority_classes;
    std::string default_class;  // The name of the global default; "" if there is none.
    std::map<std::string, Json> runtime_classes;
  };

  const Policies& policies();
  static LimitDefaults DefaultsOf(const Json& item);
  bool AddLimits(Json& pod);
  Result<bool> AddPriority(Json& spec);
  Result<bool> AddRuntimeClass(Json& spec);

  const EmbeddedCluster& cluster_;
  std::optional<Policies> policies_;  // Read from the cluster when they are needed.
  AdmissionCounts counts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CONTROL_PLANE_ADMISSION_H_
