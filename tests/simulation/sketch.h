// Pods and nodes as the simulated users think of them.
#ifndef BERTH_TESTS_SIMULATION_SKETCH_H_
#define BERTH_TESTS_SIMULATION_SKETCH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/api/objects.h"

namespace berth::host {

inline constexpr const char* kGpu = "example.com/gpu";

struct PodSketch {
  std::string name;
  std::string scheduler;
  int64_t milli_cpu = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;
  int32_t priority = 0;
  int32_t host_port = 0;                 // 0: none.
  std::vector<std::string> tolerations;  // Keys of taints, tolerated whatever their effect.
  std::vector<std::string> gates;
  std::string group;             // spec.schedulingGroup; empty: none.
  std::set<std::string> claims;  // Of volumes, by name.
  std::set<std::string> disks;   // For one pod on a node, by name.
  std::map<std::string, std::string> node_selector;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  bool is_over = false;  // Succeeded.

  // The manifest, in the namespace "default". `stored`: as the cluster has it, whose node and
  // status it keeps; null: it is new.
  std::string Json(const Pod* stored) const;
};

struct NodeSketch {
  std::string name;
  int64_t milli_cpu = 0;
  int64_t memory_mib = 0;
  int64_t pods = 0;
  int64_t gpus = 0;
  bool unschedulable = false;
  std::map<std::string, std::string> taints;  // Effects, by key.
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;

  std::string Json() const;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_SKETCH_H_
