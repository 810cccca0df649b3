// Reads a file that is to become code of this process, if only root and we could have written it.
#ifndef BERTH_HOST_LOADER_TRUSTED_FILE_H_
#define BERTH_HOST_LOADER_TRUSTED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/loader/load_error.h"

namespace berth::host {

struct TrustOptions {
  // Users who may own the file and the directories above it, beside root and the effective user.
  std::vector<uint32_t> owners;
  // False: owners and modes are not looked at. For an author's own build tree only.
  bool check_owner = true;
  uint64_t max_bytes = uint64_t{256} << 20;
};

struct TrustedFile {
  std::string path;  // Absolute, without symbolic links.
  std::vector<std::byte> bytes;
};

// Walks `path` from the root, one directory at a time and by descriptor, and reads the file at its
// end once. A symbolic link is followed when a trusted user owns it. Every directory passed, and
// the file, must have a trusted owner and must not be writable by group or others; a directory of
// root's with the sticky bit, such as /tmp, may be.
// Errors: kNotFound, kNotARegularFile, kWrongOwner, kWritableByOthers, kUnreadable, kTooLarge.
LoadResult<TrustedFile> ReadTrustedFile(const std::string& path, const TrustOptions& options);

// The same walk to a directory. Returns its path without symbolic links.
LoadResult<std::string> ResolveTrustedDirectory(const std::string& path,
                                                const TrustOptions& options);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_TRUSTED_FILE_H_
