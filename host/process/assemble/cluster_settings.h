// The settings of a client of a real cluster: those of the host file, and the files that it reads.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SETTINGS_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SETTINGS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/config/cluster_config.h"
#include "host/process/assemble/process_options.h"

namespace berth::host {

// Reads a kubeconfig, a token or a certificate. If the file is larger than kMaxKubeconfigBytes,
// returns its first kMaxKubeconfigBytes + 1 bytes, which no reader accepts.
// Errors: kNotFound, kPermissionDenied, kInvalidArgument for a directory or another reason. The
//         messages do not contain the path.
Result<std::string> ReadAccessFile(const std::string& path);

// Returns the request with clientConnection.kubeconfig of the host file, unless the command line
// has set a kubeconfig.
AccessRequest WithHostFile(AccessRequest request, const ClusterConfig& config);

// Returns the access to the target, with the kubeconfig of the host file if the target has none.
// Errors: those of FindClusterAccess() of the request.
Result<ClusterAccess> FindClusterAccess(const ClusterTarget& target, const ClusterConfig& config);

// Connects to the target. `access`: that of FindClusterAccess(). The user agent of the options is
// set here.
// Errors and lifetime: those of KubernetesConnection::Open().
Result<std::unique_ptr<KubernetesConnection>> OpenConnection(const ClusterTarget& target,
                                                             const ClusterAccess& access,
                                                             ConnectionOptions options,
                                                             TransportObserver& observer,
                                                             LogSink& log);

// Returns the options of the election that the host file sets, with kube-scheduler's defaults for
// the others. The identity and the seed are not set.
ElectionOptions ElectionOptionsOf(const ClusterConfig& config);

// Returns how many bindings may be under way before no further pod is tried: two for each
// connection of writes, so that the next one waits when a connection is free. More would only take
// memory, and their pods would be decided earlier than necessary, with an older state of the
// cluster.
size_t MaxOpenBindings(const ClusterConfig& config);

// Returns the header User-Agent of requests to an API server, in the form of kube-scheduler:
// "berth/0.1.0 (linux/amd64)". `version`: that of Berth.
std::string UserAgentOf(std::string_view version);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_SETTINGS_H_
