// Expands profiles into the specifications that plans are built from.
#ifndef BERTH_HOST_PLAN_PROFILE_PLAN_H_
#define BERTH_HOST_PLAN_PROFILE_PLAN_H_

#include <span>
#include <string>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

// Loads the libraries that the plugins of the profiles name, each with its pin, and adds them to
// `catalog`: first those of enabled plugins, then the others. A disabled plugin counts as
// installed: profiles ignore the pod fields that it handles, and pods with such fields are not
// refused.
// A library whose pin is no digest is not loaded; the reader of the profile has reported the pin.
// Errors: in `errors`: those of PluginCatalog::AddLibrary for enabled plugins; a library without
//         the plugin. The library of a disabled plugin may be missing or broken; its fields then
//         count as not handled.
// Threading: [load]; runs the constructors of libraries, and no other code of plugins.
void LoadLibraries(std::span<const Profile> profiles, PluginCatalog& catalog, ConfigErrors& errors);

// Returns for every profile which plugin runs at which point, in which order and with which weight:
//   - A plugin runs at every point that it implements or, if it has `points`, at those of them that
//     `points` names. It always runs at EnqueueExtensions, Entity, AttemptFailed, Changes and
//     HandOver.
//   - At a point, the plugins of [order] come first, then the others in the profile's order. An
//     [order] that the profile inherits from another file may name plugins that do not run there.
//   - Only Score uses the weight; 0 and no weight count as 1.
// `catalog` holds what the plugin directories and LoadLibraries() have loaded. `searched`: the
// directories that messages list for a plugin that was not found.
// Errors: in `errors`, all of them: unknown plugins, including disabled ones without a library
//         (LoadLibraries() reports those with a library); unknown points and points that the plugin
//         does not implement; an [order] of the profile's own file that names a plugin which does
//         not run there; a weight of a plugin that does not score; weights that overflow; arguments
//         that the plugin's schema forbids; not exactly one QueueSort, two plugins with Entity, no
//         Bind; two profiles with the same schedulerName, with different QueueSort plugins, or with
//         different arguments of QueueSort. If there are errors, returns an empty vector.
std::vector<PlanSpec> MakePlanSpecs(std::span<const Profile> profiles, const PluginCatalog& catalog,
                                    std::span<const std::string> searched, ConfigErrors& errors);

// Returns the plugin of a profile as plans create it.
PluginSpec MakePluginSpec(const ProfilePlugin& plugin);

// Returns the points that profiles may name, in the order in which they run for a pod.
std::vector<std::string> ProfilePoints();

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PROFILE_PLAN_H_
