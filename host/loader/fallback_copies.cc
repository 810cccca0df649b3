#include "host/loader/fallback_copies.h"

#include <utility>

namespace berth::host {
namespace {

std::string ProblemIn(const LoadError& error) {
  // The errors of paths that cannot be opened contain the path and the cause in `found`.
  const bool is_sentence = error.expected.empty() || error.code == LoadErrorCode::kNotFound ||
                           error.code == LoadErrorCode::kUnreadable;
  return is_sentence ? error.found : "expected " + error.expected + ", found " + error.found;
}

}  // namespace

FallbackCopies::FallbackCopies(std::string directory, Open open_directory,
                               std::unique_ptr<PrivateCopies> memory)
    : name_(std::move(directory)),
      open_directory_(std::move(open_directory)),
      memory_(std::move(memory)) {}

LoadResult<std::string> FallbackCopies::Write(const std::string& digest,
                                              std::span<const std::byte> bytes) {
  if (!problem_.has_value()) {
    LoadResult<std::string> path = WriteToDirectory(digest, bytes);
    if (path.ok()) return path;
    problem_ = ProblemIn(path.error());
  }
  LoadResult<std::string> path = memory_->Write(digest, bytes);
  if (path.ok()) return path;
  return MakeLoadError(
      LoadErrorCode::kCopyFailed, "",
      "a private copy of the library is required, but cannot be made: in the directory " + name_ +
          ": " + *problem_ + "; in memory: " + ProblemIn(path.error()) +
          "; set TMPDIR to a directory that can be written, has free space and allows execution");
}

LoadResult<std::string> FallbackCopies::WriteToDirectory(const std::string& digest,
                                                         std::span<const std::byte> bytes) {
  if (directory_ == nullptr) {
    LoadResult<std::unique_ptr<PrivateCopies>> opened = open_directory_();
    if (!opened.ok()) return std::move(opened).error();
    directory_ = std::move(opened).value();
  }
  return directory_->Write(digest, bytes);
}

void FallbackCopies::Discard(const std::string& path) {
  if (directory_ != nullptr) directory_->Discard(path);
  memory_->Discard(path);
}

std::unique_ptr<PrivateCopies> CopyToDirectoryOrMemory(const std::string& runtime_directory) {
  return std::make_unique<FallbackCopies>(
      runtime_directory, [runtime_directory] { return CopyToDirectory(runtime_directory); },
      CopyToMemory());
}

}  // namespace berth::host
