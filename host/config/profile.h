// One profile as plain values: what its file says once everything that it extends has been read
// into it. It knows no plugin: whether there is one of that name, what it implements and which
// arguments it takes is for those who make a plan of it.
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

// The name that pods have in spec.schedulerName unless they say another.
inline constexpr std::string_view kDefaultSchedulerName = "default-scheduler";

// Whether pods can be expected to say it: it is not empty, and no byte of it is a space or a
// control character.
bool IsSchedulerName(std::string_view name);
inline constexpr std::string_view kExpectedSchedulerName =
    "the name of a scheduler, without spaces and control characters";

// A plugin's arguments and where each of them was said.
struct ProfileArgs {
  nlohmann::json value;  // Null: none were given. Else an object.
  // By JSON pointer into `value`; "" is the whole. What is not there was said where the nearest
  // part above it was.
  std::map<std::string, ConfigPlace, std::less<>> places;

  // Of the part at `pointer`, or of the nearest part above it that has one.
  ConfigPlace PlaceOf(std::string_view pointer) const;

  friend bool operator==(const ProfileArgs& a, const ProfileArgs& b) { return a.value == b.value; }
};

// One entry of [[plugins]]. What is nullopt was not said, by this profile or one that it extends.
struct ProfilePlugin {
  Placed<std::string> name;               // Where the entry begins that said something last.
  std::optional<Placed<bool>> enabled;    // Not said: it is.
  std::optional<Placed<int64_t>> weight;  // Of its score, >= 0. Not said, and 0: 1.
  // Who has the plugin. Not said: one of the plugin directories. A path that was relative to the
  // profile's file is relative to the working directory here.
  std::optional<Placed<std::string>> library;
  std::optional<Placed<std::string>> sha256;  // 64 hexadecimal digits; only with `library`.
  // Said by the profile itself, and carried out already in the order of Profile::plugins.
  std::optional<Placed<std::string>> before;
  std::optional<Placed<std::string>> after;
  // The points at which it runs, "Filter"; not said: all that it implements. Those without a place
  // in the scheduling of a pod, EnqueueExtensions and Changes, come with it and are never named.
  std::optional<std::vector<Placed<std::string>>> points;
  ProfileArgs args;

  bool is_enabled() const { return !enabled.has_value() || enabled->value; }

  friend bool operator==(const ProfilePlugin&, const ProfilePlugin&) = default;
};

// One key of [order]: at `point` these plugins run first, in this order; then those of the profile
// that are not named, in the profile's order.
struct ProfileOrder {
  Placed<std::string> point;
  std::vector<Placed<std::string>> plugins;

  friend bool operator==(const ProfileOrder&, const ProfileOrder&) = default;
};

// A value. Threading: none of its own.
struct Profile {
  std::string file;  // As messages call it; empty: it was made by a program.
  // False: it may have had plugins that could not be read. How many it has of a kind says nothing.
  bool is_complete = true;
  // Empty: it could not be read.
  Placed<std::string> scheduler_name{std::string(kDefaultSchedulerName), {}};
  // In the profile's order, those that are not enabled included: who extends it may enable them.
  // Names are unique.
  std::vector<ProfilePlugin> plugins;
  // Points are unique, and names within one; in the order of the alphabet.
  std::vector<ProfileOrder> order;

  // nullptr: there is none of this name. Lifetime: until `plugins` changes.
  const ProfilePlugin* Find(std::string_view plugin) const;

  friend bool operator==(const Profile& a, const Profile& b) {
    return a.scheduler_name == b.scheduler_name && a.plugins == b.plugins && a.order == b.order;
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_PROFILE_H_
