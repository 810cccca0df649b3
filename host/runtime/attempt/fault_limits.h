// One fault of each plugin, however often it is called.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_FAULT_LIMITS_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_FAULT_LIMITS_H_

#include <deque>

#include "host/plan/instance_host.h"
#include "host/runtime/attempt/attempt.h"

namespace berth::host {

// While it exists, several passes over the plugins of one point in one attempt count one fault of
// each plugin at most, together with the what-if questions of the attempt.
// Lifetime:  the attempt must outlive it.
class FaultLimits {
 public:
  FaultLimits(Attempt& attempt, Point point);

 private:
  std::deque<FaultLimit> limits_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_FAULT_LIMITS_H_
