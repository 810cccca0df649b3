// Runs Filters as if other pods were on a node, or removed from it: on a private row, with cycle
// state of its own. Used for nominated pods and berth.whatif/1.
#ifndef BERTH_HOST_RUNTIME_WHAT_IF_H_
#define BERTH_HOST_RUNTIME_WHAT_IF_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cache/private_rows.h"
#include "host/queue/nominator.h"
#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// One private row, with a clone of the cycle state of each plugin whose AddPod and RemovePod may
// change it. Filter only reads the state of the other plugins.
// Threading: [cycle].
// Lifetime:  within one attempt, between PreFilter and the end of PostFilter. Pods that were added
//            must live as long.
class WhatIf {
 public:
  // REQUIRES: the row is live. Errors: Internal when a plugin cannot clone its state.
  static Result<std::unique_ptr<WhatIf>> Begin(Attempt& attempt, Row row);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // AddPod() adds a pod to the row, RemovePod() removes one; both call the plugins whose PreFilter
  // has AddPod and RemovePod and did not skip. After an error the row must not be used any more.
  // Errors: `running AddPod on PreFilter plugin "X": ...`; the pod to remove is not on the row.
  PluginStatus AddPod(const berth_pod& pod);
  PluginStatus RemovePod(const berth_pod& pod);
  // Runs all Filters and returns the verdict of the row, with its reasons.
  PluginStatus RunFilters();
  // Sets `verdict` instead. Returns: success, whatever the verdict is; an error if a plugin failed.
  PluginStatus RunFilters(RowVerdict& verdict);
  // Runs all Filters with the row's nominated pods that count against the pod added, and then
  // without them; the row must pass both times. (kube-scheduler: RunFilterPluginsWithNominatedPods)
  PluginStatus RunFiltersWithNominated(const Nominator& nominator);

 private:
  struct Clone;

  explicit WhatIf(Attempt& attempt);
  // Returns a copy of the row with its pods and its cycle state.
  Result<std::unique_ptr<WhatIf>> Copy() const;
  // Creates a PluginCycle for every plugin that is called. Copies the state from `from`, or from
  // the attempt if `from` is null.
  Status CloneState(const WhatIf* from);
  PluginStatus NotifyPlugins(bool added, const berth_pod& pod);

  Attempt& attempt_;
  PrivateRows rows_;
  std::deque<Clone> clones_;
  // Indexed by plugin; null for a plugin that is not called.
  std::vector<Clone*> clone_of_;
  std::vector<PluginCycle*> cycles_;
};

// Returns whether `pod` must leave room for a nominated pod: whether that is another pod, has the
// same or a higher priority, and has no scheduling gates. (kube-scheduler:
// pkg/scheduler/framework/runtime/framework.go, addGENominatedPods)
bool CountsAgainst(const berth_pod& nominated, const berth_pod& pod);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_WHAT_IF_H_
