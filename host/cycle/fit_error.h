// Why a pod fits nowhere, in kube-scheduler's words.
#ifndef BERTH_HOST_CYCLE_FIT_ERROR_H_
#define BERTH_HOST_CYCLE_FIT_ERROR_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime/attempt.h"

namespace berth::host {

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
//
// Reasons are counted over nodes and sorted as strings, counts included. A rejection by PreFilter
// stands in place of the reasons per node. `post_filter`, when not empty, follows behind.
// (kube-scheduler: pkg/scheduler/framework/types.go, FitError.Error)
std::string FitErrorMessage(const Attempt& attempt, std::string_view post_filter);

// The same of one node alone: the one that a pod was given and lost again by Reserve or Permit.
std::string OneNodeFitError(std::span<const std::string> reasons);

// What is said of nodes that a PreFilter plugin's subset leaves out.
std::string AbsentReason(const Attempt& attempt);

// Who made the pod unschedulable, sorted. Only their events wake the pod.
// (kube-scheduler: pkg/scheduler/framework/types.go, Diagnosis.AddPluginStatus)
struct RejectorNames {
  // Those that rejected a node, the one that rejected in PreFilter, and those that named a subset
  // of nodes.
  std::vector<std::string> plugins;
  // Those that answered Pending for some node; a plugin may be in both.
  std::vector<std::string> pending;
};
RejectorNames RejectedBy(const Attempt& attempt);

// All of them, sorted.
std::vector<std::string> Rejectors(const Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_FIT_ERROR_H_
