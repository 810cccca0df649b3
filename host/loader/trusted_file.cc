#include "host/loader/trusted_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

constexpr uint32_t kMaxLinks = 40;  // The kernel's limit: path_resolution(7).

std::string ErrnoText(int code) { return std::generic_category().message(code); }

std::string ModeText(mode_t mode) {
  std::string digits;
  for (mode_t rest = mode & 07777; rest != 0; rest >>= 3) {
    digits.insert(digits.begin(), static_cast<char>('0' + (rest & 7)));
  }
  return "mode 0" + digits;
}

// Follows a path from the root. Each step opens one name in the directory that is already open, so
// that what was checked is what is used, even if files are renamed meanwhile.
class PathWalk {
 public:
  PathWalk(const std::string& path, const TrustOptions& options) : path_(path), options_(options) {}

  // Opens the directory that holds the last name, and checks every directory on the way.
  std::optional<LoadError> ToParent() {
    std::error_code code;
    const std::string absolute = std::filesystem::absolute(path_, code).string();
    if (code || path_.empty()) return OpenError(ENOENT, "\"" + path_ + "\"");
    if (auto error = Start()) return error;
    Push(absolute);
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (auto error = Step(name)) return error;
    }
    return std::nullopt;
  }

  const FileDescriptor& directory() const { return directory_; }
  // Returns the last name, which is neither a link nor "..". Empty if the path ends in a directory
  // that was already entered.
  const std::string& name() const { return name_; }

  std::string Resolved() const {
    std::string text;
    for (const std::string& name : walked_) text.append("/").append(name);
    if (!name_.empty()) text.append("/").append(name_);
    return text.empty() ? "/" : text;
  }

  LoadError Error(LoadErrorCode code, std::string expected, std::string found) const {
    return {
        .code = code, .path = path_, .expected = std::move(expected), .found = std::move(found)};
  }

  LoadError OpenError(int code, const std::string& what) const {
    const bool absent = code == ENOENT || code == ENOTDIR;
    return Error(absent ? LoadErrorCode::kNotFound : LoadErrorCode::kUnreadable,
                 absent ? "a file" : "a file that can be read", what + ": " + ErrnoText(code));
  }

  // `what`: the file, directory or link, as messages name it.
  std::optional<LoadError> CheckAll(const struct stat& status, const std::string& what) const {
    auto error = CheckOwner(status, what);
    return error.has_value() ? error : CheckWriters(status, what);
  }

  std::optional<LoadError> CheckOwner(const struct stat& status, const std::string& what) const {
    const uint32_t owner = status.st_uid;
    const bool trusted = owner == 0 || owner == ::geteuid() ||
                         std::ranges::find(options_.owners, owner) != options_.owners.end();
    if (!options_.check_owner || trusted) return std::nullopt;
    return Error(LoadErrorCode::kWrongOwner,
                 what + " to belong to root or the user of this process",
                 "user " + std::to_string(owner));
  }

  std::optional<LoadError> CheckWriters(const struct stat& status, const std::string& what) const {
    const bool shared = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if (!options_.check_owner || !shared || (sticky && status.st_uid == 0)) return std::nullopt;
    return Error(LoadErrorCode::kWritableByOthers,
                 what + " to be writable by its owner alone (chmod go-w)",
                 ModeText(status.st_mode));
  }

 private:
  std::optional<LoadError> Start() {
    walked_.clear();
    return Enter(FileDescriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }

  std::optional<LoadError> Enter(FileDescriptor next) {
    struct stat status {};
    if (!next.ok() || ::fstat(next.get(), &status) != 0) return OpenError(errno, Resolved());
    if (!S_ISDIR(status.st_mode)) return OpenError(ENOTDIR, Resolved());
    if (auto error = CheckAll(status, "directory " + Resolved())) return error;
    directory_ = std::move(next);
    return std::nullopt;
  }

  std::optional<LoadError> Step(const std::string& name) {
    if (name == "..") {
      if (!walked_.empty()) walked_.pop_back();
      return Enter(
          FileDescriptor(::openat(directory_.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)));
    }
    const std::string what = (walked_.empty() ? "" : Resolved()) + "/" + name;
    FileDescriptor next(::openat(directory_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!next.ok() || ::fstat(next.get(), &status) != 0) return OpenError(errno, what);
    if (S_ISLNK(status.st_mode)) return FollowLink(next, status, what);
    if (pending_.empty()) {
      name_ = name;
      return std::nullopt;
    }
    walked_.push_back(name);
    return Enter(std::move(next));
  }

  std::optional<LoadError> FollowLink(const FileDescriptor& link, const struct stat& status,
                                      const std::string& what) {
    if (auto error = CheckOwner(status, "link " + what)) return error;
    if (++links_ > kMaxLinks) return OpenError(ELOOP, what);
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) return OpenError(errno, what);
    const std::string_view text(target.data(), static_cast<size_t>(size));
    Push(text);
    return text.starts_with('/') ? Start() : std::nullopt;
  }

  void Push(std::string_view path) {
    const size_t first = pending_.size();
    while (!path.empty()) {
      const size_t slash = path.find('/');
      const std::string_view name = path.substr(0, slash);
      if (!name.empty() && name != ".") pending_.emplace_back(name);
      path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
  }

  const std::string& path_;
  const TrustOptions& options_;
  std::vector<std::string> pending_;  // The names still to be walked; the next one is last.
  std::vector<std::string> walked_;
  FileDescriptor directory_;
  std::string name_;
  uint32_t links_ = 0;
};

LoadResult<std::vector<std::byte>> ReadOpenFile(const FileDescriptor& file, const PathWalk& walk,
                                                uint64_t size, uint64_t max_bytes) {
  const LoadError too_large =
      walk.Error(LoadErrorCode::kTooLarge,
                 "a file of at most " + std::to_string(max_bytes) + " bytes", "a larger file");
  if (size > max_bytes) return too_large;
  std::vector<std::byte> bytes(size + 1);  // One byte more, to detect the end of the file.
  uint64_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return walk.OpenError(errno, walk.Resolved());
    if (got == 0) break;
    used += static_cast<uint64_t>(got);
    if (used > max_bytes) return too_large;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

LoadResult<TrustedFile> ReadTrustedFile(const std::string& path, const TrustOptions& options) {
  PathWalk walk(path, options);
  if (auto error = walk.ToParent()) return *std::move(error);
  const LoadError not_regular =
      walk.Error(LoadErrorCode::kNotARegularFile, "a regular file", "another kind of file");
  if (walk.name().empty()) return not_regular;
  // Check the type before opening the file: opening a device or a pipe may have side effects.
  struct stat status {};
  const char* name = walk.name().c_str();
  if (::fstatat(walk.directory().get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return walk.OpenError(errno, walk.Resolved());
  }
  if (!S_ISREG(status.st_mode)) return not_regular;
  const FileDescriptor file(::openat(walk.directory().get(), name,
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.ok() || ::fstat(file.get(), &status) != 0) {
    return walk.OpenError(errno, walk.Resolved());
  }
  if (!S_ISREG(status.st_mode)) return not_regular;
  if (auto error = walk.CheckAll(status, "file " + walk.Resolved())) return *std::move(error);
  LoadResult<std::vector<std::byte>> bytes =
      ReadOpenFile(file, walk, static_cast<uint64_t>(status.st_size), options.max_bytes);
  if (!bytes.ok()) return std::move(bytes).error();
  return TrustedFile{walk.Resolved(), *std::move(bytes)};
}

LoadResult<std::string> ResolveTrustedDirectory(const std::string& path,
                                                const TrustOptions& options) {
  PathWalk walk(path, options);
  if (auto error = walk.ToParent()) return *std::move(error);
  if (walk.name().empty()) return walk.Resolved();
  const FileDescriptor last(::openat(walk.directory().get(), walk.name().c_str(),
                                     O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!last.ok() || ::fstat(last.get(), &status) != 0) {
    return walk.OpenError(errno, walk.Resolved());
  }
  if (auto error = walk.CheckAll(status, "directory " + walk.Resolved())) return *std::move(error);
  return walk.Resolved();
}

}  // namespace berth::host
