// Reads credentials from files and exec plugins. Credentials calls it on a thread of its own.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIAL_LOADER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIAL_LOADER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/base/log.h"
#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/exec_credential.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/http/tls_context.h"

namespace berth::host {

// Returns the lines "Authorization" and "Impersonate-..." of requests, each with its line end.
// `token` replaces the token of `auth` if it is not empty.
// Errors: kInvalidArgument for a line end or another control character in one of the values, which
//         would add headers.
Result<Secret> CredentialHeaders(const AuthConfig& auth, const Secret& token);

// Threading: one thread at a time. Refresh() blocks on files and on the exec plugin.
class CredentialLoader {
 public:
  // TlsContext::Create() in production.
  using MakeTls = std::function<Result<std::shared_ptr<const TlsContext>>(
      const TlsSettings& settings, const std::string& host, const ClientCertificate& certificate)>;

  CredentialLoader(ClusterAccess access, Credentials::Environment environment, MakeTls make_tls,
                   Log log);

  // Reads the files again, and runs the exec plugin if that is due. What cannot be read keeps its
  // old content, and is logged, unless this is the first call.
  // Returns: the first error; success if everything was read, whether it has changed or not.
  Status Refresh(bool after_401);

  // Null before the first Refresh() that succeeds.
  const std::shared_ptr<const Credential>& current() const { return current_; }
  // The monotonic time of the next Refresh().
  int64_t next_ns() const { return next_ns_; }

 private:
  // The contents that a credential is made of.
  struct Contents {
    Secret token;  // That of the token file or of the exec plugin.
    std::string ca_pem;
    ClientCertificate certificate;
    int64_t expires_ns = 0;

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  Status ReadToken(Contents& contents) const;
  Status ReadCa(Contents& contents) const;
  Status ReadCertificate(Contents& contents) const;
  Result<std::string> ReadFile(const std::string& path) const;
  bool IsExecDue(bool after_401) const;
  Status RunExec(bool after_401, Contents& contents);
  Result<ExecCredential> CallPlugin(const Contents& contents) const;
  Status Publish(Contents contents);
  void SetNext();

  const ClusterAccess access_;
  const Credentials::Environment environment_;
  const MakeTls make_tls_;
  const Log log_;
  Contents contents_;  // What current_ is made of.
  std::shared_ptr<const Credential> current_;
  std::optional<int64_t> exec_ran_ns_;  // When the plugin was run last, on the monotonic clock.
  int64_t next_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIAL_LOADER_H_
