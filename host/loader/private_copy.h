// Private copies of libraries, which no other user can change between check and load.
#ifndef BERTH_HOST_LOADER_PRIVATE_COPY_H_
#define BERTH_HOST_LOADER_PRIVATE_COPY_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/loader/load_error.h"

namespace berth::host {

// Creates the copies. Each content gets a new file: the dynamic linker identifies libraries by path
// and inode, and must treat a changed library as a new one.
// Threading: one thread at a time.
class PrivateCopies {
 public:
  virtual ~PrivateCopies() = default;

  // Writes `bytes` to a file that dlopen can open and map for execution, and returns its path.
  // Errors: kCopyFailed, with the cause as a sentence in `found`; the caller sets `path`.
  virtual LoadResult<std::string> Write(const std::string& digest,
                                        std::span<const std::byte> bytes) = 0;
  // Removes the copy at `path`. Does nothing if this object has not written it. REQUIRES: it is not
  // mapped: dlopen failed, or was not called.
  virtual void Discard(const std::string& path) = 0;
};

// Stores copies in a new PrivateDirectory under `runtime_directory` ("/run/berth"), where debuggers
// and profilers find the symbols. A file is named <digest>.so and has mode 0500. The directory is
// removed with the object; mapped libraries stay mapped.
// Errors: those of ResolveTrustedDirectory for `runtime_directory`, kCopyFailed.
LoadResult<std::unique_ptr<PrivateCopies>> CopyToDirectory(const std::string& runtime_directory);

// Stores copies in sealed anonymous memory, for hosts without a writable file system. The
// descriptors stay open for the rest of the process: the dynamic linker identifies such a library
// by "/proc/self/fd/<number>", and would mistake another file under a reused number for the old
// library.
std::unique_ptr<PrivateCopies> CopyToMemory();

// Stores copies in a directory until that fails for the first time: the directory is missing, is
// not a directory, cannot be written, is full, does not allow execution, or is not trusted. That
// copy and all later ones are then stored in memory. Earlier copies stay where they are.
// Nothing is opened or created before the first Write().
class FallbackCopies final : public PrivateCopies {
 public:
  using Open = std::function<LoadResult<std::unique_ptr<PrivateCopies>>()>;

  // `directory`: the name of the directory for messages. `open_directory` is called once.
  FallbackCopies(std::string directory, Open open_directory, std::unique_ptr<PrivateCopies> memory);

  // Errors: kCopyFailed if the directory and the memory have failed. `found` names the directory,
  // both causes and the remedy.
  LoadResult<std::string> Write(const std::string& digest,
                                std::span<const std::byte> bytes) override;
  void Discard(const std::string& path) override;

 private:
  LoadResult<std::string> WriteToDirectory(const std::string& digest,
                                           std::span<const std::byte> bytes);

  const std::string name_;
  const Open open_directory_;
  std::unique_ptr<PrivateCopies> directory_;  // Null until the first Write(), or if it failed.
  const std::unique_ptr<PrivateCopies> memory_;
  std::optional<std::string> problem_;  // Why the directory is not used any more.
};

// Returns copies in a private directory under `runtime_directory`, or else in memory; see
// CopyToDirectory() and CopyToMemory().
std::unique_ptr<PrivateCopies> CopyToDirectoryOrMemory(const std::string& runtime_directory);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PRIVATE_COPY_H_
