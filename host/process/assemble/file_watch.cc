#include "host/process/assemble/file_watch.h"

#include <sys/stat.h>

#include <utility>

#include "host/base/time_units.h"

namespace berth::host {

FileStamp StampOf(const std::string& path) {
  struct stat now {};
  if (stat(path.c_str(), &now) != 0) return {};
  return {.device = now.st_dev,
          .inode = now.st_ino,
          .size = now.st_size,
          .changed_ns = now.st_mtim.tv_sec * kSecond + now.st_mtim.tv_nsec};
}

// ---- FileChanges --------------------------------------------------------------------------------

void FileChanges::Watch(FileStamps files) {
  known_ = std::move(files);
  seen_ = known_;
}

bool FileChanges::Check() {
  FileStamps now;
  for (const auto& [path, stamp] : seen_) now.emplace_hint(now.end(), path, StampOf(path));
  const bool is_stable = now == seen_;
  seen_ = std::move(now);
  if (!is_stable || seen_ == known_) return false;
  known_ = seen_;
  return true;
}

// ---- FileWatch ----------------------------------------------------------------------------------

FileWatch::FileWatch(FileStamps files, std::chrono::milliseconds every,
                     std::function<void()> changed)
    : changed_(std::move(changed)),
      changes_(std::move(files)),
      thread_([this, every] { Run(every); }) {}

FileWatch::~FileWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void FileWatch::Watch(FileStamps files) {
  const std::lock_guard lock(mutex_);
  changes_.Watch(std::move(files));
}

void FileWatch::Run(std::chrono::milliseconds every) {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, every, [this] { return ending_; })) {
    if (!changes_.Check()) continue;
    lock.unlock();
    changed_();
    lock.lock();
  }
}

}  // namespace berth::host
