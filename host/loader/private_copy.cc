#include "host/loader/private_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "host/base/file_descriptor.h"
#include "host/loader/private_directory.h"
#include "host/loader/trusted_file.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Since Linux 6.3; missing in older headers.
#endif

namespace berth::host {
namespace {

// Writes all bytes. Returns 0 or the errno.
int WriteAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

// Maps a page of the file for execution, as the dynamic linker does. Returns 0 or the errno.
int TryToExecute(int file) {
  void* const page = ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (page == MAP_FAILED) return errno;
  ::munmap(page, 1);
  return 0;
}

class DirectoryCopies final : public PrivateCopies {
 public:
  explicit DirectoryCopies(std::unique_ptr<PrivateDirectory> directory)
      : directory_(std::move(directory)) {}

  LoadResult<std::string> Write(const std::string& digest,
                                std::span<const std::byte> bytes) override {
    const std::string name = PrivateDirectory::CopyName(digest);
    const std::string path = directory_->path() + "/" + name;
    // Remove an earlier copy of a library that was rejected after it was loaded.
    ::unlinkat(directory_->descriptor(), name.c_str(), 0);
    const FileDescriptor file(::openat(directory_->descriptor(), name.c_str(),
                                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0500));
    if (!file.ok()) return CopyError("no file can be created in it", errno);
    names_.emplace(path, name);
    if (const int code = WriteAll(file.get(), bytes); code != 0) {
      Discard(path);
      return CopyError("a file in it cannot be written", code);
    }
    if (const int code = TryToExecute(file.get()); code != 0) {
      Discard(path);
      return CopyError("it does not allow execution (it may be mounted noexec)", code);
    }
    return path;
  }

  void Discard(const std::string& path) override {
    const auto copy = names_.find(path);
    if (copy == names_.end()) return;
    ::unlinkat(directory_->descriptor(), copy->second.c_str(), 0);
    names_.erase(copy);
  }

 private:
  const std::unique_ptr<PrivateDirectory> directory_;
  std::map<std::string, std::string> names_;  // The names of the copies in the directory, by path.
};

class MemoryCopies final : public PrivateCopies {
 public:
  // The remaining files may be mapped, so their descriptors stay open.
  ~MemoryCopies() override {
    for (auto& [path, file] : files_) file.Release();
  }

  LoadResult<std::string> Write(const std::string& digest,
                                std::span<const std::byte> bytes) override {
    const std::string label = "berth-" + digest.substr(0, 16);
    FileDescriptor file(::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
    if (!file.ok() && errno == EINVAL) {  // The kernel is older than MFD_EXEC.
      file = FileDescriptor(::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    }
    if (!file.ok()) return CopyError("no memory file that allows execution can be created", errno);
    if (const int code = WriteAll(file.get(), bytes); code != 0) {
      return CopyError("the memory file cannot be written", code);
    }
    constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
      return CopyError("the memory file cannot be sealed", errno);
    }
    if (const int code = TryToExecute(file.get()); code != 0) {
      return CopyError("the memory file does not allow execution", code);
    }
    std::string path = "/proc/self/fd/" + std::to_string(file.get());
    if (::access(path.c_str(), R_OK) != 0) {
      return CopyError("the memory file cannot be opened as " + path, errno);
    }
    files_.emplace(path, std::move(file));
    return path;
  }

  void Discard(const std::string& path) override { files_.erase(path); }

 private:
  std::map<std::string, FileDescriptor> files_;
};

std::string ProblemIn(const LoadError& error) {
  // The errors of paths that cannot be opened contain the path and the cause in `found`.
  const bool is_sentence = error.expected.empty() || error.code == LoadErrorCode::kNotFound ||
                           error.code == LoadErrorCode::kUnreadable;
  return is_sentence ? error.found : "expected " + error.expected + ", found " + error.found;
}

}  // namespace

LoadResult<std::unique_ptr<PrivateCopies>> CopyToDirectory(const std::string& runtime_directory) {
  LoadResult<std::string> parent = ResolveTrustedDirectory(runtime_directory, {});
  if (!parent.ok()) return std::move(parent).error();
  auto directory = PrivateDirectory::Create(*parent);
  if (!directory.ok()) return std::move(directory).error();
  return std::unique_ptr<PrivateCopies>(
      std::make_unique<DirectoryCopies>(std::move(directory).value()));
}

std::unique_ptr<PrivateCopies> CopyToMemory() { return std::make_unique<MemoryCopies>(); }

FallbackCopies::FallbackCopies(std::string directory, Open open_directory,
                               std::unique_ptr<PrivateCopies> memory)
    : name_(std::move(directory)),
      open_directory_(std::move(open_directory)),
      memory_(std::move(memory)) {}

LoadResult<std::string> FallbackCopies::Write(const std::string& digest,
                                              std::span<const std::byte> bytes) {
  if (!problem_.has_value()) {
    LoadResult<std::string> path = WriteToDirectory(digest, bytes);
    if (path.ok()) return path;
    problem_ = ProblemIn(path.error());
  }
  LoadResult<std::string> path = memory_->Write(digest, bytes);
  if (path.ok()) return path;
  return MakeLoadError(
      LoadErrorCode::kCopyFailed, "",
      "a private copy of the library is required, but cannot be made: in the directory " + name_ +
          ": " + *problem_ + "; in memory: " + ProblemIn(path.error()) +
          "; set TMPDIR to a directory that can be written, has free space and allows execution");
}

LoadResult<std::string> FallbackCopies::WriteToDirectory(const std::string& digest,
                                                         std::span<const std::byte> bytes) {
  if (directory_ == nullptr) {
    LoadResult<std::unique_ptr<PrivateCopies>> opened = open_directory_();
    if (!opened.ok()) return std::move(opened).error();
    directory_ = std::move(opened).value();
  }
  return directory_->Write(digest, bytes);
}

void FallbackCopies::Discard(const std::string& path) {
  if (directory_ != nullptr) directory_->Discard(path);
  memory_->Discard(path);
}

std::unique_ptr<PrivateCopies> CopyToDirectoryOrMemory(const std::string& runtime_directory) {
  return std::make_unique<FallbackCopies>(
      runtime_directory, [runtime_directory] { return CopyToDirectory(runtime_directory); },
      CopyToMemory());
}

}  // namespace berth::host
