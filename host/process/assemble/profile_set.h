// Loads the profiles of a command and the plugins that they use.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/config/profile.h"
#include "host/config/profile_reader.h"
#include "host/plan/plan.h"
#include "host/process/assemble/plugin_set.h"

namespace berth::host {

// The profile that is used when the user names none.
inline constexpr std::string_view kDefaultProfile = "default";

// Reads a configuration file. If the file is larger than kMaxConfigBytes, returns its first
// kMaxConfigBytes + 1 bytes, which the parser rejects.
// Errors: why the file cannot be read, without its path.
Result<std::string> ReadConfigFile(const std::string& path);

// Returns the profiles that come with Berth: those beside the executable, as in a build tree, or
// else those of an installation, <prefix>/<datadir>/berth/profiles. There may be none.
ProfileFiles FindProfiles(const std::string& executable);

// Called with the path of each directory and file before it is read.
using BeforeRead = std::function<void(const std::string& path)>;

struct ProfileRequest {
  std::vector<std::string> profiles;            // Files or names. If empty, kDefaultProfile.
  std::vector<std::string> plugin_directories;  // If empty, FindPluginDirectory(executable).
  // The running program. Plugins and profiles that come with Berth are found beside it.
  std::string executable;
  std::shared_ptr<LibraryStore> libraries;
  BeforeRead before_read = {};  // May be empty.
};

struct ProfileSet {
  std::shared_ptr<const PluginSet> plugins;
  std::vector<Profile> profiles;
  std::vector<PlanSpec> specs;  // One for each profile, in the same order.
  // The libraries of the plugin directories that could not be loaded and that no profile uses: one
  // line for each, with the file and the reason.
  std::vector<std::string> warnings;
};

// Loads every plugin of the directories into `plugins`. `before_read` may be empty. Libraries that
// cannot be loaded are in plugins.broken().
// Errors: those of PluginSet::AddDirectory; a directory without a plugin library.
Status AddPluginDirectories(std::span<const std::string> directories, const BeforeRead& before_read,
                            PluginSet& plugins);

// Returns one line about a library that could not be loaded: "not loaded: <file>: <reason>".
std::string NotLoadedText(const LoadError& error);

// Loads the plugin directories, reads the profiles, loads the libraries that the profiles name, and
// expands the profiles into plan specifications. Creates no plugin.
// Errors: those of FindPluginDirectory and AddPluginDirectories; otherwise all errors in the
//         profiles, one per line. If a profile names a plugin that was not found, every library
//         that could not be loaded is listed. If an enabled plugin is in two libraries, the refused
//         one is an error too, because the other may decide differently.
Result<ProfileSet> LoadProfiles(const ProfileRequest& request);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PROFILE_SET_H_
