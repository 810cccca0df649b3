// Notices that files were written.
#ifndef BERTH_HOST_PROCESS_FILE_WATCH_H_
#define BERTH_HOST_PROCESS_FILE_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace berth::host {

// What can be told of a file without reading it; of none, all 0. Links are followed: what a mounted
// ConfigMap is swapped by is another file.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_ns = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp StampOf(const std::string& path);
// Files, as they were just before they were read.
using FileStamps = std::map<std::string, FileStamp>;

// What has become of some files since it was last asked.
//
// A file that is being written is not ready to be read: a change counts when the next look finds
// all files as the last one did.
// Threading: one thread.
class FileChanges {
 public:
  explicit FileChanges(FileStamps files) { Watch(std::move(files)); }

  // From now on these; a change since then counts.
  void Watch(FileStamps files);
  // Another look. True: something has changed, and rests.
  bool Look();

 private:
  FileStamps known_;  // As they were read, or when it was last said that they changed.
  FileStamps seen_;   // As the last look saw them.
};

// Looks at files every now and then, on a thread of its own, as long as it lives.
// (Not inotify: what it tells of links, of mounts and of files that are not there yet, differs; a
// handful of stat calls costs nothing.)
class FileWatch {
 public:
  // `changed` is called on the thread, each time that something has changed.
  FileWatch(FileStamps files, std::chrono::milliseconds every, std::function<void()> changed);
  // No call to `changed` is running or follows.
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // From now on these; a change since then counts. Threading: any.
  void Watch(FileStamps files);

 private:
  void Run(std::chrono::milliseconds every);

  const std::function<void()> changed_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;  // Guarded by mutex_, as what follows.
  FileChanges changes_;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_FILE_WATCH_H_
