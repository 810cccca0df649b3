// Copies of libraries that nobody else can change between judging and mapping them.
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

// Makes the copies. A fresh file per content, so that the dynamic linker, which knows libraries by
// path and inode, sees a changed library as a new one.
// Threading: one thread at a time.
class PrivateCopies {
 public:
  virtual ~PrivateCopies() = default;

  // Writes `bytes` where dlopen can reach them. Returns the path for dlopen.
  // Errors: kCopyFailed.
  virtual LoadResult<std::string> Write(const std::string& digest,
                                        std::span<const std::byte> bytes) = 0;
  // dlopen refused the copy at `path`: nothing is mapped, it may go.
  virtual void Discard(const std::string& path) = 0;
};

// Copies in a directory of mode 0700 with a name of its own under `runtime_directory`
// ("/run/berth"): debuggers and profilers find the symbols. The file is named <digest>.so and has
// mode 0500. All is removed with the object; what is mapped stays mapped.
// Errors: those of ResolveTrustedDirectory for `runtime_directory`, kCopyFailed.
LoadResult<std::unique_ptr<PrivateCopies>> CopyToDirectory(const std::string& runtime_directory);

// Copies in sealed anonymous memory, for hosts without a writable file system. The descriptors stay
// open for the rest of the process: the dynamic linker knows such a library by
// "/proc/self/fd/<number>", and would take another file under a number that is used again for the
// old library.
std::unique_ptr<PrivateCopies> CopyToMemory();

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PRIVATE_COPY_H_
