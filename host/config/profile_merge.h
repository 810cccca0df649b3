// A profile from what it extends and what it says itself.
#ifndef BERTH_HOST_CONFIG_PROFILE_MERGE_H_
#define BERTH_HOST_CONFIG_PROFILE_MERGE_H_

#include <vector>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

// Says `over` over `base`: tables merge, all else is replaced.
void MergeArgs(ProfileArgs& base, ProfileArgs over);

// Says `entry` over the plugin of its name, or adds it as the last one.
void MergePlugin(std::vector<ProfilePlugin>& plugins, ProfilePlugin entry);

// Moves the plugins that say `before` or `after` directly there, in the order of `entries`, the
// entries of the profile's own file. Where that leaves one that does not hold, all are sorted:
// of those that may come next, the one that stood first. With `complete` false, some plugins may be
// missing: names are not looked for.
// Errors: a name that there is not, or the plugin's own; wishes that go round in a circle.
void MovePlugins(const std::vector<ProfilePlugin>& entries, bool complete,
                 std::vector<ProfilePlugin>& plugins, ConfigErrors& errors);

// What messages say before the keys of a plugin: `plugin "ImageLocality": `.
std::string PluginContext(const std::string& plugin);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_MERGE_H_
