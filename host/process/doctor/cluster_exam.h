// Asks an API server whether a scheduler can work with it.
#ifndef BERTH_HOST_PROCESS_DOCTOR_CLUSTER_EXAM_H_
#define BERTH_HOST_PROCESS_DOCTOR_CLUSTER_EXAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cluster/kubernetes/access/access_review.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/process/assemble/kind_users.h"
#include "host/process/doctor/credential_expiry.h"
#include "host/process/doctor/doctor_report.h"

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
  bool shadow = false;  // Only the permissions to read are needed, and no lease.

  std::function<int64_t()> steady_ns;
  std::function<int64_t()> wall_ns;
  std::function<void(std::string_view check)> progress = {};  // May be empty.
};

// The pods that are read; a cluster with more pending pods is not counted to its end.
inline constexpr size_t kMaxPendingPods = 10'000;

// Appends the findings "connection" to "pods" to the report, in the order of RunDoctor(). Ends
// after a failed connection, and after refused credentials. Sends GET requests and reviews only,
// one after the other.
void ExamineCluster(const ClusterExam& exam, const Send& send, DoctorReport& report);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_CLUSTER_EXAM_H_
