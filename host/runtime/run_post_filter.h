// PostFilter: no node fits; can room be made?
#ifndef BERTH_HOST_RUNTIME_RUN_POST_FILTER_H_
#define BERTH_HOST_RUNTIME_RUN_POST_FILTER_H_

#include <string>

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

struct PostFilterResult {
  // Success; UnschedulableAndUnresolvable as the plugin gave it; Unschedulable with the reasons of
  // all, and the first that was asked as the plugin; otherwise an error in the plugin's own words.
  PluginStatus status;
  // What the plugin that ended it said of the nomination; where none did, the last that said
  // anything. False: it stays as it is, also after an error. True: it becomes `node`; empty: none.
  bool overrides = false;
  std::string node;
};

// Asks the PostFilter plugins in order: Success, UnschedulableAndUnresolvable and errors end it.
// One in quarantine is passed over.
// REQUIRES: Filter or PreFilter rejected the pod.
// Threading: [cycle].
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins)
PostFilterResult RunPostFilter(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_POST_FILTER_H_
