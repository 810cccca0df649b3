// Profiles from TOML files.
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

inline constexpr size_t kMaxExtends = 16;           // Files that a profile extends, one the next.
inline constexpr size_t kMaxProfilePlugins = 1000;  // Of one file.

// Where profiles come from.
struct ProfileFiles {
  // The content of a file. Errors: whatever reading it says. Must be set.
  std::function<Result<std::string>(const std::string& path)> read;
  // The folder of the profiles that come with the host, and their names: "default". Empty: none.
  std::string shipped_folder;
  std::vector<std::string> shipped_names;
  // The folders in which they were looked for, for messages.
  std::vector<std::string> searched = {};
};

// The path of what `file` calls the profile `name`: a bare name, without a slash and without
// ".toml", is that of a shipped profile, and of no other file; all else is a path, relative to the
// folder of `file`. Empty: a bare name, where no profile comes with the host.
std::string ProfilePath(std::string_view name, std::string_view file, const ProfileFiles& files);

// Reads the profile that is called `name`, and all that it extends. The rules:
//   - What a profile does not say, it has from the one that it extends: schedulerName, plugins in
//     their order, [order] per point. Without `extends` there is nothing but kDefaultSchedulerName.
//   - A plugin that is there already keeps its place and what it does not set; of its arguments,
//     tables merge, all else is replaced. A new library forgets the sha256 of the old one.
//   - A plugin that is new stands last. `before` and `after` move a plugin directly before or
//     after another, in the order of the file. Where they do not all hold then, the plugins are
//     sorted so that they do; what they leave free stays as it is.
// Returns: what could be read, so that more errors can be found in it; nothing where the file could
//          not be read at all, or is not TOML.
// Errors: everything that is wrong, in `errors`. What only the plugins know is not looked at: see
//         Profile.
std::optional<Profile> ReadProfile(const std::string& name, const ProfileFiles& files,
                                   ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_READER_H_
