// Finds out when the credentials of a client expire.
#ifndef BERTH_HOST_PROCESS_DOCTOR_CREDENTIAL_EXPIRY_H_
#define BERTH_HOST_PROCESS_DOCTOR_CREDENTIAL_EXPIRY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_CREDENTIAL_EXPIRY_H_
