// Reads a library file, if only trusted users could have written it.
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
  // User ids that may own the file and the directories above it, besides root and the effective
  // user.
  std::vector<uint32_t> owners;
  // False disables the checks of owners and modes. Only for a plugin author's own build tree.
  bool check_owner = true;
  uint64_t max_bytes = uint64_t{256} << 20;
};

struct TrustedFile {
  std::string path;  // Absolute, without symbolic links.
  std::vector<std::byte> bytes;
};

// Walks `path` from the root, one directory at a time and by descriptor, and reads the file at its
// end once. A symbolic link is followed if a trusted user owns it. The file and every directory on
// the way must have a trusted owner and must not be writable by group or others, except for
// directories of root with the sticky bit, such as /tmp.
// Errors: kNotFound, kNotARegularFile, kWrongOwner, kWritableByOthers, kUnreadable, kTooLarge.
LoadResult<TrustedFile> ReadTrustedFile(const std::string& path, const TrustOptions& options);

// Walks `path` by the same rules to a directory. Returns its path without symbolic links.
LoadResult<std::string> ResolveTrustedDirectory(const std::string& path,
                                                const TrustOptions& options);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_TRUSTED_FILE_H_
