// Profiles as the text of TOML files.
#ifndef BERTH_HOST_CONFIG_PROFILE_WRITER_H_
#define BERTH_HOST_CONFIG_PROFILE_WRITER_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "host/config/profile.h"

namespace berth::host {

// Plugins of a profile that are to be comments.
using CommentedPlugins = std::set<std::string, std::less<>>;

// The text of a complete profile, without `extends`. ReadProfile() of it gives the same profile
// again, less the plugins of `commented`: their entries, and their names in [order], stand where
// they belong, behind '#'. `heading`, of any lines, stands above all as a comment.
// Arguments must not hold null, or numbers that are not finite or beyond int64.
std::string WriteProfile(const Profile& profile, std::string_view heading,
                         const CommentedPlugins& commented = {});

// `text` as TOML writes a text, in one line.
std::string TomlString(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_WRITER_H_
