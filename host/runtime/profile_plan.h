// What a plan is built from, out of profiles.
#ifndef BERTH_HOST_RUNTIME_PROFILE_PLAN_H_
#define BERTH_HOST_RUNTIME_PROFILE_PLAN_H_

#include <span>
#include <string>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/plan.h"

namespace berth::host {

// Loads the libraries that plugins name, each with its pin, and adds them to `catalog`: first those
// of enabled plugins, then those of the others. What a profile leaves out is installed all the
// same, so that the pod fields that it answers for are ignored there, and no pod is refused for
// them.
// Errors: in `errors`: those of PluginCatalog::AddLibrary, for enabled plugins; a library without
//         the plugin. The library of one that is not enabled may be missing or broken: that is what
//         the toggle is for. Then nobody answers for its fields.
// Threading: [load]; runs the constructors of libraries, and no other code of plugins.
void LoadLibraries(std::span<const Profile> profiles, PluginCatalog& catalog, ConfigErrors& errors);

// Says for every profile which plugin runs at which point, in which order and with which weight:
//   - A plugin runs at every point that it implements, or, of these, at those that `points` names;
//     EnqueueExtensions and Changes always come with it.
//   - At a point, the plugins of [order] come first; then the others, in the profile's order. An
//     [order] that the profile has from another file may name plugins that do not run there.
//   - A weight counts at Score alone; 0, and none, is 1.
// `catalog` holds what the plugin directories and LoadLibraries() have loaded; `searched` is what
// messages say of where plugins were looked for.
// Errors: in `errors`, all of them: plugins that there are not, disabled ones without a library
//         included (where one has a library, LoadLibraries() has said it); points that there are
//         not or that the plugin does not implement; [order] of the profile's own file, of a plugin
//         that does not run there; a weight of a plugin that does not score; weights that overflow;
//         arguments that the plugin's schema forbids; not exactly one QueueSort, no Bind; two
//         profiles with one schedulerName, with different QueueSort plugins, or with different
//         arguments of theirs. Then nothing is returned.
std::vector<PlanSpec> MakePlanSpecs(std::span<const Profile> profiles, const PluginCatalog& catalog,
                                    std::span<const std::string> searched, ConfigErrors& errors);

// The points that profiles may name, in the order in which a pod meets them.
std::vector<std::string> ProfilePoints();

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PROFILE_PLAN_H_
