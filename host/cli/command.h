// The commands of `berth`, without the process around them.
#ifndef BERTH_HOST_CLI_COMMAND_H_
#define BERTH_HOST_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cli/output.h"

namespace berth::host {

class CallMonitor;

// Exit statuses.
inline constexpr int kExitDone = 0;
inline constexpr int kExitNotAllScheduled = 1;
inline constexpr int kExitBadInput = 2;

// 128 and the number of the signal that stopped it, as shells have it.
inline constexpr int kExitSignal = 128;

// What a process is asked from outside. No call is running or follows when it is gone.
class RequestWatch {
 public:
  virtual ~RequestWatch() = default;
  // From now on who asks it to stop, by this signal, is heard, once; until then that ends the
  // process. Called: once. Threading: `stop` is called on any thread.
  virtual void TakeStops(std::function<void(int signal)> stop) = 0;
};

// What a command has of the world. Lifetime: outlives the call.
struct CommandEnvironment {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::string executable;              // The running program: plugins are looked for beside it.
  std::string temporary_directory;     // For private copies of plugin libraries.
  std::function<int64_t()> steady_ns;  // Only goes forward; from any moment. Threading: any.
  std::function<int64_t()> wall_ns;    // Since 1970-01-01T00:00:00Z.
  TerminalWidth out_width;             // Of the terminal that `out` is; none: it is not one.
  bool err_is_terminal = false;
  bool out_is_live = false;  // Somebody reads along, on a terminal or behind a pipe.
  int in_descriptor = -1;    // The file that `in` reads from; -1: it reads from none.
  // As long as the result lives, `reload` is called, on any thread, each time that the files shall
  // be read anew. Empty: nobody ever asks.
  std::function<std::unique_ptr<RequestWatch>(std::function<void()> reload)> watch_requests = {};
  // Is told where it stands what runs, for the report of a crash, and null when nothing runs any
  // more. May be empty.
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
};

// Runs the command that `args` name, without the program's own name, and returns the exit status.
int RunCommand(std::span<const std::string> args, CommandEnvironment& env);

// "berth: message" to env.err; returns kExitBadInput.
int Fail(CommandEnvironment& env, const Status& status);

// Says that the output could not be written; returns kExitBadInput.
int OutputFailed(CommandEnvironment& env);

// Writes `text` at once. Returns `exit_status`, or kExitBadInput when it cannot be written.
int Print(CommandEnvironment& env, std::string_view text, int exit_status);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMAND_H_
