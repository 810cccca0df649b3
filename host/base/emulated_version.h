// The versions of Kubernetes whose kube-scheduler Berth can decide as: emulatedVersion of the host
// file, --emulated-version. Kubernetes: "compatibility version", KEP-4330.
//
// A rule that differs between versions is one small function that takes the version. To add a
// version, add it here, and then compare the decisions: tests/conformance/record/README.md.
#ifndef BERTH_HOST_BASE_EMULATED_VERSION_H_
#define BERTH_HOST_BASE_EMULATED_VERSION_H_

#include <array>
#include <string>
#include <string_view>

#include <berth/kube_version.h>

#include "host/base/status.h"

namespace berth::host {

// In ascending order.
inline constexpr std::array kEmulatedVersions = {
    KubeVersion{.major = 1, .minor = 36},
    KubeVersion{.major = 1, .minor = 37},
};
static_assert(kEmulatedVersions.back() == kNewestKubeVersion);

// Returns "1.37".
std::string ToString(KubeVersion version);

// Returns the names of all versions: "\"1.36\" or \"1.37\"".
std::string EmulatedVersionNames();

// Reads "1.37", or "kube=1.37" as options of Kubernetes' programs have it.
// Errors: kInvalidArgument if Berth cannot decide as this version; the message says what was
//         expected.
Result<KubeVersion> ReadEmulatedVersion(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_EMULATED_VERSION_H_
