// Private copies of libraries, which no other user can change between check and load.
#ifndef BERTH_HOST_LOADER_PRIVATE_COPY_H_
#define BERTH_HOST_LOADER_PRIVATE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/file_descriptor.h"
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

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PRIVATE_COPY_H_
