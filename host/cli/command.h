// The commands of `berth`, without the process around them.
#ifndef BERTH_HOST_CLI_COMMAND_H_
#define BERTH_HOST_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "host/api/status.h"
#include "host/cli/output.h"

namespace berth::host {

// Exit statuses.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNotAllScheduled = 1;
inline constexpr int kExitBadInput = 2;

// What a command has of the world. Lifetime: outlives the call.
struct CommandEnvironment {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::string executable;              // The running program: plugins are looked for beside it.
  std::string temporary_directory;     // For private copies of plugin libraries.
  std::function<int64_t()> steady_ns;  // Only goes forward; from any moment.
  std::function<int64_t()> wall_ns;    // Since 1970-01-01T00:00:00Z.
  TerminalWidth out_width;             // Of the terminal that `out` is; none: it is not one.
  bool err_is_terminal = false;
};

// Runs the command that `args` name, without the program's own name, and returns the exit status.
int RunCommand(std::span<const std::string> args, CommandEnvironment& env);

// "berth: message" to env.err; returns kExitBadInput.
int Fail(CommandEnvironment& env, const Status& status);

// Writes `text` at once. Returns `exit_status`, or kExitBadInput when it cannot be written.
int Print(CommandEnvironment& env, std::string_view text, int exit_status);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMAND_H_
