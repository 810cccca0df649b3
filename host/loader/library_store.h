// Loads plugin libraries, and keeps them and their private copies.
#ifndef BERTH_HOST_LOADER_LIBRARY_STORE_H_
#define BERTH_HOST_LOADER_LIBRARY_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/loader/library_probe.h"
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
//
// A store with a probe loads each new content in a child process first, and rejects content that
// ends or blocks that process. The result of the probe holds for the life of the store: the same
// content is never probed again, and content that was rejected needs a new store.
// Threading: one thread at a time. Other threads may run, with the limits of LibraryProbe.
// Lifetime: a library may outlive the store; the copies on disk are removed with it.
class LibraryStore {
 public:
  using Loaded = LoadResult<std::shared_ptr<PluginLibrary>>;

  // Without a probe, libraries are loaded at once. For callers that trust their libraries.
  explicit LibraryStore(std::unique_ptr<PrivateCopies> copies,
                        std::optional<LibraryProbe> probe = std::nullopt)
      : copies_(std::move(copies)), probe_(std::move(probe)) {}
  LibraryStore(const LibraryStore&) = delete;
  LibraryStore& operator=(const LibraryStore&) = delete;

  // Reads, checks, copies, probes and loads the library at `path`. Errors up to kDlopenFailed are
  // found before any of its code has run in this process.
  // Errors: every code up to kUnknownPoint.
  Loaded Load(const std::string& path, const LoadOptions& options);
  // Loads several libraries, as Load() does, with one probe for all of them. Returns one result for
  // each path, in the same order.
  std::vector<Loaded> LoadAll(std::span<const std::string> paths, const LoadOptions& options);
  // Reads, checks and copies the library, and runs none of its code. The result is for
  // PluginLibrary::Open, in this process or in a forked one.
  // Errors: every code up to kCopyFailed.
  LoadResult<PluginLibrary::Source> Prepare(const std::string& path, const LoadOptions& options);

  uint64_t size() const { return libraries_.size(); }

 private:
  struct Content;
  struct Batch;

  static LoadResult<Content> Read(const std::string& path, const LoadOptions& options);
  LoadResult<PluginLibrary::Source> CheckAndCopy(const std::string& path, Content content);
  // Returns the digest of the file. Adds the library to the batch, if its content is not loaded.
  LoadResult<std::string> Add(const std::string& path, const LoadOptions& options, Batch& batch);
  // Probes the libraries of the batch that were never probed.
  void Probe(Batch& batch);
  // Returns the library with this digest, which is loaded or in the batch.
  Loaded Open(const std::string& digest, Batch& batch);

  std::unique_ptr<PrivateCopies> copies_;
  const std::optional<LibraryProbe> probe_;
  // Keyed by digest.
  std::map<std::string, std::shared_ptr<PluginLibrary>, std::less<>> libraries_;
  // The results of probes, keyed by digest; nullopt if the library can be loaded.
  std::map<std::string, std::optional<LoadError>, std::less<>> probed_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_STORE_H_
