// Reads files and standard input.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_INPUT_FILES_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_INPUT_FILES_H_

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// The path that stands for standard input.
inline constexpr std::string_view kStandardInput = "-";

// Reads the first `max_bytes` of a file. The result has a capacity of at least kManifestPadding
// bytes beyond its size.
// Errors: kNotFound, kPermissionDenied, kInvalidArgument for a directory or another reason. The
//         messages do not contain the path.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// Reads a whole file, or `in` if `path` is kStandardInput. The result has a capacity of at least
// kManifestPadding bytes beyond its size if it was read from a file.
// Errors: NotFound, PermissionDenied, InvalidArgument. Each message begins with the path.
Result<std::string> ReadInput(const std::string& path, std::istream& in);

// Returns the error of a system call on a file: "path: No such file or directory", with the code
// that fits `error`, which is an errno.
Status SystemError(const std::string& path, int error);

// Returns the name of an input in messages: the path, or "standard input".
std::string_view InputName(const std::string& path);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_INPUT_FILES_H_
