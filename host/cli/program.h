// Runs a command as the program of a process: with its streams, clocks, signals and crash report.
#ifndef BERTH_HOST_CLI_PROGRAM_H_
#define BERTH_HOST_CLI_PROGRAM_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "host/cli/command.h"

namespace berth::host {

// `args` does not contain the program's own name. Returns the exit status.
using ProgramCommand =
    std::function<int(std::span<const std::string> args, CommandEnvironment& env)>;

// Runs the command with a random hash key, and returns the exit status for main(). From then on,
// standard output belongs to the command alone: what plugins print there goes to standard error. An
// exception that the command throws is reported on standard error under `name`, and the exit status
// is kExitBadInput. If a plugin calls exit(), the process ends with kExitByPlugin; see ExitReport.
// The private copies of libraries are removed before a signal that asks the process to end, or
// exit(), ends it.
// Called: once, by main().
int RunProgram(int argc, char** argv, std::string_view name, const ProgramCommand& command);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROGRAM_H_
