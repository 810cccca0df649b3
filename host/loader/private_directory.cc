#include "host/loader/private_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kRandom = "XXXXXX";  // mkdtemp() replaces these characters.
constexpr const char* kLock = "lock";
constexpr const char* kNewLock = "lock-new";
constexpr std::string_view kCopySuffix = ".so";
constexpr size_t kDigestSize = 64;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kMaxCreations = 100;

// ---- Removal. These functions are async-signal-safe. --------------------------------------------

bool IsCopyName(std::string_view name) {
  return name.size() == kDigestSize + kCopySuffix.size() && name.ends_with(kCopySuffix) &&
         std::ranges::all_of(name.substr(0, kDigestSize), IsHexDigit);
}

// Removes the copies that one pass over the directory finds. Returns whether there were any.
bool RemoveSomeCopies(int directory) {
  bool removed = false;
  alignas(dirent64) std::array<char, 4096> entries;
  if (::lseek(directory, 0, SEEK_SET) != 0) return false;
  for (;;) {
    const ssize_t size = ::getdents64(directory, entries.data(), entries.size());
    if (size <= 0) return removed;
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (IsCopyName(entry->d_name) && ::unlinkat(directory, entry->d_name, 0) == 0) removed = true;
    }
  }
}

// Removes the directory `path`. `directory`: its descriptor, or -1 if it could not be opened. The
// lock is removed last, so that the rest of a removal that is interrupted is known to be abandoned.
void Remove(const char* path, int directory) {
  // A file system may leave out entries while others are removed.
  while (RemoveSomeCopies(directory)) continue;
  ::unlinkat(directory, kNewLock, 0);
  ::unlinkat(directory, kLock, 0);
  // Another thread may write a copy meanwhile.
  while (::rmdir(path) != 0 && RemoveSomeCopies(directory)) continue;
}

// A directory of this process. Global because a signal handler takes no arguments.
struct KnownDirectory {
  std::atomic<pid_t> owner = 0;  // 0 if unused, kBusy while `path` changes.
  std::array<char, PATH_MAX> path{};
};
constexpr pid_t kBusy = -1;
std::array<KnownDirectory, 8> known_directories;  // NOLINT(readability-identifier-naming)

// ---- Directories of this process ----------------------------------------------------------------

// Returns the index in known_directories, or nullopt if all are in use.
std::optional<size_t> AddKnown(const std::string& path) {
  if (path.size() >= PATH_MAX) return std::nullopt;
  for (size_t i = 0; i < known_directories.size(); ++i) {
    KnownDirectory& known = known_directories.at(i);
    pid_t unused = 0;
    if (!known.owner.compare_exchange_strong(unused, kBusy)) continue;
    known.path.fill('\0');
    std::ranges::copy(path, known.path.begin());
    known.owner = ::getpid();
    return i;
  }
  return std::nullopt;
}

// Claims the entry of this process, so that no other thread reads or changes it. Returns false if
// it belongs to another process or is claimed already.
bool Claim(KnownDirectory& known) {
  pid_t own = ::getpid();
  return known.owner.compare_exchange_strong(own, kBusy);
}

// Returns 0 or the errno, which is ENOENT if another process has removed the new directory, because
// its creation took too long.
int CreateLock(int directory, FileDescriptor& lock) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  lock = FileDescriptor(::openat(directory, kNewLock, kFlags, 0600));
  if (!lock.ok() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::renameat(directory, kNewLock, directory, kLock) != 0) {
    return errno;
  }
  // For other tools. Copies can be made without it.
  static_cast<void>(::flock(directory, LOCK_SH | LOCK_NB));
  return 0;
}

// ---- Abandoned directories ----------------------------------------------------------------------

