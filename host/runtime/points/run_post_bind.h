// PostBind: notifies plugins that the pod was bound.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_POST_BIND_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_POST_BIND_H_

#include "host/runtime/attempt/attempt.h"

namespace berth::host {

// Calls every PostBind plugin, in order. Threading: [event].
void RunPostBind(const Binding& binding);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_POST_BIND_H_
