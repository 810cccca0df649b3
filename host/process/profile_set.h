// The profiles and plugins that a command works with.
#ifndef BERTH_HOST_PROCESS_PROFILE_SET_H_
#define BERTH_HOST_PROCESS_PROFILE_SET_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/config/profile.h"
#include "host/config/profile_reader.h"
#include "host/process/plugin_set.h"
#include "host/runtime/plan.h"

namespace berth::host {

// The profile that runs when none is named.
inline constexpr std::string_view kDefaultProfile = "default";

// The content of a file of configuration, or of the start of one that is too long to be one.
// Errors: why it cannot be read, without its path.
Result<std::string> ReadConfigFile(const std::string& path);

// The profiles that come with the host: those beside the executable, as in a build tree, else those
// of an installation, <prefix>/<datadir>/berth/profiles. There may be none.
ProfileFiles FindProfiles(const std::string& executable);

struct ProfileRequest {
  std::vector<std::string> profiles;  // Files or names; empty: kDefaultProfile.
  std::vector<std::string> plugin_directories;
  std::shared_ptr<LibraryStore> libraries;  // Of the process.
  // Told of each directory and library before it is looked at. May be empty.
  std::function<void(const std::string& path)> looks_at;
};

struct ProfileSet {
  std::shared_ptr<const PluginSet> plugins;
  std::vector<Profile> profiles;
  std::vector<PlanSpec> specs;  // Of the profiles, in their order.
};

// Loads every plugin of the directories. `looks_at`: see ProfileRequest.
// Errors: a directory that cannot be read, has no plugin, or one that cannot be loaded.
Status AddPluginDirectories(std::span<const std::string> directories,
                            const std::function<void(const std::string& path)>& looks_at,
                            PluginSet& plugins);

// Loads the directories, reads the profiles, loads the libraries that they name, and says which
// plugin runs where. No plugin is created.
// Errors: a directory without a plugin, or with one that cannot be loaded (without it, decisions
//         would differ in silence); else everything that is wrong with the profiles, one a line.
Result<ProfileSet> LoadProfiles(const ProfileRequest& request, const ProfileFiles& files);

// Creates the plugins of these profiles, against a cluster without nodes, and drops them again:
// they have the last word on their arguments.
// Errors: what they say, one a line.
Status TryPlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_PROFILE_SET_H_
