// One profile as plain values: the content of its file after everything that it extends has been
// merged into it. The profile is not checked against plugins: whether a plugin exists, what it
// implements and which arguments it takes is checked when a plan is made from the profile.
#ifndef BERTH_HOST_CONFIG_PROFILE_H_
#define BERTH_HOST_CONFIG_PROFILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"

namespace berth::host {

// The default of spec.schedulerName in pods.
inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

// Returns whether the name is valid: not empty, without spaces and control characters.
bool IsSchedulerName(std::string_view name);
inline constexpr std::string_view kExpectedSchedulerName =
    "the name of a scheduler, without spaces and control characters";

// A plugin's arguments with the place of each of them.
struct ProfileArgs {
  nlohmann::json value;  // An object; null if no arguments were given.
  // The places by JSON pointer into `value`; "" is the whole. A part without an entry has the place
  // of its nearest ancestor with an entry.
  std::map<std::string, ConfigPlace, std::less<>> places = {};
  // The numbers that are no integers, as the file writes them, by JSON pointer: "1e1". A null with
  // an entry stands for a value that JSON does not have, which was reported as an error.
  std::map<std::string, std::string, std::less<>> texts = {};

  // Returns the place of the part at `pointer`, or of its nearest ancestor with a place.
  ConfigPlace PlaceOf(std::string_view pointer) const;

  friend bool operator==(const ProfileArgs& a, const ProfileArgs& b) { return a.value == b.value; }
};

// One entry of [[plugins]]. Members that are nullopt were set neither by this profile nor by one
// that it extends.
struct ProfilePlugin {
  Placed<std::string> name;               // The place is that of the last entry merged into it.
  std::optional<Placed<bool>> enabled;    // Enabled if not set.
  std::optional<Placed<int64_t>> weight;  // The score's weight, >= 0. 1 if not set or 0.
  // How long a call of the plugin may take, > 0; see PlanSpec. That of the process if not set.
  std::optional<Placed<int64_t>> deadline_ns;
  // The path of the plugin's library, relative to the working directory (not to the profile's
  // file). If not set, the plugin is in one of the plugin directories.
  std::optional<Placed<std::string>> library;
  // 64 hexadecimal digits; only with `library`. If there was an error, another text, or none.
  std::optional<Placed<std::string>> sha256;
  // Set by the profile's own file, and already applied to the order of Profile::plugins.
  std::optional<Placed<std::string>> before;
  std::optional<Placed<std::string>> after;
  // The points at which the plugin runs, such as "Filter"; all that it implements if not set.
  // EnqueueExtensions, Entity, AttemptFailed, Changes and HandOver, which are not stages of
  // scheduling a pod, are always included and never listed.
  std::optional<std::vector<Placed<std::string>>> points;
  ProfileArgs args;

  bool is_enabled() const { return !enabled.has_value() || enabled->value; }

  friend bool operator==(const ProfilePlugin&, const ProfilePlugin&) = default;
};

// One key of [order]: at `point`, these plugins run first, in this order; the other plugins of the
// profile follow in the profile's order.
struct ProfileOrder {
  Placed<std::string> point;
  std::vector<Placed<std::string>> plugins;

  friend bool operator==(const ProfileOrder&, const ProfileOrder&) = default;
};

// A plain value. Threading: none of its own.
struct Profile {
  std::string file;  // Its name in messages; empty for a profile made by a program.
  // False if some plugins may be missing because they could not be read. Counts of plugins are then
  // meaningless.
  bool is_complete = true;
  // Empty if it could not be read.
  Placed<std::string> scheduler_name{std::string(kDefaultSchedulerName), {}};
  // The plugins in the profile's order, including disabled ones, which a profile that extends this
  // one may enable. Names are unique.
  std::vector<ProfilePlugin> plugins;
  // The [order] entries, sorted by point. Points are unique, and so are the names within one point.
  std::vector<ProfileOrder> order;

  // Returns the plugin of this name; nullptr if there is none. Lifetime: until `plugins` changes.
  const ProfilePlugin* Find(std::string_view plugin) const;

  friend bool operator==(const Profile& a, const Profile& b) {
    return a.scheduler_name == b.scheduler_name && a.plugins == b.plugins && a.order == b.order;
  }
};

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

// Returns whether the text is a digest: 64 hexadecimal digits.
bool IsSha256(std::string_view text);

// Returns the prefix of a plugin's keys in messages: `plugin "ImageLocality": `.
std::string PluginContext(const std::string& plugin);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_H_