// `now`: the time of the file system in seconds; if it is nullopt, a directory without a lock is
// not abandoned.
void RemoveIfAbandoned(const std::string& path, std::optional<int64_t> now,
                       int64_t abandoned_after) {
  const FileDescriptor directory(::open(path.c_str(), kOpenDirectory));
  struct stat facts {};
  if (!directory.ok() || ::fstat(directory.get(), &facts) != 0) return;
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 0777) != 0700) return;
  const FileDescriptor lock(
      ::openat(directory.get(), kLock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (lock.ok()) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) Remove(path.c_str(), directory.get());
    return;
  }
  if (errno != ENOENT || !now.has_value()) return;
  if (*now - facts.st_mtim.tv_sec <= abandoned_after) return;
  // The owner may continue now. If it renames its lock first, rmdir() fails; otherwise it starts
  // again.
  ::unlinkat(directory.get(), kNewLock, 0);
  ::rmdir(path.c_str());
}

void RemoveAbandoned(const std::string& parent, std::optional<int64_t> now,
                     int64_t abandoned_after) {
  std::error_code error;
  std::filesystem::directory_iterator entry(parent, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_ours = name.starts_with(PrivateDirectory::kPrefix) &&
                         name.size() == PrivateDirectory::kPrefix.size() + kRandom.size();
    if (is_ours) RemoveIfAbandoned(entry->path().string(), now, abandoned_after);
  }
}

}  // namespace

LoadError CopyError(std::string problem, int code) {
  return MakeLoadError(LoadErrorCode::kCopyFailed, "",
                       std::move(problem.append(": ").append(std::strerror(code))));
}

void RemovePrivateDirectories() {
  const int before = errno;
  for (KnownDirectory& known : known_directories) {
    if (!Claim(known)) continue;
    const int directory = ::open(known.path.data(), kOpenDirectory);
    if (directory >= 0) {
      Remove(known.path.data(), directory);
      ::close(directory);
    }
    known.owner = 0;
  }
  errno = before;
}

LoadResult<std::unique_ptr<PrivateDirectory>> PrivateDirectory::Create(const std::string& parent,
                                                                       int64_t abandoned_after) {
  auto created = TryToCreate(parent);
  if (created.ok()) {
    RemoveAbandoned(parent, (*created)->ChangedAt(), abandoned_after);
    return created;
  }
  // Abandoned copies may have filled the file system.
  RemoveAbandoned(parent, std::nullopt, abandoned_after);
  return TryToCreate(parent);
}

LoadResult<std::unique_ptr<PrivateDirectory>> PrivateDirectory::TryToCreate(
    const std::string& parent) {
  const std::string pattern = std::string(parent).append("/").append(kPrefix).append(kRandom);
  for (int i = 0; i < kMaxCreations; ++i) {
    std::string path = pattern;
    if (::mkdtemp(path.data()) == nullptr) {
      return CopyError("no directory can be created in it", errno);
    }
    FileDescriptor directory(::open(path.c_str(), kOpenDirectory));
    FileDescriptor lock;
    const int code = directory.ok() ? CreateLock(directory.get(), lock) : errno;
    if (code == 0) {
      const std::optional<size_t> known = AddKnown(path);
      return std::unique_ptr<PrivateDirectory>(
          new PrivateDirectory(std::move(path), std::move(directory), std::move(lock), known));
    }
    Remove(path.c_str(), directory.get());
    if (code != ENOENT) return CopyError("no lock can be created in it", code);
  }
  return CopyError("every new directory in it is removed by other processes", ENOENT);
}

PrivateDirectory::PrivateDirectory(std::string path, FileDescriptor directory, FileDescriptor lock,
                                   std::optional<size_t> known)
    : path_(std::move(path)),
      directory_(std::move(directory)),
      lock_(std::move(lock)),
      known_(known) {}

PrivateDirectory::~PrivateDirectory() {
  Remove(path_.c_str(), directory_.get());
  // A handler that has claimed the entry frees it.
  if (known_.has_value() && Claim(known_directories.at(*known_))) {
    known_directories.at(*known_).owner = 0;
  }
}

int64_t PrivateDirectory::ChangedAt() const {
  struct stat facts {};
  return ::fstat(directory_.get(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

std::string PrivateDirectory::CopyName(std::string_view digest) {
  return std::string(digest).append(kCopySuffix);
}

}  // namespace berth::host
