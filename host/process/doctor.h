// Checks whether Berth can schedule on a cluster: `berth doctor`.
#ifndef BERTH_HOST_PROCESS_DOCTOR_H_
#define BERTH_HOST_PROCESS_DOCTOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/kubeconfig.h"
#include "host/cluster/kubernetes/leader_elector.h"
#include "host/process/run_config.h"

namespace berth::host {

struct DoctorFinding {
  enum class Level : uint8_t { kOk, kNote, kWarning, kFailure };

  std::string check;  // "connection", "version", "permissions", "clock", "lease", ...
  Level level = Level::kOk;
  std::string found;  // "1.36.2, as Berth decides"
  std::string fix;    // What to do; empty if nothing.
};

struct DoctorReport {
  std::string server;
  std::string user;  // Empty if the server does not tell.
  std::vector<DoctorFinding> findings;
  std::string missing_roles;  // RBAC in YAML; empty if nothing is missing.

  bool has_failure() const;
};

struct DoctorRequest {
  ConfigSources config;  // The profiles decide which kinds and permissions are needed.
  AccessRequest access;
  AccessEnvironment access_environment;
  Credentials::Environment credentials;
  ElectionOptions election;
  bool shadow = false;  // Only the permissions of shadow mode.
  std::function<void(std::string_view check)> progress;
};

// Runs the checks in this order; a check that others need ends the report when it fails:
//
//   configuration  host file, profiles and plugins
//   kubeconfig     the context, the server, the way of authentication; insecure settings
//   connection     DNS, TCP, proxy, TLS: each with its own text
//   credentials    401; who the server takes the client for (SelfSubjectReview); the expiry of the
//                  client certificate and of the token
//   version        /version: 1.30 to 1.37 are supported; decisions are those of 1.36
//   kinds          every kind that the plugins declare: served in which version, or not
//   permissions    one SelfSubjectAccessReview for each RequiredPermissions(); the rules that are
//                  missing as YAML
//   priority       the FlowSchema and priority level that serves this client, from the headers
//                  X-Kubernetes-PF-*: a service account outside kube-system shares workload-low
//   clock          the header Date against this machine: a note from 2 s, a warning from 5 s
//   lease          the holder, how old its renewal is, whether it is this cluster's kube-scheduler
//   pods           pending pods by schedulerName, and those whose schedulerName no profile has;
//                  pods of default-scheduler while another leader runs
//   watch          initial events: supported or not
//
// Sends only GET requests and reviews, which change nothing.
// Errors: those of the arguments, such as a kubeconfig that does not exist. Everything else is a
//         finding.
Result<DoctorReport> RunDoctor(const DoctorRequest& request);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_H_
