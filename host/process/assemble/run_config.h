// The configuration of `berth run`: the host file, the profiles and the plugins.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_RUN_CONFIG_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_RUN_CONFIG_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/config/host_config.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/call_monitor.h"
#include "host/loader/library_store.h"
#include "host/process/assemble/file_watch.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {

// Where the configuration comes from.
struct ConfigSources {
  std::string host_file;  // Empty: there is none.
  // Profiles and plugin directories that are set here replace those of the host file. If neither
  // sets them, they are those of ProfileRequest.
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  std::string executable;  // See ProfileRequest::executable.
};

struct RunConfig {
  HostConfig host;
  ProfileSet set;
};

// Reads the host file, the profiles and the profiles that they extend, and loads the plugins.
// Creates no plugin.
// `files`: receives a stamp of every file and directory that is read, taken just before it is read,
// even if an error follows. When one of them changes, the configuration must be read again.
// Errors: all errors in the host file; otherwise those of LoadProfiles.
Result<RunConfig> ReadRunConfig(const ConfigSources& sources,
                                const std::shared_ptr<LibraryStore>& libraries, FileStamps& files);

// How many plugins may block in PreBind and Bind at a time, in a run in real time.
inline constexpr size_t kBindThreads = 16;

// Sets the options that the host file sets: the deadline of bindings, the quarantine and the
// backoffs. The others stay.
void ApplyHostFile(const HostConfig& host, SchedulingLoop::Options& options);
// Returns the deadlines of plugin calls, with the defaults of those that the host file does not
// set.
CallDeadlines DeadlinesOf(const HostConfig& host);

// Returns the keys of the host file whose values differ and take effect only at a restart:
// "quarantine.faults".
std::vector<std::string> ChangesThatNeedRestart(const HostConfig& before, const HostConfig& after);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_RUN_CONFIG_H_
