// Converts a KubeSchedulerConfiguration into profiles.
#ifndef BERTH_HOST_CONFIG_CONVERT_CONVERT_PROFILE_H_
#define BERTH_HOST_CONFIG_CONVERT_CONVERT_PROFILE_H_

#include <string>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/convert/kube_config.h"
#include "host/config/convert/kube_plan.h"
#include "host/config/profile.h"
#include "host/config/profile_writer.h"

namespace berth::host {

struct ConvertedProfile {
  Profile profile;          // The complete profile, including unavailable plugins.
  CommentedPlugins absent;  // The plugins of `profile` that are not available.
  bool is_usable = true;    // False if no available plugin sorts the queue, or none binds pods.
};

// Returns profiles that run what this version of kube-scheduler would run. At every point, the
// available plugins run in kube-scheduler's order, with its weights; where that differs from the
// profile's order, [order] lists them.
//   - A plugin of kube-scheduler that runs at Score also runs at PreScore, even if kube-scheduler's
//     plugin has no PreScore or the file disables it: at PreScore, Berth's plugins do work that
//     kube-scheduler's do at Score. NodeVolumeLimits and VolumeZone run at PreFilter if they run at
//     Filter.
//   - A plugin that is enabled but runs at no point, or only has arguments, is written as disabled.
// Errors: everything that kube-scheduler or a plugin's schema rejects is added to `errors`.
// Warnings: everything that the scheduling decisions will lack is added to `warnings`, by its path,
//           and names of unknown plugins under `disabled`.
std::vector<ConvertedProfile> ConvertKubeConfig(const KubeSchedulerConfig& config,
                                                const KnownPlugins& known, KubeVersion version,
                                                ConfigErrors& errors, ConfigErrors& warnings);

// Returns the text of the profile's file. `source` describes the source: "kube.yaml, profiles[0]".
// `version`: that of ConvertKubeConfig().
std::string WriteConverted(const ConvertedProfile& converted, const std::string& source,
                           KubeVersion version);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_CONVERT_PROFILE_H_
