// What if other pods were on a node, or gone from it: Filters on a private row with state of its
// own. Serves nominated pods and berth.whatif/1.
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
// change it. What the others have prepared, Filter only reads.
// Threading: [cycle].
// Lifetime:  of one question within one attempt, between PreFilter and the end of PostFilter. Pods
//            that were added must stay as long.
class WhatIf {
 public:
  // REQUIRES: the row is live. Errors: Internal when a plugin cannot clone its state.
  static Result<std::unique_ptr<WhatIf>> Begin(Attempt& attempt, Row row);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // Puts a pod on the row, or takes one off, and tells the plugins whose PreFilter has AddPod and
  // RemovePod and did not skip. Errors: `running AddPod on PreFilter plugin "X": ...`; a pod that
  // is not on the row cannot be taken off. After an error the row is of no more use.
  PluginStatus AddPod(const berth_pod& pod);
  PluginStatus RemovePod(const berth_pod& pod);
  // The row's verdict by all Filters.
  PluginStatus RunFilters();
  // The same, by number. Returns: success, whatever the verdict is; an error when a plugin failed.
  PluginStatus RunFilters(RowVerdict& verdict);
  // The same with the row's nominated pods of equal or higher priority counted in first: both must
  // pass. (kube-scheduler: RunFilterPluginsWithNominatedPods)
  PluginStatus RunFiltersWithNominated(const Nominator& nominator);

 private:
  struct Clone;

  explicit WhatIf(Attempt& attempt);
  // The same row with the same pods, and clones of the clones.
  Result<std::unique_ptr<WhatIf>> Copy() const;
  // Makes a cycle of its own for every plugin that is asked. `from`: what is cloned; null: the
  // attempt itself.
  Status CloneState(const WhatIf* from);
  PluginStatus TellPlugins(bool added, const berth_pod& pod);

  Attempt& attempt_;
  PrivateRows rows_;
  std::deque<Clone> clones_;
  std::vector<Clone*> clone_of_;      // By plugin; null: it is not asked.
  std::vector<PluginCycle*> cycles_;  // Of those.
};

// Whether a nominated pod counts for one that looks for a node: another one, of equal or higher
// priority, that no scheduling gate holds back. (kube-scheduler:
// pkg/scheduler/framework/runtime/framework.go, addGENominatedPods)
bool CountsForOthers(const berth_pod& nominated, const berth_pod& pod);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_WHAT_IF_H_
