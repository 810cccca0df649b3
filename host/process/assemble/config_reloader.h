// Reads the configuration of a process: the host file, the profiles and the plugins. Reads it again
// when it changes.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/base/status.h"
#include "host/config/host_config.h"
#include "host/cycle/scheduling_loop.h"
#include "host/event/inbox.h"
#include "host/guard/call_monitor.h"
#include "host/loader/library_store.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {

// Identifies the content of a file without reading it. All fields are 0 if there is no such file.
// Symbolic links are followed, so an update of a mounted ConfigMap, which swaps a link, is a
// change.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_ns = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp StampOf(const std::string& path);
// The stamps of files, by path, taken just before the files were read.
using FileStamps = std::map<std::string, FileStamp>;

// Detects changes of files between calls of Check(). A file may still be being written, so a change
// is reported only when the following Check() finds no further change.
//
// Threading: one thread.
class FileChanges {
 public:
  explicit FileChanges(FileStamps files) { Watch(std::move(files)); }

  // Replaces the watched files. A change since the stamps were taken counts.
  void Watch(FileStamps files);
  // Takes the stamps of the files. Returns true if a file has changed and did not change again
  // since the last check.
  bool Check();

 private:
  FileStamps known_;  // The stamps that Watch() received, or those when Check() last returned true.
  FileStamps seen_;   // The stamps at the last check.
};

// Checks files at regular intervals on a thread of its own. It does not use inotify, which behaves
// differently for links, mounts and missing files; a few stat calls cost nothing.
class FileWatch {
 public:
  // `changed` is called on the thread each time that files have changed.
  FileWatch(FileStamps files, std::chrono::milliseconds every, std::function<void()> changed);
  // No call of `changed` is running or follows when it returns.
  ~FileWatch();

  // Replaces the watched files, as FileChanges::Watch() does. Threading: any.
  void Watch(FileStamps files);

 private:
  void Run(std::chrono::milliseconds every);

  const std::function<void()> changed_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;  // Guarded by mutex_.
  FileChanges changes_;  // Guarded by mutex_.
  std::thread thread_;   // Last: it uses the others.
};

// Where the configuration comes from.
struct ConfigSources {
  std::string host_file;  // Empty: there is none.
  // Profiles and plugin directories that are set here replace those of the host file. If neither
  // sets them, they are those of ProfileRequest.
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  std::string executable;  // See ProfileRequest::executable.
  // Replaces emulatedVersion of the host file.
  std::optional<KubeVersion> emulated_version = {};
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

// Sets the options that the host file sets: the version that is emulated, the deadline of bindings,
// the quarantine and the backoffs. The others stay.
void ApplyHostFile(const HostConfig& host, SchedulingLoop::Options& options);
// Returns the deadlines of plugin calls, with the defaults of those that the host file does not
// set.
CallDeadlines DeadlinesOf(const HostConfig& host);

// Returns the keys of the host file whose values differ and take effect only at a restart:
// "quarantine.faults".
std::vector<std::string> ChangesThatNeedRestart(const HostConfig& before, const HostConfig& after);

// The result of one reload.
struct ReloadResult {
  Status status;  // An error: the running configuration is kept.
  // The files and directories that have changed since they were read, by path. Empty if the reload
  // was requested and no file has changed.
  std::vector<std::string> changed = {};
  // On success: the schedulerNames of the profiles, the host file, and the keys of the host file
  // whose new values take effect only at a restart.
  std::vector<std::string> profiles = {};
  HostConfig host = {};
  std::vector<std::string> needs_restart = {};
};

// A reload is requested by Request() or by a change of a watched file, and carried out by
// ReloadIfRequested().
//
// Threading: Request() any thread; all other methods one thread, the scheduling thread.
class ConfigReloader {
 public:
  // Reads the configuration, as ReadRunConfig() does.
  using Read = std::function<Result<RunConfig>(FileStamps& files)>;
  // Replaces the running profiles and plugins. After an error the running ones are kept.
  using Apply = std::function<Status(const ProfileSet& set)>;

  // `waker` is woken by each request. It must outlive the reloader.
  ConfigReloader(Read read, Waker& waker) : read_(std::move(read)), waker_(waker) {}

  // Reads the configuration at the start.
  // Called: once, before any other method but Request().
  // Errors: those of Read.
  Result<RunConfig> ReadFirst();

  // Watches the files that were read last, until StopWatching(). A change that happened since they
  // were read counts too.
  void StartWatching();
  void StopWatching() { watch_.reset(); }

  void Request();
  // If a reload was requested: reads the configuration, applies it, and passes the result to
  // `report`. Several requests may be one reload.
  // REQUIRES: the files are being watched.
  void ReloadIfRequested(const Apply& apply,
                         const std::function<void(const ReloadResult& result)>& report);

  // The host file as ReadFirst() read it. A reload does not change it.
  const HostConfig& running() const { return running_; }
  size_t reloaded() const { return reloaded_; }  // How many reloads succeeded.
  size_t failed() const { return failed_; }

 private:
  ReloadResult Reload(const Apply& apply);

  const Read read_;
  Waker& waker_;
  HostConfig running_;  // The host file as it was read first.
  FileStamps files_;    // The stamps of the files, taken when they were last read.
  std::atomic<bool> requested_ = false;
  size_t reloaded_ = 0;
  size_t failed_ = 0;
  std::unique_ptr<FileWatch> watch_;  // Last: its thread calls Request().
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_
