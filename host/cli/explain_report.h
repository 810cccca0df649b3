// What a decision came to, node by node, as JSON.
#ifndef BERTH_HOST_CLI_EXPLAIN_REPORT_H_
#define BERTH_HOST_CLI_EXPLAIN_REPORT_H_

#include <nlohmann/json.hpp>

#include "host/cycle/schedule_one.h"
#include "host/queue/queue_policy.h"
#include "host/runtime/plugin_ids.h"

namespace berth::host {

// `decision` is what the scheduler's last Decide() or SchedulingCycle() returned. Fields that do
// not apply are absent; all lists and the keys of all objects by node or plugin are sorted.
//
//   code                Kubernetes' name of the code; "Skipped" for a pod that is being deleted
//   message             why not; absent on success
//   preFilter           {plugin, code, reasons} of the rejection on all nodes at once
//   nodes               {<node>: {plugin, code, reasons}} of every node that was rejected, by the
//                       first plugin that rejected it; "" where PreFilter plugins named the only
//                       nodes that come into question, and this is none of them
//   feasible            the nodes that passed
//   nominatedNodeOnly   true: the pod's own nominated node passed, and no other was looked at
//   scores              {<node>: {total, plugins: {<plugin>: normalised}}}; only where scoring ran
//   weights             {<plugin>: weight} of those in scores
//   selected            the nodes that may be chosen: those with the highest total
//   rejectors           the plugins that made the pod unschedulable
//   chosen              the node that was chosen among `selected`
//   raw                 {<node>: {<plugin>: score}} before normalisation
//
// A decision that ended in an error, or before any plugin was asked, has code and message alone.
nlohmann::ordered_json ExplainReport(const Scheduler& scheduler, const Decision& decision);

// The same for a pod that PreEnqueue holds back, for which no attempt takes place: code, message,
// preEnqueue {plugin, code, reasons} and rejectors.
nlohmann::ordered_json ExplainGate(const Gate& gate, const PluginIds& ids);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_EXPLAIN_REPORT_H_
