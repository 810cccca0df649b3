// The flags of shadow mode: `berth run --shadow`.
#ifndef BERTH_HOST_CLI_SHADOW_COMMAND_H_
#define BERTH_HOST_CLI_SHADOW_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/cli/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

struct RunFlags;

struct ShadowFlags {
  bool is_on = false;
  // Members that are empty were not given.
  std::optional<int64_t> duration_ns;
  std::vector<std::string> scheduler_names;
  std::optional<int64_t> window_ns;
  std::optional<uint32_t> percentage_of_nodes;

  // Returns the first flag that was given besides --shadow, for messages; "" if none was given.
  std::string_view first_given() const;
};

// Adds --shadow and the flags that need it.
void AddShadow(CLI::App& command, ShadowFlags& flags);

// Returns an error if a flag was given that does not fit shadow mode, or one that needs --shadow.
Status CheckShadowFlags(const RunFlags& flags);

// Executes `berth run --shadow`. Returns kExitDone, kExitUnexplained or kExitBadInput.
// REQUIRES: CheckShadowFlags() has returned no error.
int ExecuteShadow(const RunFlags& flags, CommandEnvironment& env);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_SHADOW_COMMAND_H_
