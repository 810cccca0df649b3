// Reads the answers of an API server that `berth doctor` needs.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// The user that a server takes the client for.
struct ServerUser {
  std::string name;         // Empty if the server does not tell.
  bool is_refused = false;  // 401.
  Status error;             // Why the server does not tell.
};
// Reads the answer to a SelfSubjectReview. The message of a server that denies it names the user.
ServerUser ReadSelfSubjectReview(const HttpResponse& review);

// The holder of a lease.
struct LeaseState {
  std::string name;  // "kube-system/kube-scheduler"
  bool exists = false;
  std::string holder;      // Empty if there is none.
  int64_t renewed_ns = 0;  // How long ago, by the clock of the API server.
  bool is_expired = false;
  Status error;               // Why it is not known.
  bool is_forbidden = false;  // 403: the permission to read is missing.

  bool is_held() const { return !holder.empty() && !is_expired; }
};
// `server_now_ns`: the present time of the API server's clock.
LeaseState ReadLeaseState(const std::string& ns, const std::string& name, const HttpResponse& lease,
                          int64_t server_now_ns);

// The pods without a node, by the name of their scheduler.
struct PendingPods {
  std::map<std::string, size_t, std::less<>> by_scheduler;
  bool is_complete = true;    // False: there are more.
  Status error;               // Why they are not known.
  bool is_forbidden = false;  // As in LeaseState.

  size_t total() const {
    size_t total = 0;
    for (const auto& [name, count] : by_scheduler) total += count;
    return total;
  }
};
// Adds the pods of one page of a list. Returns the token of the next page; empty for the last one.
// Errors: kInvalidArgument for what is no list of pods.
Result<std::string> AddPendingPods(std::string_view page, PendingPods& pods);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_
