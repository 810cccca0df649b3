// Loads plugin libraries after a probe in a child process, and keeps them and their private copies.
#ifndef BERTH_HOST_LOADER_LIBRARY_STORE_H_
#define BERTH_HOST_LOADER_LIBRARY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/base/time_units.h"
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

// Returns the SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const std::byte> bytes);

// How long the child processes of ProbeLibraries() may take to load one library, or all libraries
// that share a process.
inline constexpr int64_t kProbeLimitNs = 10 * kSecond;

// Finds libraries that end or block the process that loads them: by a static constructor that
// crashes, hangs or calls exit(), or by an entry with an invalid pointer. Such a library would end
// the host, which no check before loading can prevent.
//
// The constructors of each library run once in a child process. The text that they print goes to
// standard error. Each later load in this process runs them again.
//
// Loads the libraries in this order in one child process. If that process ends early, another
// child loads the library in question alone, and a third child loads the rest. Returns for each
// library the error kProbeFailed without a path, or nullopt if the library can be loaded. A
// library that Open() rejects is no error: Open() reports that in this process too.
// `steady_ns` must only go forward.
//
// Threading: the process may have other threads; see RunInChild() for what a child of such a
//            process can use. A library that is loaded while another thread of this process loads a
//            library may appear to hang, because the child has a half-updated list of libraries.
//            The host loads libraries on one thread; only a plugin's thread could do that.
// Errors: Unavailable if a child process could not be created.
Result<std::vector<std::optional<LoadError>>> ProbeLibraries(
    std::span<const PluginLibrary::Source> libraries, const std::function<int64_t()>& steady_ns);

// All plugin libraries of this process, by the digest of their content. One store serves all
// generations of the configuration. The same content is loaded and initialised once, however often
// and under whatever path it is requested. A file that changed under its path becomes a second
// library beside the old one, and so does one that finds a changed library through $ORIGIN.
// Libraries are never unloaded.
//
// A store with a clock passes each new content to ProbeLibraries() first, and rejects content that
// ends or blocks the child process. The result of the probe holds for the life of the store: the
// same content is never probed again, and content that was rejected needs a new store.
// Threading: one thread at a time. Other threads may run, with the limits of ProbeLibraries().
// Lifetime: a library may outlive the store; the copies on disk are removed with it.
class LibraryStore {
 public:
  using Loaded = LoadResult<std::shared_ptr<PluginLibrary>>;

  // `steady_ns`: the clock of the probe. Without it, libraries are loaded at once, for callers that
  // trust their libraries.
  explicit LibraryStore(std::unique_ptr<PrivateCopies> copies,
                        std::function<int64_t()> steady_ns = {})
      : copies_(std::move(copies)), steady_ns_(std::move(steady_ns)) {}
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

  // Reads and checks the library.
  LoadResult<Content> Read(const std::string& path, const LoadOptions& options) const;
  LoadResult<PluginLibrary::Source> Copy(const std::string& path, Content content);
  // Returns the identity of the library. Adds it to the batch, if it is not loaded.
  LoadResult<std::string> Add(const std::string& path, const LoadOptions& options, Batch& batch);
  // Probes the libraries of the batch that were never probed.
  void Probe(Batch& batch);
  // Returns the library with this identity, which is loaded or in the batch.
  Loaded Open(const std::string& identity, Batch& batch);
  // Loads a library that is not loaded.
  Loaded OpenOnce(const PluginLibrary::Source& source);

  std::unique_ptr<PrivateCopies> copies_;
  const std::function<int64_t()> steady_ns_;  // Empty: there is no probe.
  OriginLibraries origin_libraries_;
  // Keyed by identity; see PluginLibrary::Source.
  std::map<std::string, std::shared_ptr<PluginLibrary>, std::less<>> libraries_;
  // The results of probes, keyed by identity; nullopt if the library can be loaded.
  std::map<std::string, std::optional<LoadError>, std::less<>> probed_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LIBRARY_STORE_H_
