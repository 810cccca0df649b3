// Reads profiles from TOML files.
#ifndef BERTH_HOST_CONFIG_PROFILE_READER_H_
#define BERTH_HOST_CONFIG_PROFILE_READER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

inline constexpr size_t kMaxExtends = 16;           // The longest chain of `extends`.
inline constexpr size_t kMaxProfilePlugins = 1000;  // Per file.

// Gives access to the files of profiles.
struct ProfileFiles {
  // Returns the content of a file, or the error of reading it. Must be set.
  std::function<Result<std::string>(const std::string& path)> read;
  // The folder and the names ("default") of the profiles that are installed with Berth. Empty if
  // there are none.
  std::string shipped_folder;
  std::vector<std::string> shipped_names;
  // The folders in which installed profiles were searched, for messages.
  std::vector<std::string> searched = {};
};

// Resolves the profile `name` as written in `file`. A bare name, without a slash and without
// ".toml", is that of an installed profile and never another file. Everything else is a path
// relative to the folder of `file`. Returns an empty string for a bare name if no profiles are
// installed.
std::string ProfilePath(std::string_view name, std::string_view file, const ProfileFiles& files);

// Reads the profile `name` and everything that it extends. These rules apply:
//   - A profile inherits what it does not set: schedulerName, the plugins in their order, and
//     [order] per point. Without `extends` it inherits only kDefaultSchedulerName.
//   - An entry for an inherited plugin keeps the plugin's position and everything that the entry
//     does not set. Tables in the arguments are merged, all other values are replaced. A new
//     library removes the inherited sha256.
//   - A new plugin is appended. `before` and `after` move a plugin directly before or after
//     another, in the order of the file. If some of them do not hold afterwards, the plugins are
//     sorted so that all hold; the order of the others is kept.
// Returns: everything that could be read, so that more errors can be found in it; nothing if the
//          file could not be read, or is not TOML.
// Errors: all errors are added to `errors`. The profile is not checked against plugins: see
//         Profile.
std::optional<Profile> ReadProfile(const std::string& name, const ProfileFiles& files,
                                   ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_READER_H_
