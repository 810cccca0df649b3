// Detects that files have changed.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_FILE_WATCH_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_FILE_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

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
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

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

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_FILE_WATCH_H_
