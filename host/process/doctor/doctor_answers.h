// Reads the answers of an API server for `berth doctor`: its user, a lease, the pending pods.
// Computes how its clock differs, and when credentials expire.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/http/transport.h"

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
  // The pods that a scheduler could not place in its last attempt, by the name of the scheduler and
  // by why: "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."
  std::map<std::string, std::map<std::string, size_t>, std::less<>> rejected = {};
  // The pods with scheduling gates, by the name of their scheduler.
  std::map<std::string, size_t, std::less<>> gated = {};
  // The pods that Berth cannot read, by the name of their scheduler.
  struct Unreadable {
    size_t count = 0;
    std::string example = {};  // Why, for the first one: "shop/a: /spec/priority: expected ..."
  };
  std::map<std::string, Unreadable, std::less<>> unreadable = {};
  bool is_complete = true;    // False: there are more.
  Status error = {};          // Why they are not known.
  bool is_forbidden = false;  // As in LeaseState.

  size_t total() const {
    size_t total = 0;
    for (const auto& [name, count] : by_scheduler) total += count;
    return total;
  }
};
// Adds the pods of one page of a list. `decode`: the options of the scheduler. Returns the token of
// the next page; empty for the last one.
// Errors: kInvalidArgument for what is no list of pods.
Result<std::string> AddPendingPods(std::string_view page, const DecodeOptions& decode,
                                   PendingPods& pods);

struct CredentialExpiry {
  bool has_credentials = false;          // The client proves who it is in some way.
  std::optional<int64_t> token_ns = {};  // Wall clock; nullopt if there is no token or no time.
  bool token_is_renewed = false;         // It comes from a file or from an exec plugin.
  std::optional<int64_t> certificate_ns = {};  // That of the client certificate.
};

// Returns the time in the claim `exp` of a JSON Web Token (RFC 7519), in nanoseconds since 1970;
// nullopt for a token of another kind, or without the claim. The signature is not checked.
std::optional<int64_t> JwtExpiryNs(std::string_view token);

// Returns when this credential of `auth` expires.
CredentialExpiry ExpiryOf(const Credential& credential, const AuthConfig& auth);

// The header Date of an answer has whole seconds, so that one answer gives a range of at least one
// second. Several answers at different parts of a second narrow it.
class ClockSkew {
 public:
  // Adds an answer. `sent_ns` and `received_ns`: this machine's wall clock before the request and
  // after the answer. `date_ns`: the header Date; 0 if there was none.
  // An answer that contradicts the others, because a clock was set in between, replaces them.
  void Add(int64_t sent_ns, int64_t received_ns, int64_t date_ns);

  // Returns how far this machine is ahead: the value of the range that is nearest to 0, so that
  // equal clocks give 0. Negative: this machine is behind. Nullopt: no answer had a date.
  std::optional<int64_t> AheadNs() const;

 private:
  bool has_range_ = false;
  int64_t min_ns_ = 0;
  int64_t max_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_ANSWERS_H_
