#include "host/process/assemble/input_files.h"

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

// Returns the error of a system call on a file, without the path.
Status StatusOfErrno(int error) {
  const char* const message = std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status::NotFound(message);
    case EACCES:
    case EPERM: return Status::PermissionDenied(message);
    default: return Status::InvalidArgument(message);
  }
}

}  // namespace

Status SystemError(const std::string& path, int error) {
  return StatusOfErrno(error).Annotate(path);
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return StatusOfErrno(errno);
  if (S_ISDIR(facts.st_mode)) return StatusOfErrno(EISDIR);
  // The size is only a hint: a pipe has none, and a file may grow while it is read.
  std::string text;
  size_t size = 0;
  size_t room = static_cast<size_t>(facts.st_size) + 1;
  while (size < max_bytes) {
    if (size == text.size()) {
      room = std::min(room, max_bytes - size);
      text.reserve(size + room + kManifestPadding);
      text.resize(size + room);
      room = std::max<size_t>(size_t{1} << 16, text.size() / 2);
    }
    const ssize_t n = read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return StatusOfErrno(errno);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  text.resize(size);
  return text;
}

Result<std::string> ReadInput(const std::string& path, std::istream& in) {
  if (path != kStandardInput) {
    Result<std::string> text = ReadFile(path, std::string().max_size());
    return text.ok() ? std::move(text) : text.status().Annotate(path);
  }
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return Status::InvalidArgument("standard input: it cannot be read");
  return text;
}

std::string_view InputName(const std::string& path) {
  return path == kStandardInput ? std::string_view("standard input") : std::string_view(path);
}

}  // namespace berth::host
