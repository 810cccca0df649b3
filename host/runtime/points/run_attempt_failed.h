// AttemptFailed: tells plugins why an attempt of a pod of their profile failed.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_ATTEMPT_FAILED_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_ATTEMPT_FAILED_H_

#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/plan/plan.h"

namespace berth::host {

// Why an attempt failed. Lifetime: the views are those of the caller.
struct FailedAttempt {
  const berth_pod& pod;
  berth_code code;
  std::string_view node;                       // The node that the pod had been given; empty: none.
  std::string_view message;                    // The text of the pod's condition.
  std::vector<std::string_view> plugins = {};  // The names of the plugins that rejected the pod.
  bool is_parked = false;
  bool is_final = false;
};

// Calls every plugin of the plan that has the point, in the order of the plan.
// Threading: [event].
void RunAttemptFailed(const Plan& plan, const FailedAttempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_ATTEMPT_FAILED_H_
