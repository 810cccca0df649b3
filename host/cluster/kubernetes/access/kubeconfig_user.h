// Reads a user of a kubeconfig file. Used only by kubeconfig.cc.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_USER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_USER_H_

#include <string>

#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/access/kubeconfig_entry.h"

namespace berth::host {

// Returns a path of the kubeconfig `file` as a path for this process: relative to the folder of the
// file unless it is absolute. An empty path stays empty.
std::string ResolveKubeconfigPath(const std::string& file, const std::string& path);

// Returns what the object `user` of the file at `path` contains. Adds what is wrong to the problems
// of the entry. (client-go: tools/clientcmd/validation.go, validateAuthInfo)
AuthConfig ReadKubeconfigUser(const KubeconfigEntry& entry, const std::string& path);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_KUBECONFIG_USER_H_
