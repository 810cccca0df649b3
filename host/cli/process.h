// The process around a command: its streams, clocks, signals and reports of crashes.
#ifndef BERTH_HOST_CLI_PROCESS_H_
#define BERTH_HOST_CLI_PROCESS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "host/cli/command.h"

namespace berth::host {

// `args` without the program's own name. Returns: the exit status.
using ProcessCommand =
    std::function<int(std::span<const std::string> args, CommandEnvironment& env)>;

// What main() returns. An exception that gets here ends the process with kExitBadInput, and is said
// under `name`.
// Called: once, by main().
int RunProcess(int argc, char** argv, std::string_view name, const ProcessCommand& command);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROCESS_H_
