#include "host/loader/library_store.h"

#include <strings.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/assert.h"
#include "host/loader/sha256.h"

namespace berth::host {

namespace {

LoadError WithPath(const std::string& path, LoadError error) {
  error.path = path;
  return error;
}

}  // namespace

struct LibraryStore::Content {
  TrustedFile file;
  std::string digest;
};

// The libraries that one call of LoadAll() loads.
struct LibraryStore::Batch {
  std::vector<PluginLibrary::Source> sources;  // One for each content that was copied.
  std::map<std::string, LoadError> rejected;   // By digest. The errors have no path.
};

LibraryStore::Loaded LibraryStore::Load(const std::string& path, const LoadOptions& options) {
  return std::move(LoadAll(std::span(&path, 1), options).front());
}

std::vector<LibraryStore::Loaded> LibraryStore::LoadAll(std::span<const std::string> paths,
                                                        const LoadOptions& options) {
  Batch batch;
  std::vector<LoadResult<std::string>> digests;
  for (const std::string& path : paths) digests.push_back(Add(path, options, batch));
  Probe(batch);
  std::vector<Loaded> results;
  for (size_t i = 0; i < paths.size(); ++i) {
    Loaded library = digests[i].ok() ? Open(*digests[i], batch) : std::move(digests[i]).error();
    if (!library.ok()) library = WithPath(paths[i], std::move(library).error());
    results.push_back(std::move(library));
  }
  return results;
}

LoadResult<std::string> LibraryStore::Add(const std::string& path, const LoadOptions& options,
                                          Batch& batch) {
  LoadResult<Content> content = Read(path, options);
  if (!content.ok()) return std::move(content).error();
  std::string digest = content->digest;
  if (libraries_.contains(digest)) return digest;
  if (std::ranges::find(batch.sources, digest, &PluginLibrary::Source::digest) !=
      batch.sources.end()) {
    return digest;
  }
  if (const auto probed = probed_.find(digest);
      probed != probed_.end() && probed->second.has_value()) {
    batch.rejected.emplace(digest, *probed->second);
    return digest;
  }
  LoadResult<PluginLibrary::Source> source = CheckAndCopy(path, *std::move(content));
  if (!source.ok()) return std::move(source).error();
  batch.sources.push_back(*std::move(source));
  return digest;
}

void LibraryStore::Probe(Batch& batch) {
  if (!probe_.has_value()) return;
  std::vector<PluginLibrary::Source> unknown;
  std::ranges::copy_if(batch.sources, std::back_inserter(unknown),
                       [this](const auto& source) { return !probed_.contains(source.digest); });
  if (unknown.empty()) return;
  auto errors = probe_->Run(unknown);
  for (size_t i = 0; i < unknown.size(); ++i) {
    std::optional<LoadError> error =
        errors.ok() ? std::move((*errors)[i])
                    : MakeLoadError(LoadErrorCode::kProbeFailed,
                                    "a child process, which loads the library first",
                                    std::string(errors.status().message()));
    if (error.has_value()) {
      batch.rejected.emplace(unknown[i].digest, *error);
      copies_->Discard(unknown[i].load_path);
    }
    // Without a child process, nothing is known about the library.
    if (errors.ok()) probed_.emplace(unknown[i].digest, std::move(error));
  }
}

LibraryStore::Loaded LibraryStore::Open(const std::string& digest, Batch& batch) {
  if (const auto known = libraries_.find(digest); known != libraries_.end()) return known->second;
  if (const auto rejected = batch.rejected.find(digest); rejected != batch.rejected.end()) {
    return rejected->second;
  }
  const auto source = std::ranges::find(batch.sources, digest, &PluginLibrary::Source::digest);
  BERTH_ASSERT(source != batch.sources.end());
  Loaded library = PluginLibrary::Open(*source);
  if (library.ok()) {
    libraries_.emplace(digest, *library);
  } else {
    if (library.error().code == LoadErrorCode::kDlopenFailed) copies_->Discard(source->load_path);
    batch.rejected.emplace(digest, library.error());
  }
  return library;
}

LoadResult<PluginLibrary::Source> LibraryStore::Prepare(const std::string& path,
                                                        const LoadOptions& options) {
  LoadResult<Content> content = Read(path, options);
  if (!content.ok()) return std::move(content).error();
  return CheckAndCopy(path, *std::move(content));
}

LoadResult<LibraryStore::Content> LibraryStore::Read(const std::string& path,
                                                     const LoadOptions& options) {
  LoadResult<TrustedFile> file = ReadTrustedFile(path, options.trust);
  if (!file.ok()) return WithPath(path, std::move(file).error());
  std::string digest = Sha256Hex(file->bytes);
  if (!options.sha256.empty() && ::strcasecmp(options.sha256.c_str(), digest.c_str()) != 0) {
    LoadError error;
    error.code = LoadErrorCode::kPinMismatch;
    error.expected = "sha256 " + options.sha256;
    error.found = digest;
    return WithPath(path, std::move(error));
  }
  return Content{*std::move(file), std::move(digest)};
}

LoadResult<PluginLibrary::Source> LibraryStore::CheckAndCopy(const std::string& path,
                                                             Content content) {
  LoadResult<CheckedLibrary> checked = CheckLibrary(content.file.bytes);
  if (!checked.ok()) return WithPath(path, std::move(checked).error());
  LoadResult<std::string> copy = copies_->Write(content.digest, content.file.bytes);
  if (!copy.ok()) return WithPath(path, std::move(copy).error());
  return PluginLibrary::Source{.path = std::move(content.file.path),
                               .digest = std::move(content.digest),
                               .load_path = *std::move(copy),
                               .checked = *std::move(checked)};
}

}  // namespace berth::host
