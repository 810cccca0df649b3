// Loads plugin libraries, and keeps them and their private copies.
#ifndef BERTH_HOST_LOADER_LIBRARY_STORE_H_
#define BERTH_HOST_LOADER_LIBRARY_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"
#include "host/loader/private_copy.h"
#include "host/loader/trusted_file.h"

namespace berth::host {

struct LoadOptions {
  TrustOptions trust;
  // The required content digest: 64 hexadecimal digits, in either case. Empty accepts any content.
  std::string sha256;
};

// All plugin libraries of this process, by the digest of their content. One store serves all
// generations of the configuration. The same content is loaded and initialised once, however often
// and under whatever path it is requested. A file that changed under its path becomes a second
// library beside the old one. Libraries are never unloaded.
// Threading: one thread at a time.
// Lifetime: a library may outlive the store; the copies on disk are removed with it.
class LibraryStore {
 public:
  explicit LibraryStore(std::unique_ptr<PrivateCopies> copies) : copies_(std::move(copies)) {}
  LibraryStore(const LibraryStore&) = delete;
  LibraryStore& operator=(const LibraryStore&) = delete;

  // Reads, checks, copies and loads the library at `path`. Errors up to kDlopenFailed are found
  // before any of its code has run.
  // Errors: every code up to kUnknownPoint.
  LoadResult<std::shared_ptr<PluginLibrary>> Load(const std::string& path,
                                                  const LoadOptions& options);
  // Reads, checks and copies the library, and runs none of its code. The result is for
  // PluginLibrary::Open, in this process or in a forked one.
  // Errors: every code up to kCopyFailed.
  LoadResult<PluginLibrary::Source> Prepare(const std::string& path, const LoadOptions& options);

  uint64_t size() const { return libraries_.size(); }

 private:
  struct Content;

  static LoadResult<Content> Read(const std::string& path, const LoadOptions& options);
  LoadResult<PluginLibrary::Source> CheckAndCopy(const std::string& path, Content content);

  std::unique_ptr<PrivateCopies> copies_;
  // Keyed by digest.
  std::map<std::string, std::shared_ptr<PluginLibrary>, std::less<>> libraries_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_STORE_H_
