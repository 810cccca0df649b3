// What a KubeSchedulerConfiguration says and Berth has no use for: read as strictly as the rest, so
// that nobody is told less than upstream would tell, then left out.
#ifndef BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_
#define BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_

#include "host/config/config_errors.h"
#include "host/config/table_reader.h"

namespace berth::host {

// Reads leaderElection, clientConnection, extenders, and what else of the file as a whole has no
// meaning here.
// Errors: in `errors`: unknown keys, values of wrong types, extenders that prioritize without a
//         weight, a second one that binds. How times, locks, bursts and managed resources go
//         together is not looked at.
// Warnings: in `warnings`: each of these by its path, extenders one by one: "extenders[0]".
void ReadIgnoredKeys(TableReader& reader, ConfigErrors& errors, ConfigErrors& warnings);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_KUBE_IGNORED_KEYS_H_
