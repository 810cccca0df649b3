// The flags that several commands have.
#ifndef BERTH_HOST_CLI_COMMON_FLAGS_H_
#define BERTH_HOST_CLI_COMMON_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/commands.h"
#include "host/cli/output.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own.
class App;
}  // namespace CLI

namespace berth::host {

// Adds --output.
void AddOutput(CLI::App& command, OutputFormat& output);
// Adds --output with TOML as another format.
void AddShowOutput(CLI::App& command, ProfileFlags& flags);

// Adds --plugin-dir for one directory.
void AddPluginDirectory(CLI::App& command, std::string& directory);
// Adds --plugin-dir to a command without positional arguments.
void AddPluginDirectories(CLI::App& command, std::vector<std::string>& directories);
// Adds --plugin-dir to a command with positional arguments, which a --plugin-dir with several
// values would take.
void AddEachPluginDirectory(CLI::App& command, std::vector<std::string>& directories);

// Adds --profile.
void AddProfiles(CLI::App& command, std::vector<std::string>& profiles);
// Adds --seed.
void AddSeed(CLI::App& command, uint64_t& seed);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMON_FLAGS_H_
