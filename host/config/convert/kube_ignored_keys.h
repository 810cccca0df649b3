// Reads the keys of a KubeSchedulerConfiguration that have no meaning in a profile. They are
// checked as strictly as the other keys, so that errors are not hidden, and then ignored.
#ifndef BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_
#define BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_

#include <string>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/config_value.h"

namespace berth::host {

// Reads leaderElection and clientConnection, whose keys belong into the host file, extenders, and
// the other top-level keys without a meaning in Berth.
// Errors: are added to `errors`: unknown keys, values of wrong types, extenders with prioritizeVerb
//         but without a weight, a second extender that binds. Relations between durations, locks,
//         bursts and managed resources are not checked.
// Warnings: each of these keys is added to `warnings` by its path, extenders one by one:
//           "extenders[0]".
// Returns the names of the resources that extenders manage with ignoredByScheduler, each once.
std::vector<Placed<std::string>> ReadIgnoredKeys(TableReader& reader, ConfigErrors& errors,
                                                 ConfigErrors& warnings);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_
