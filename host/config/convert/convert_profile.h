// Profiles out of a KubeSchedulerConfiguration.
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
  Profile profile;          // Complete, what is not here included.
  CommentedPlugins absent;  // The plugins of `profile` that are not here.
  bool is_usable = true;    // False: nothing that is here sorts the queue, or nothing binds.
};

// Says what upstream would run, in Berth's words. At every point the plugins that are here run in
// upstream's order, with its weights; where that is not the profile's order, [order] says so.
//   - A plugin of upstream that scores has its PreScore, even where upstream has none or the file
//     disables it: Berth's plugins do there what upstream's do at Score. So have NodeVolumeLimits
//     and VolumeZone their PreFilter where they filter.
//   - What is enabled and runs nowhere, and what has arguments alone, is there and not enabled.
// Errors: everything that upstream or a plugin's schema refuses, in `errors`.
// Warnings: in `warnings`: what decisions will lack, each by its path.
std::vector<ConvertedProfile> ConvertKubeConfig(const KubeSchedulerConfig& config,
                                                const KnownPlugins& known, ConfigErrors& errors,
                                                ConfigErrors& warnings);

// The text of the profile's file. `source` says what it was made from: "kube.yaml, profiles[0]".
std::string WriteConverted(const ConvertedProfile& converted, const std::string& source);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_CONVERT_PROFILE_H_
