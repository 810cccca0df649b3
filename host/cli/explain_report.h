// Reports a decision as JSON, node by node.
#ifndef BERTH_HOST_CLI_EXPLAIN_REPORT_H_
#define BERTH_HOST_CLI_EXPLAIN_REPORT_H_

#include <nlohmann/json.hpp>

#include "host/cycle/schedule_one.h"
#include "host/plan/instance_context.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Reports the result of the last Decide() of `cycle`, which must be `result`. Fields that do not
// apply are absent. All lists, and the keys of all objects by node or plugin, are sorted.
//
//   code                Kubernetes' name of the code; "Skipped" for a pod that is being deleted;
//                       "Wait" for a pod that has a node and must wait on Permit
//   message             why the pod cannot be scheduled; absent on success and with "Wait"
//   preFilter           {plugin, code, reasons} of a rejection for all nodes by PreFilter
//   nodes               {<node>: {plugin, code, reasons}} of every rejected node. `plugin` is the
//                       first plugin that rejected the node; "" if PreFilter plugins restricted the
//                       pod to other nodes
//   feasible            the nodes that passed
//   nominatedNodeOnly   true: the pod's nominated node passed, and no other node was evaluated
//   scores              {<node>: {total, plugins: {<plugin>: normalised}}}; only if scoring ran
//   weights             {<plugin>: weight} of the plugins in scores
//   selected            the nodes that may be chosen: those with the highest total
//   rejectors           the plugins that made the pod unschedulable
//   chosen              the node that was chosen among `selected`
//   rejectedAt          "Reserve" or "Permit": a plugin rejected the chosen node there, or failed
//   waits               {<plugin>: timeout} of the plugins that make the pod wait on Permit
//   raw                 {<node>: {<plugin>: score}} before normalisation
//
// If an error ended the attempt, or no plugin was called, the report has only code and message.
nlohmann::ordered_json ExplainReport(const SchedulingCycle& cycle, const CycleResult& result);

// Reports a pod that PreEnqueue holds back, for which there is no attempt: code, message,
// preEnqueue {plugin, code, reasons} and rejectors.
nlohmann::ordered_json ExplainGate(const Gate& gate, const PluginIds& ids);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_EXPLAIN_REPORT_H_
