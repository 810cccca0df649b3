// Exec credential plugins: programs that print a credential. (client-go:
// pkg/apis/clientauthentication and plugin/pkg/client/auth/exec)
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_EXEC_CREDENTIAL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_EXEC_CREDENTIAL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/base/child_process.h"
#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/http/tls_context.h"

namespace berth::host {

// The `status` of an ExecCredential.
struct ExecCredential {
  Secret token;
  ClientCertificate certificate;
  int64_t expires_ns = 0;  // 0: never.
};

// How long a plugin may run.
inline constexpr int64_t kExecLimitNs = 30'000'000'000;

// Returns the value of KUBERNETES_EXEC_INFO, an ExecCredential with `spec`. If the plugin asks for
// cluster information, it contains `endpoint`, with the CA of TlsSettings::ca_pem and without user
// and password of a proxy. `interactive` is always false.
std::string ExecInfo(const ExecConfig& config, const Endpoint& endpoint);

// Returns how the plugin is started. `variables` are those of this process; those of the kubeconfig
// and KUBERNETES_EXEC_INFO replace the ones with the same name.
Subprocess ExecCommand(const ExecConfig& config, const Endpoint& endpoint,
                       std::span<const std::string> variables);

// Reads what the plugin printed.
// Errors: kInvalidArgument: no JSON, another kind or apiVersion than the kubeconfig names, neither
//         a token nor a certificate, a certificate without its key, an expirationTimestamp that is
//         no time. The message never contains a part of the output.
Result<ExecCredential> ReadExecCredential(std::string_view output, const ExecConfig& config);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_EXEC_CREDENTIAL_H_
