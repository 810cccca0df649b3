// The checks of `berth doctor`, as functions of what the server answered.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_CHECKS_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_CHECKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/access/access_review.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/http/transport.h"
#include "host/process/doctor/doctor_answers.h"

namespace berth::host {

// Returns a time of at least 0 for people: "3 ms", "7.2s", "51m", "3h", "12d". A time between two
// milliseconds is rounded up, so that no time is "0 ms"; longer ones are rounded down.
std::string ApproximateDuration(int64_t nanoseconds);

// The result of one check. The texts have no line ends.
struct DoctorFinding {
  enum class Level : uint8_t {
    kOk,
    kNote,     // Nothing is wrong, but the user may not expect it.
    kWarning,  // Berth works, but something is wrong or will be.
    kFailure,  // Berth cannot schedule, or a plugin cannot decide.
  };

  std::string check;  // "connection", "version", "permissions", "clock", "lease", ...
  Level level = Level::kOk;
  std::string found;     // "1.36.2"
  std::string fix = {};  // The next step for the user; empty if there is none.

  friend bool operator==(const DoctorFinding&, const DoctorFinding&) = default;
};

struct DoctorReport {
  std::string server;  // The URL; empty if the configuration could not be read.
  std::string user;    // Empty if the server does not tell.
  std::vector<DoctorFinding> findings;
  std::string missing_roles;  // RBAC objects in YAML; empty if nothing is missing.

  bool has_failure() const {
    return std::ranges::any_of(findings, [](const DoctorFinding& finding) {
      return finding.level == DoctorFinding::Level::kFailure;
    });
  }
};

// A configuration that could be read: "2 profiles, 19 plugins". `warnings`: those of
// ProfileSet.
DoctorFinding ConfigurationFinding(size_t profiles, size_t plugins,
                                   std::span<const std::string> warnings);
// A configuration that has errors, with one line for each.
DoctorFinding ConfigurationFailure(const Status& status);

// `version`: the answer to GET /version, the first request, which took `took_ns`. `source`: where
// the URL comes from. `warnings`: those of ClusterAccess. A server that answers anything but a
// redirection or an error of a gateway is reached.
DoctorFinding ConnectionFinding(const std::string& server, const std::string& source,
                                std::span<const std::string> warnings, const HttpResponse& version,
                                int64_t took_ns);

// Credentials that cannot be loaded, such as those of an exec plugin that fails.
DoctorFinding CredentialsFailure(const Status& status);
// `now_ns`: this machine's wall clock.
DoctorFinding CredentialsFinding(const ServerUser& user, const CredentialExpiry& expiry,
                                 const std::string& source, int64_t now_ns);

// Of Kubernetes 1. The newest is that of kNewestKubeVersion.
inline constexpr int kOldestMinor = 30;

// `emulated`: the version that Berth decides as.
DoctorFinding VersionFinding(const HttpResponse& version, KubeVersion emulated);

struct KindAnswer {
  std::string kind;                  // As the plugin declares it.
  std::string needed_by;             // "the plugin VolumeBinding"
  std::optional<Resource> resource;  // Nullopt if the server serves no version of the kind.
  Status error;                      // Why it is not known whether the server serves it.
};
// A server that does not serve pods or nodes cannot be scheduled. Other kinds that are not served
// are notes, because a plugin then sees none of these objects.
DoctorFinding KindsFinding(std::span<const KindAnswer> kinds);

struct PermissionAnswer {
  Permission permission;
  Result<AccessAnswer> answer;
};
// Returns "list storage.k8s.io/csinodes", "update coordination.k8s.io/leases kube-scheduler in
// kube-system".
std::string PermissionText(const Permission& permission);
// Returns the permissions that the server denies.
std::vector<Permission> MissingPermissions(std::span<const PermissionAnswer> permissions);
// Missing permissions are a failure if one of them is not optional, otherwise a warning.
DoctorFinding PermissionsFinding(std::span<const PermissionAnswer> permissions);

// `ahead_ns`: see ClockSkew::AheadNs(). A note from two seconds on, a warning from five.
DoctorFinding ClockFinding(std::optional<int64_t> ahead_ns);

// `leader_elect`: whether Berth takes part in the election. If it does not, the lease is not read.
DoctorFinding LeaseFinding(bool leader_elect, const LeaseState& state);

// `profiles`: the schedulerNames of the profiles. `rival`: the lease of a scheduler that places the
// pods of the same schedulerName; nullopt if there is none.
DoctorFinding PodsFinding(const PendingPods& pods, std::span<const std::string> profiles,
                          const std::optional<LeaseState>& rival);
// The pods of the profiles that have no place, and why. That some have none is ok; a pod that Berth
// cannot read, and will never place, is a warning. REQUIRES: the pods are known.
DoctorFinding PlacementFinding(const PendingPods& pods, std::span<const std::string> profiles);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_CHECKS_H_
