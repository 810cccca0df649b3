// The command line of `berth`, and the environment that commands run in.
#ifndef BERTH_HOST_CLI_COMMAND_H_
#define BERTH_HOST_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/siphash.h>

#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cli/output.h"
#include "host/process/assemble/process_signals.h"

namespace berth::host {

class CallMonitor;

// Exit statuses.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNotAllScheduled = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitByPlugin = 3;     // A plugin called exit(); see ExitReport.
inline constexpr int kExitUnexplained = 1;  // Of `shadow`.
inline constexpr int kExitLeaseLost = 1;    // Of `run`, as kube-scheduler.

// A command that a signal stopped returns this plus the signal's number, as shells do.
inline constexpr int kExitSignal = 128;

// The environment of a command: everything of the process that it may use.
// Lifetime: outlives the command.
struct CommandEnvironment {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::string executable;  // The running program: plugins are found beside it.
  // The directory for private copies of plugin libraries. It may be missing: see
  // MakeLibraryStore().
  std::string temporary_directory;
  // A monotonic clock with an arbitrary start. Threading: any.
  std::function<int64_t()> steady_ns;
  // The time since 1970-01-01T00:00:00Z. Threading: any.
  std::function<int64_t()> wall_ns;
  // The key of this process for hashes of texts that others choose; see RunProgram().
  HashKey hash_key = Interner::kFixedKey;
  TerminalWidth out_width;  // The width of `out`; nullopt if it is not a terminal.
  bool err_is_terminal = false;
  bool out_is_live = false;  // `out` is a terminal or a pipe: each line must be written at once.
  int in_descriptor = -1;    // The file that `in` reads from, or -1.
  SubscribeToRequests requests = {};  // If empty, a reload or a stop cannot be requested.
  // See SchedulerOptions::report_crashes. The reports of crashes and of exits use the monitor. May
  // be empty.
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
  // The environment variables of this process, as "NAME=value".
  std::vector<std::string> variables = {};
  // CLOCK_BOOTTIME: a monotonic clock that also counts while the machine sleeps. Threading: any.
  std::function<int64_t()> boot_ns = {};
  std::string host_name = {};  // Of this machine.
  std::string uuid = {};       // A random one, which identifies this process in a cluster.
  int32_t pid = 0;
  int32_t err_descriptor = 2;  // The file that the log of a run on a cluster is written to.
};

// Runs the command that `given` names and returns the exit status. `given` does not contain the
// program's own name.
int RunCommand(std::span<const std::string> given, CommandEnvironment& env);

// Prints "berth: message" to env.err and returns kExitBadInput.
int Fail(CommandEnvironment& env, const Status& status);

// Prints that the output could not be written, and returns kExitBadInput. `error`: the errno of the
// operation that failed, or 0 if it is not known.
int OutputFailed(CommandEnvironment& env, int error);

// Writes `text` and flushes the output. Returns `exit_status`, or kExitBadInput if `text` could not
// be written.
int Print(CommandEnvironment& env, std::string_view text, int exit_status);

// Prints `document` as JSON or YAML, or for kTable what `append_table` appends for it; see Print().
int PrintAs(OutputFormat format, const nlohmann::ordered_json& document,
            void (*append_table)(const nlohmann::ordered_json& document, TerminalWidth width,
                                 std::string& out),
            CommandEnvironment& env, int exit_status);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMAND_H_
