// HandOver: passes the states of the instances of a replaced plan to their successors.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_HAND_OVER_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_HAND_OVER_H_

#include "host/plan/plan.h"

namespace berth::host {

// Calls `save` of each plugin of `from` that `to` has too, and passes what it wrote to `restore` of
// the plugin in `to`, if both implement the point. A quarantined plugin is called too. Logs each
// state that was handed over, and each failure and refusal with both versions of the plugin and
// that of the state. A plugin without a state begins without one; this is no error.
//
// Called:    between scheduling cycles, before Plan::Begin() of `to`.
// Threading: the scheduling thread.
void RunHandOver(const Plan& from, const Plan& to);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_HAND_OVER_H_
