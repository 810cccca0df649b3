// Merges a profile with the profile that it extends, and orders its plugins.
#ifndef BERTH_HOST_CONFIG_PROFILE_MERGE_H_
#define BERTH_HOST_CONFIG_PROFILE_MERGE_H_

#include <vector>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

// Merges `over` into `base`: tables are merged, all other values are replaced.
void MergeArgs(ProfileArgs& base, ProfileArgs over);

// Merges `entry` into the plugin of the same name, or appends it.
void MergePlugin(std::vector<ProfilePlugin>& plugins, ProfilePlugin entry);

// Moves the plugins with `before` or `after` directly next to the named plugin, in the order of
// `entries`, the entries of the profile's own file. If some `before` or `after` does not hold
// afterwards, sorts all plugins topologically; among several possible next plugins, the one that
// came first stays first. If `complete` is false, some plugins may be missing, and unknown names
// are not reported.
// Errors: unknown names, a plugin that names itself, contradicting keys.
void MovePlugins(const std::vector<ProfilePlugin>& entries, bool complete,
                 std::vector<ProfilePlugin>& plugins, ConfigErrors& errors);

// Returns the prefix of a plugin's keys in messages: `plugin "ImageLocality": `.
std::string PluginContext(const std::string& plugin);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_MERGE_H_
