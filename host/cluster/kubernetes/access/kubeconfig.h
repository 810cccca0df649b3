// Reads kubeconfig files and the service account of a pod.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/http/endpoint.h"

namespace berth::host {

// An exec credential plugin. (client-go: tools/clientcmd/api/types.go, ExecConfig)
struct ExecConfig {
  std::string api_version;  // "client.authentication.k8s.io/v1" or ".../v1beta1".
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool provide_cluster_info = false;
  // The directory of the kubeconfig: a command with a slash is relative to it.
  std::string directory;
};

// How a client proves who it is. Files are read again when they change.
struct AuthConfig {
  std::string certificate_file;
  std::string certificate_pem;
  std::string key_file;
  Secret key_pem;
  std::string token_file;  // Has precedence over `token`, as in client-go.
  Secret token;
  std::string user_name;  // Basic authentication.
  Secret password;
  std::optional<ExecConfig> exec;
  // Impersonation.
  std::string as;
  std::string as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;
};

// Everything that is needed to reach a cluster.
struct ClusterAccess {
  Endpoint endpoint;
  AuthConfig auth;
  std::string ns;      // The namespace of the context, or of the pod; "default" if there is none.
  std::string source;  // For messages: "context kind of ~/.kube/config", "the service account".
  // Warnings for the user: fields that are not supported or that are dangerous, such as
  // insecure-skip-tls-verify.
  std::vector<std::string> warnings;
};

// The parts of the process environment that are read. Injected, so that tests own them.
struct AccessEnvironment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Reads a file. Errors: those of ReadConfigFile() in host/process/.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct AccessRequest {
  // --kubeconfig. Empty: the list in $KUBECONFIG, and if that is not set either, the service
  // account of the pod that this process runs in.
  std::string kubeconfig = {};
  std::string context = {};  // --context; empty: current-context.
  std::string server = {};   // --master: replaces the URL of the server; empty: not given.
  // See CheckEndpoint(). A warning remains if credentials are sent over plain HTTP.
  bool allow_plain_http = false;
};

inline constexpr size_t kMaxKubeconfigBytes = size_t{4} << 20;

// Finds and reads the access to a cluster. The files of $KUBECONFIG are merged as kubectl merges
// them: of two entries with the same name the first one counts, and so does the first
// current-context; a file that does not exist is skipped if others exist. Relative paths in a file
// are relative to its folder. With AccessRequest::server and no kubeconfig outside of a pod, the
// access has no credentials.
//
// Errors: all errors of the selected context, its cluster and its user, one per line, with the
//         file, the line and the key. Of entries that the context does not name, only the
//         names are read.
//   ~/.kube/config:12: users[0].user.exec.apiVersion: expected client.authentication.k8s.io/v1 or
//   client.authentication.k8s.io/v1beta1, found "client.authentication.k8s.io/v1alpha1"
//   ~/.kube/config:3: current-context: there is no context "prod"; did you mean production?
//   no kubeconfig: use --kubeconfig FILE, set KUBECONFIG, or run in a pod with a service account
// No message contains a token, a key or a password. The endpoint has passed CheckEndpoint().
Result<ClusterAccess> FindClusterAccess(const AccessRequest& request,
                                        const AccessEnvironment& environment);

struct KubeconfigFile {
  std::string path;  // For messages, and for the relative paths in the file.
  std::string text;
};
// Reads the text of kubeconfig files, in the order of precedence, as FindClusterAccess() does with
// `request`. Used by FindClusterAccess() and by the fuzz test.
// Unused: AccessRequest::kubeconfig.
Result<ClusterAccess> ReadKubeconfigs(std::span<const KubeconfigFile> files,
                                      const AccessRequest& request);

// The folder with token, ca.crt and namespace.
inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
// Returns the access of a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and the files
// of the service account.
// Errors: kNotFound if this is no pod; kInvalidArgument and those of reading the files otherwise.
Result<ClusterAccess> ReadServiceAccount(const AccessEnvironment& environment);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_H_
