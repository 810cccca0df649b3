#include "host/cli/cluster_access_flags.h"

#include <optional>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/base/child_process.h"
#include "host/process/assemble/cluster_session.h"

namespace berth::host {
namespace {

// Returns the value of the variable; nullopt if it is not set. The first entry counts, as getenv()
// decides.
std::optional<std::string> FindVariable(const std::vector<std::string>& variables,
                                        const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& variable : variables) {
    if (variable.starts_with(start)) return variable.substr(start.size());
  }
  return std::nullopt;
}

// Returns a check that refuses an empty value, with `what` as the expected one.
CLI::Validator NotEmpty(const std::string& what) {
  CLI::Validator validator(
      [what](const std::string& text) {
        return text.empty() ? "expected " + what + ", found an empty text" : std::string();
      },
      "");
  return validator;
}

}  // namespace

std::string_view ClusterAccessFlags::first_given() const {
  if (!kubeconfig.empty()) return "--kubeconfig";
  if (!context.empty()) return "--context";
  return allow_plain_http ? "--allow-plain-http" : "";
}

void AddClusterAccess(CLI::App& command, std::string_view otherwise, ClusterAccessFlags& flags) {
  std::string help = "The kubeconfig file of a real cluster";
  if (!otherwise.empty()) help.append(" ").append(otherwise);
  command.add_option("--kubeconfig", flags.kubeconfig, help)
      ->type_name("FILE")
      ->check(NotEmpty("the path of a file"));
  command
      .add_option("--context", flags.context,
                  "The context of the kubeconfig to use [its current-context]")
      ->type_name("NAME")
      ->check(NotEmpty("the name of a context"));
  command.add_flag("--allow-plain-http", flags.allow_plain_http,
                   "Accept a server with http:// that is not on this machine; everybody on the "
                   "network between can read and change the requests, and read the credentials");
}

AccessRequest AccessRequestOf(const ClusterAccessFlags& flags) {
  return {.kubeconfig = flags.kubeconfig,
          .context = flags.context,
          .allow_plain_http = flags.allow_plain_http};
}

std::string UserAgent() { return UserAgentOf(BERTH_VERSION); }

AccessEnvironment AccessEnvironmentOf(const CommandEnvironment& env) {
  return {.variable = [variables = env.variables](
                          const std::string& name) { return FindVariable(variables, name); },
          .read_file = ReadAccessFile};
}

Credentials::Environment CredentialsEnvironmentOf(const CommandEnvironment& env) {
  return {.steady_ns = env.steady_ns,
          .wall_ns = env.wall_ns,
          .read_file = ReadAccessFile,
          .run = [steady_ns = env.steady_ns](
                     const Subprocess& what) { return RunSubprocess(what, steady_ns); },
          .variables = env.variables};
}

ClusterTarget ClusterTargetOf(const ClusterAccessFlags& flags, const CommandEnvironment& env) {
  return {.access = AccessRequestOf(flags),
          .environment = AccessEnvironmentOf(env),
          .credentials = CredentialsEnvironmentOf(env),
          .user_agent = UserAgent()};
}

}  // namespace berth::host
