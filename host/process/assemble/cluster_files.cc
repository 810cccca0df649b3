#include "host/process/assemble/cluster_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "host/api/manifest.h"
#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return SystemError(path, errno);
  if (S_ISDIR(facts.st_mode)) return SystemError(path, EISDIR);
  // The size is only a hint: a pipe has none, and a file may grow while it is read.
  std::string text;
  size_t size = 0;
  size_t room = static_cast<size_t>(facts.st_size) + 1;
  while (true) {
    if (size == text.size()) {
      text.reserve(size + room + kManifestPadding);
      text.resize(size + room);
      room = std::max<size_t>(size_t{1} << 16, text.size() / 2);
    }
    const ssize_t n = read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, errno);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  text.resize(size);
  return text;
}

}  // namespace

Status SystemError(const std::string& path, int error) {
  const std::string message = path + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status::NotFound(message);
    case EACCES:
    case EPERM: return Status::PermissionDenied(message);
    default: return Status::InvalidArgument(message);
  }
}

Result<std::string> ReadInput(const std::string& path, std::istream& in) {
  if (path != kStandardInput) return ReadFile(path);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return Status::InvalidArgument("standard input: it cannot be read");
  return text;
}

std::string_view InputName(const std::string& path) {
  return path == kStandardInput ? std::string_view("standard input") : std::string_view(path);
}

Status LoadManifest(std::string text, std::string_view name, Decoder& decoder,
                    EmbeddedCluster& cluster,
                    const std::function<void(const AnyObject& object)>& loaded) {
  text.reserve(text.size() + kManifestPadding);
  return ReadPaddedManifest(text, name, decoder, [&](const AnyObject& object) {
    Status status = cluster.Load(object);
    if (status.ok() && loaded) loaded(object);
    return status;
  });
}

}  // namespace berth::host
