// The credential that requests carry. access/ reads it from files and plugins.
#ifndef BERTH_HOST_HTTP_CREDENTIAL_SOURCE_H_
#define BERTH_HOST_HTTP_CREDENTIAL_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/http/tls_context.h"

namespace berth::host {

// One state of the credentials. Immutable.
struct Credential {
  uint64_t generation = 0;  // Grows with each change.
  // The lines "Authorization: ..." and "Impersonate-...: ...", each with its line end. Empty: none.
  Secret headers;
  std::shared_ptr<const TlsContext> tls;  // Null for plain HTTP.
  int64_t expires_ns = 0;                 // Wall clock; 0: not known.
};

// Threading: any.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;

  // Returns the current credential; never null. Does no input or output: it never delays a request.
  virtual std::shared_ptr<const Credential> Current() const = 0;
  // The server has refused this generation with 401. Calls `done` on another thread, when there is
  // a newer credential, or with an error if there is none. Calls it at once if the current one is
  // newer already. When the source is destroyed, it calls the remaining ones with kUnavailable.
  virtual void Renew(uint64_t generation, std::function<void(Status status)> done) = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_CREDENTIAL_SOURCE_H_
