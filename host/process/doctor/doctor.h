// Checks whether Berth can schedule on a cluster: `berth doctor`.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/access_review.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/assemble/session.h"
#include "host/process/doctor/doctor_answers.h"
#include "host/process/doctor/doctor_checks.h"

namespace berth::host {

// The needs of a scheduler, and how this process reaches the cluster.
struct ClusterExam {
  // The access. `server` is the URL; `source` and `warnings` are those of ClusterAccess.
  std::string server;
  std::string source;
  std::vector<std::string> warnings = {};
  // Returns when the credentials expire. Called after the first request.
  std::function<CredentialExpiry()> expiry;

  std::vector<std::string> profiles;  // The schedulerNames.
  KindUsers users;
  bool evicts = false;  // A profile has plugins that may delete pods.
  bool leader_elect = true;
  ElectionOptions election;
  bool shadow = false;        // Only the permissions to read are needed, and no lease.
  DecodeOptions decode = {};  // That of the scheduler.
  KubeVersion emulated_version = kNewestKubeVersion;

  std::function<int64_t()> steady_ns;
  std::function<int64_t()> wall_ns;
  std::function<void(std::string_view check)> progress = {};  // May be empty.
};

// The pods that are read; a cluster with more pending pods is not counted to its end.
inline constexpr size_t kMaxPendingPods = 10'000;
// The pages that are read at most: twice as many as kMaxPendingPods need. A server may send pages
// without pods and without an end.
inline constexpr size_t kMaxPendingPages = 80;

// Appends the findings "connection" to "placement" to the report, in the order of RunDoctor(). Ends
// after a failed connection, and after refused credentials. Sends GET requests and reviews only,
// one after the other.
void ExamineCluster(const ClusterExam& exam, const Send& send, DoctorReport& report);

struct DoctorRequest {
  // The profiles decide which kinds and permissions are needed. Neither the log level, nor the
  // seed, nor requests are used.
  ProcessOptions process;
  ClusterTarget target;
  bool shadow = false;  // Only the permissions of shadow mode.
  // Called with the name of each check before it begins. May be empty.
  std::function<void(std::string_view check)> progress = {};
  LogSink* log = nullptr;  // Must be set.
};

// Runs the checks in this order. A failure of one of the first three ends the report, because the
// others need them:
//
//   configuration  host file, profiles and plugins, which are created once
//   connection     DNS, TCP, proxy, TLS, each with its own text; the version of TLS and the time of
//                  the first answer; insecure settings
//   credentials    401; who the server takes the client for (SelfSubjectReview); the expiry of the
//                  client certificate and of the token
//   version        /version: 1.30 to 1.37 are supported; compared with the emulated version
//   kinds          every kind that the plugins of the profiles declare: served, or not
//   permissions    one SelfSubjectAccessReview for each of RequiredPermissions(); the missing rules
//                  as YAML
//   clock          the header Date against this machine: a note from 2 s, a warning from 5 s
//   lease          the holder, and how old its renewal is
//   pods           pending pods by schedulerName; a warning if another scheduler places the pods of
//                  default-scheduler, too
//   placement      how many of them had no place at the last attempt, and why; how many have
//                  scheduling gates; a warning for those that Berth cannot read
//
// With DoctorRequest::shadow, there is no check of the lease, and no permission to write is needed.
//
// Sends only GET requests and reviews, which change nothing.
// Threading: blocks the calling thread.
// Errors: those of the arguments, such as a kubeconfig, a host file or an exec plugin that does not
//         exist. Everything else is a finding.
Result<DoctorReport> RunDoctor(const DoctorRequest& request);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_H_
