// Which cases run: the committed rule.
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

// Of claims VolumeBinding answers for: a case whose expectation does not name it runs without it.
inline constexpr std::string_view kVolumes = "/spec/volumes";

// What the case needs and this host does not have, by name: plugins, extension points, the several
// steps of a sequence. Empty: the case runs.
//
//   - the expectation names a plugin that is not built (DynamicResources' zero score, and what
//     PostFilter says, aside);
//   - the pod to place uses a field other than volumes that no plugin answers for, or another pod
//     has a pod (anti-)affinity, which works on others;
//   - default spreading or an added affinity in the profile's arguments would apply;
//   - the profile enables a plugin for one point where this host does not call that point.
std::set<std::string> MissingFor(const nlohmann::json& a_case, const KubeProfile& profile,
                                 std::span<const AnyObject> objects, const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_RULE_H_
