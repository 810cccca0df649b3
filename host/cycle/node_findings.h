// The results of the stages of one scheduling cycle that concern the nodes.
#ifndef BERTH_HOST_CYCLE_NODE_FINDINGS_H_
#define BERTH_HOST_CYCLE_NODE_FINDINGS_H_

#include "host/runtime/attempt/filtered.h"
#include "host/runtime/attempt/ranked.h"
#include "host/runtime/points/run_pre_filter.h"

namespace berth::host {

// A member has its default value if the cycle ended before its stage.
struct NodeFindings {
  PreFilterResult pre_filter = {};
  Filtered filtered = {};
  Ranked ranked = {};
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_NODE_FINDINGS_H_
