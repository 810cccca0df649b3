// The specifications of simulated pods and nodes, from which manifests are made.
#ifndef BERTH_TESTS_SIMULATION_SKETCH_H_
#define BERTH_TESTS_SIMULATION_SKETCH_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/api/objects.h"

namespace berth::host {

inline constexpr const char* kGpu = "example.com/gpu";
inline constexpr std::array kTaints{"t0", "t1", "t2"};
inline constexpr std::array kZones{"a", "b", "c"};

// Returns whether the pod succeeded or failed, and so no longer uses resources of its node.
inline bool HasFinished(const Pod& pod) {
  return pod.view().phase == BERTH_PHASE_SUCCEEDED || pod.view().phase == BERTH_PHASE_FAILED;
}

// Returns whether PreEnqueue rejects the pod, because of a scheduling gate or the label of a chaos
// plugin.
bool IsRejectedByPreEnqueue(const Pod& pod);

inline constexpr std::array kColors{"red", "blue"};
// Labels of nodes; some nodes lack the zone.
inline constexpr std::array kTopologyKeys{"topology.kubernetes.io/zone", "kubernetes.io/hostname"};

// A topology spread constraint, which selects pods by the label "color".
struct SpreadSketch {
  std::string key;
  std::string color;
  int64_t max_skew = 1;
  int64_t min_domains = 0;  // 0 if it is not set.
  bool is_hard = true;
  bool honors_taints = false;
  bool ignores_affinity = false;
};

// The label that namespace selectors require, and its values.
inline constexpr const char* kTeamLabel = "team";
inline constexpr std::array kTeams{"x", "y"};

enum class NamespaceSelector : uint8_t {
  kNone,
  kAll,       // An empty selector, which selects all namespaces.
  kTeamX,     // Selects the namespaces with team=x.
  kNotTeamX,  // Selects the other namespaces that exist.
};

// A term of pod affinity or anti-affinity, which selects pods by the label "color".
struct AffinitySketch {
  std::string key;
  std::string color;
  bool is_anti = true;
  bool is_required = true;
  NamespaceSelector namespaces = NamespaceSelector::kNone;
};

struct PodSketch {
  std::string name;
  std::string scheduler;
  int64_t milli_cpu = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;
  int32_t priority = 0;
  int32_t host_port = 0;                 // 0 for no host port.
  std::vector<std::string> tolerations;  // Keys of taints that are tolerated with any effect.
  std::vector<std::string> gates;
  std::string group;             // spec.schedulingGroup; empty for none.
  std::set<std::string> claims;  // Names of claims.
  std::set<std::string> disks;   // Names of GCE disks.
  std::map<std::string, std::string> node_selector;
  std::vector<SpreadSketch> spreads;
  std::vector<AffinitySketch> affinities;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  bool has_succeeded = false;

  // Returns the manifest, in the namespace "default". Keeps the node and the status of `stored`,
  // the pod in the cluster. `stored` is null for a new pod.
  std::string Json(const Pod* stored) const;
};

struct NodeSketch {
  std::string name;
  int64_t milli_cpu = 0;
  int64_t memory_mib = 0;
  int64_t pods = 0;
  int64_t gpus = 0;
  bool unschedulable = false;
  std::map<std::string, std::string> taints;  // Effects by key.
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;

  std::string Json() const;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_SKETCH_H_
