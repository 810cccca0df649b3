// What `berth run` works with, as its files say. They may be read again while it works.
#ifndef BERTH_HOST_CLI_RUN_CONFIG_H_
#define BERTH_HOST_CLI_RUN_CONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/cli/commands.h"
#include "host/config/host_config.h"
#include "host/loader/library_store.h"
#include "host/process/file_watch.h"
#include "host/process/profile_set.h"

namespace berth::host {

struct RunConfig {
  HostConfig host;
  ProfileSet set;
};

// Reads the host file, the profiles and what they extend, and loads the plugins. What the flags say
// counts more than what the host file says. No plugin is created.
// `files`: gets all that was looked at, as it was just before, whatever comes of it: another
// reading is due when one of them changes.
// Errors: all that is wrong with the host file; else those of OpenProfiles.
Result<RunConfig> ReadRunConfig(const RunFlags& flags, const CommandEnvironment& env,
                                const std::shared_ptr<LibraryStore>& libraries, FileStamps& files);

// The keys of the host file that say something else and are read at the start alone: "logLevel".
std::vector<std::string> KeysForTheStart(const HostConfig& before, const HostConfig& after);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_RUN_CONFIG_H_
