// Where copies of plugin libraries live while they are mapped, and who holds them.
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
  std::string sha256;  // The pin: 64 hexadecimal digits, in either case; empty: any content.
};

// All libraries of this process, by the digest of their content. One per process, for all
// generations of the configuration: the same content is loaded and initialised once, however often
// and under whatever path it is asked for; a file that changed under its path is another library
// beside the old one. Libraries are never unloaded.
// Threading: one thread at a time.
// Lifetime: a library may outlive the store; the copies on disk do not.
class LibraryStore {
 public:
  explicit LibraryStore(std::unique_ptr<PrivateCopies> copies) : copies_(std::move(copies)) {}
  LibraryStore(const LibraryStore&) = delete;
  LibraryStore& operator=(const LibraryStore&) = delete;

  // Reads, judges, copies and loads the library at `path`. Up to kDlopenFailed none of its code has
  // run.
  // Errors: every code up to kUnknownPoint.
  LoadResult<std::shared_ptr<PluginLibrary>> Load(const std::string& path,
                                                  const LoadOptions& options);
  // The same up to the copy: judges the library, and runs none of its code. What comes of it is for
  // PluginLibrary::Open, in this process or in one that is forked from it.
  // Errors: every code up to kCopyFailed.
  LoadResult<PluginLibrary::Source> Prepare(const std::string& path, const LoadOptions& options);

  uint64_t size() const { return libraries_.size(); }

 private:
  struct Content;

  static LoadResult<Content> Read(const std::string& path, const LoadOptions& options);
  LoadResult<PluginLibrary::Source> JudgeAndCopy(const std::string& path, Content content);

  std::unique_ptr<PrivateCopies> copies_;
  std::map<std::string, std::shared_ptr<PluginLibrary>, std::less<>> libraries_;  // By digest.
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_STORE_H_
