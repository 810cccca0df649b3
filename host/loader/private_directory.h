// The directory in which a process keeps its private copies of libraries.
#ifndef BERTH_HOST_LOADER_PRIVATE_DIRECTORY_H_
#define BERTH_HOST_LOADER_PRIVATE_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/file_descriptor.h"
#include "host/loader/load_error.h"

namespace berth::host {

// A directory "<parent>/berth-plugins-XXXXXX" of mode 0700, which exists as long as this object.
//
// The copies are not removed as soon as they are loaded, because debuggers, profilers and core
// files refer to them by path while the process lives, and just after a crash. So something else
// has to remove them when the process does not get as far as the destructor:
//   - RemovePrivateDirectories() removes them before a signal or exit() ends the process.
//   - Create() removes the abandoned directories of processes that crashed or were killed.
//
// The owner holds a lock (flock) on the file "lock" in the directory. Only the end of the process,
// and of processes that it forked without exec, releases the lock. A directory is abandoned if this
// lock is free. The file is created and locked as "lock-new" and then renamed, so that a "lock" is
// never free while its owner lives. A directory without a "lock" is being created, or its creation
// was interrupted; it is abandoned when it is older than a minute by the clock of the file system.
// A creation that is suspended for longer than that notices that its directory is gone, and starts
// again with a new one. The directory itself is locked too, for tools that remove old files of
// temporary directories and leave out directories with a lock, such as systemd-tmpfiles.
//
// Nothing but directories of this name, of this user and without access for others is removed, and
// in them nothing but the lock and files that have the name of a copy. Symbolic links are not
// followed.
//
// Threading: different objects may be used by different threads and processes.
class PrivateDirectory {
 public:
  static constexpr std::string_view kPrefix = "berth-plugins-";
  // The age in seconds at which a directory without a lock is abandoned.
  static constexpr int64_t kAbandonedAfter = 60;

  // Creates a directory, and removes the abandoned ones in `parent`, whose path has no symbolic
  // links.
  // `abandoned_after`: for tests. If it is negative, every directory without a lock is abandoned.
  // Errors: kCopyFailed, with the cause as a sentence in `found`.
  static LoadResult<std::unique_ptr<PrivateDirectory>> Create(
      const std::string& parent, int64_t abandoned_after = kAbandonedAfter);

  // Removes the copies and the directory. Libraries that are mapped stay mapped.
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return directory_.get(); }

  // Returns the name of the copy with this digest: "<digest>.so".
  static std::string CopyName(std::string_view digest);

 private:
  PrivateDirectory(std::string path, FileDescriptor directory, FileDescriptor lock,
                   std::optional<size_t> known);
  static LoadResult<std::unique_ptr<PrivateDirectory>> TryToCreate(const std::string& parent);
  // Returns the time of the last change of the directory, in seconds.
  int64_t ChangedAt() const;

  const std::string path_;
  const FileDescriptor directory_;
  const FileDescriptor lock_;
  const std::optional<size_t> known_;  // Its place in the table of RemovePrivateDirectories().
};

// Removes the directories of the PrivateDirectory objects in this process, with their copies. Does
// nothing in a process that was forked without exec. At most eight objects at a time are known to
// this function; abandoned directories of others are removed by the next process.
// Called:    by a signal handler, or while the process exits. Async-signal-safe.
// Threading: any.
void RemovePrivateDirectories();

// Returns the error kCopyFailed. `problem`: a sentence about the place of the copy, without a
// period. `code`: the errno.
LoadError CopyError(std::string problem, int code);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PRIVATE_DIRECTORY_H_
