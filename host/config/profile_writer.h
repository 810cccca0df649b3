// Writes profiles as TOML.
#ifndef BERTH_HOST_CONFIG_PROFILE_WRITER_H_
#define BERTH_HOST_CONFIG_PROFILE_WRITER_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "host/config/profile.h"

namespace berth::host {

// The names of plugins to be written as comments.
using CommentedPlugins = std::set<std::string, std::less<>>;

// Returns the text of a complete profile, without `extends`. ReadProfile() of the text returns an
// equal profile, without the plugins of `commented`: their entries, and their names in [order], are
// written in their positions as comments. `heading`, of any number of lines, is written at the top
// as a comment.
// REQUIRES: arguments contain no null, and no numbers that are not finite or exceed int64.
std::string WriteProfile(const Profile& profile, std::string_view heading,
                         const CommentedPlugins& commented = {});

// Returns `text` as a TOML string on one line.
std::string TomlString(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_WRITER_H_
