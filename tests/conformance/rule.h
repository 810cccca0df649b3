// Determines which conformance cases can run.
#ifndef BERTH_TESTS_CONFORMANCE_RULE_H_
#define BERTH_TESTS_CONFORMANCE_RULE_H_

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"
#include "host/loader/plugin_catalog.h"
#include "tests/conformance/kube_profile.h"

namespace berth::host {

// The field that VolumeBinding handles. A case whose expectation does not name VolumeBinding runs
// without it.
inline constexpr std::string_view kVolumes = "/spec/volumes";

// Returns the names of the plugins and pod fields that the case needs and that Berth does not
// support. The case can run if the result is empty. A case cannot run if
//
//   - its topic is about a plugin that Berth does not have;
//   - the outcome is null, because it is not the same in each run;
//   - the expectation names a plugin that Berth does not have, except for DynamicResources and
//     VolumeBinding with a score of 0 on every node, and for the text that PostFilter adds to
//     messages;
//   - an expected step contains a preemption, and Berth does not have DefaultPreemption;
//   - the pod to schedule uses a field other than volumes that no plugin handles, or another pod
//     has a pod affinity or anti-affinity, which affects other pods;
//   - a gated pod has a nomination, and Berth does not have SchedulingGates;
//   - the profile's arguments for default spreading or added affinity apply, and Berth does not
//     have the plugin.
//
// `expect`: the outcome in the version that is compared.
std::set<std::string> MissingFor(const nlohmann::json& a_case, const nlohmann::json& expect,
                                 const KubeProfile& profile, std::span<const AnyObject> objects,
                                 const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_RULE_H_
