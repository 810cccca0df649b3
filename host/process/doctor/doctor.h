// Checks whether Berth can schedule on a cluster: `berth doctor`.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_H_

#include <functional>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/process_options.h"
#include "host/process/doctor/doctor_report.h"

namespace berth::host {

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
//   version        /version: 1.30 to 1.37 are supported; decisions are those of 1.36
//   kinds          every kind that the plugins of the profiles declare: served, or not
//   permissions    one SelfSubjectAccessReview for each of RequiredPermissions(); the missing rules
//                  as YAML
//   clock          the header Date against this machine: a note from 2 s, a warning from 5 s
//   lease          the holder, and how old its renewal is
//   pods           pending pods by schedulerName; a warning if another scheduler places the pods of
//                  default-scheduler, too
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
