// KubeSchedulerConfiguration v1 (kubescheduler.config.k8s.io/v1) as plain values: the content of
// the file, before any defaults. All names of the versions that Berth emulates are known.
#ifndef BERTH_HOST_CONFIG_CONVERT_KUBE_CONFIG_H_
#define BERTH_HOST_CONFIG_CONVERT_KUBE_CONFIG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

// The extension points of kube-scheduler that Berth has, by Berth's names; a file spells them
// "preEnqueue".
inline constexpr std::array<std::string_view, 12> kKubePoints = {
    "PreEnqueue", "QueueSort", "PreFilter", "Filter",  "PostFilter", "PreScore",
    "Score",      "Reserve",   "Permit",    "PreBind", "Bind",       "PostBind"};

// Returns the file's spelling of a point: "preFilter" for "PreFilter".
std::string KubePointKey(std::string_view point);

struct KubePluginEntry {
  Placed<std::string> name;
  std::optional<Placed<int64_t>> weight;  // >= 0
  std::string path;                       // "profiles[0].plugins.score.enabled[1]"
};

// Returns the entry of the plugin, or nullptr if there is none. Lifetime: until `entries` changes.
const KubePluginEntry* FindEntry(const std::vector<KubePluginEntry>& entries,
                                 std::string_view plugin);

struct KubePluginSet {
  std::vector<KubePluginEntry> enabled;
  std::vector<KubePluginEntry> disabled;  // May contain "*".

  bool Enables(std::string_view plugin) const { return FindEntry(enabled, plugin) != nullptr; }
  bool Disables(std::string_view plugin) const { return FindEntry(disabled, plugin) != nullptr; }
};

struct KubePluginArgs {
  Placed<std::string> name;
  ProfileArgs args;  // The arguments without apiVersion and kind; null if there are none.
  std::string path;  // "profiles[0].pluginConfig[2]"
};

struct KubeSchedulerProfile {
  Placed<std::string> scheduler_name;
  KubePluginSet multi_point;
  std::map<std::string, KubePluginSet, std::less<>> points;  // Keyed by point name, "Filter".
  std::vector<KubePluginArgs> args;
  std::string path;   // "profiles[0]"
  ConfigPlace place;  // Where the profile begins; the file as a whole for the default profile.

  const KubePluginSet& At(std::string_view point) const;
  const KubePluginArgs* FindArgs(std::string_view plugin) const;
};

struct KubeSchedulerConfig {
  std::vector<KubeSchedulerProfile> profiles;  // At least one: the default profile if none is set.
};

// Reads the text of a file, YAML or JSON. `file` is its name in messages.
// Errors: are added to `errors`: unknown keys, invalid types and values, missing and repeated
//         names. For everything that is converted, these are all errors that kube-scheduler
//         reports; for the rest, those of ReadIgnoredKeys(). Returns nothing if the file could not
//         be read as a KubeSchedulerConfiguration v1.
// Warnings: everything that has no meaning in Berth is added to `warnings`, by its path and with
//           the reason.
std::optional<KubeSchedulerConfig> ReadKubeConfig(std::string_view text, const std::string& file,
                                                  ConfigErrors& errors, ConfigErrors& warnings);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_KUBE_CONFIG_H_
