#include "host/loader/library_store.h"

#include <strings.h>

#include <utility>

#include "host/loader/sha256.h"

namespace berth::host {

LoadResult<std::shared_ptr<PluginLibrary>> LibraryStore::Load(const std::string& path,
                                                              const LoadOptions& options) {
  const auto refuse = [&](LoadError error) {
    error.path = path;
    return error;
  };
  LoadResult<TrustedFile> file = ReadTrustedFile(path, options.trust);
  if (!file.ok()) return refuse(std::move(file).error());
  const std::string digest = Sha256Hex(file->bytes);
  if (!options.sha256.empty() && ::strcasecmp(options.sha256.c_str(), digest.c_str()) != 0) {
    LoadError error;
    error.code = LoadErrorCode::kPinMismatch;
    error.expected = "sha256 " + options.sha256;
    error.found = digest;
    return refuse(std::move(error));
  }
  if (const auto known = libraries_.find(digest); known != libraries_.end()) return known->second;

  LoadResult<JudgedLibrary> judged = JudgeLibrary(file->bytes);
  if (!judged.ok()) return refuse(std::move(judged).error());
  LoadResult<std::string> copy = copies_->Write(digest, file->bytes);
  if (!copy.ok()) return refuse(std::move(copy).error());
  LoadResult<std::shared_ptr<PluginLibrary>> library =
      PluginLibrary::Open({file->path, digest, *copy, *std::move(judged)});
  if (!library.ok()) {
    if (library.error().code == LoadErrorCode::kDlopenFailed) copies_->Discard(*copy);
    return refuse(std::move(library).error());
  }
  libraries_.emplace(digest, *library);
  return library;
}

}  // namespace berth::host
