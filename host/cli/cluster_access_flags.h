// The flags that select a real cluster, for every command that connects to one, and what its client
// reads from the environment of the command.
#ifndef BERTH_HOST_CLI_CLUSTER_ACCESS_FLAGS_H_
#define BERTH_HOST_CLI_CLUSTER_ACCESS_FLAGS_H_

#include <string>
#include <string_view>

#include "host/cli/command.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/process/assemble/cluster_session.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

struct ClusterAccessFlags {
  std::string kubeconfig = {};  // Empty: --kubeconfig was not given.
  std::string context = {};     // Empty: --context was not given.
  bool allow_plain_http = false;

  // Returns the first of these flags that was given, such as "--context", for messages; "" if none
  // was given.
  std::string_view first_given() const;
};

// Adds --kubeconfig, --context and --allow-plain-http. `otherwise` completes the help of
// --kubeconfig: what is used without it, such as "[$KUBECONFIG]". An empty path or name is an error
// of the command line, because the variable of a script that is not set would select another
// cluster.
void AddClusterAccess(CLI::App& command, std::string_view otherwise, ClusterAccessFlags& flags);

// Returns the request for the access that the flags select.
AccessRequest AccessRequestOf(const ClusterAccessFlags& flags);

// Returns UserAgentOf() this version of Berth.
std::string UserAgent();

// Return what the access to a cluster and its credentials read of the environment of a command: its
// variables, files and clocks.
// Lifetime: they refer to nothing of `env`.
AccessEnvironment AccessEnvironmentOf(const CommandEnvironment& env);
Credentials::Environment CredentialsEnvironmentOf(const CommandEnvironment& env);

// Returns the cluster that the flags select, as reached from this environment, for UserAgent().
ClusterTarget ClusterTargetOf(const ClusterAccessFlags& flags, const CommandEnvironment& env);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_CLUSTER_ACCESS_FLAGS_H_
