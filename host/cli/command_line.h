// The commands and flags of `berth`.
#ifndef BERTH_HOST_CLI_COMMAND_LINE_H_
#define BERTH_HOST_CLI_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cli/commands.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

// Reads the number of an option: decimal digits and nothing else, such as "10" or "010".
// Errors: InvalidArgument for any other text, and for a number above `max`.
Result<uint64_t> ReadNumber(std::string_view text, uint64_t max);

// Runs the command that the command line names, with its flags, and returns the exit status.
using Execution = std::function<int(CommandEnvironment& env)>;

// Adds --kubeconfig, --context and --allow-plain-http. `otherwise` completes the help of
// --kubeconfig: what is used without it, such as "[$KUBECONFIG]". An empty path or name is an error
// of the command line, because the variable of a script that is not set would select another
// cluster.
void AddClusterAccess(CLI::App& command, std::string_view otherwise, ClusterAccessFlags& flags);

// Returns the texts of these files of help/, "run" for run.txt, with an empty line between two.
std::string HelpOf(std::initializer_list<std::string_view> names);

// Adds every command with its flags and its help. Parsing sets `execute`, which must outlive `app`.
void AddCommands(CLI::App& app, Execution& execute);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMAND_LINE_H_
