#include "host/loader/library_store.h"

#include <strings.h>

#include <utility>

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

LoadResult<std::shared_ptr<PluginLibrary>> LibraryStore::Load(const std::string& path,
                                                              const LoadOptions& options) {
  LoadResult<Content> content = Read(path, options);
  if (!content.ok()) return std::move(content).error();
  if (const auto known = libraries_.find(content->digest); known != libraries_.end()) {
    return known->second;
  }
  LoadResult<PluginLibrary::Source> source = CheckAndCopy(path, *std::move(content));
  if (!source.ok()) return std::move(source).error();
  const std::string digest = source->digest;
  const std::string copy = source->load_path;
  LoadResult<std::shared_ptr<PluginLibrary>> library = PluginLibrary::Open(*std::move(source));
  if (!library.ok()) {
    if (library.error().code == LoadErrorCode::kDlopenFailed) copies_->Discard(copy);
    return WithPath(path, std::move(library).error());
  }
  libraries_.emplace(digest, *library);
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
