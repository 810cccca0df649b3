// Private copies of libraries in a directory or, where that is impossible, in memory.
#ifndef BERTH_HOST_LOADER_FALLBACK_COPIES_H_
#define BERTH_HOST_LOADER_FALLBACK_COPIES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host/loader/load_error.h"
#include "host/loader/private_copy.h"

namespace berth::host {

// Stores copies in a directory until that fails for the first time: the directory is missing, is
// not a directory, cannot be written, is full, does not allow execution, or is not trusted. That
// copy and all later ones are then stored in memory. Earlier copies stay where they are.
// Nothing is opened or created before the first Write().
class FallbackCopies final : public PrivateCopies {
 public:
  using Open = std::function<LoadResult<std::unique_ptr<PrivateCopies>>()>;

  // `directory`: the name of the directory for messages. `open_directory` is called once.
  FallbackCopies(std::string directory, Open open_directory, std::unique_ptr<PrivateCopies> memory);

  // Errors: kCopyFailed if the directory and the memory have failed. `found` names the directory,
  // both causes and the remedy.
  LoadResult<std::string> Write(const std::string& digest,
                                std::span<const std::byte> bytes) override;
  void Discard(const std::string& path) override;

 private:
  LoadResult<std::string> WriteToDirectory(const std::string& digest,
                                           std::span<const std::byte> bytes);

  const std::string name_;
  const Open open_directory_;
  std::unique_ptr<PrivateCopies> directory_;  // Null until the first Write(), or if it failed.
  const std::unique_ptr<PrivateCopies> memory_;
  std::optional<std::string> problem_;  // Why the directory is not used any more.
};

// Returns copies in a private directory under `runtime_directory`, or else in memory; see
// CopyToDirectory() and CopyToMemory().
std::unique_ptr<PrivateCopies> CopyToDirectoryOrMemory(const std::string& runtime_directory);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_FALLBACK_COPIES_H_
