// Paths in configuration files.
#ifndef BERTH_HOST_CONFIG_CONFIG_PATH_H_
#define BERTH_HOST_CONFIG_CONFIG_PATH_H_

#include <string>
#include <string_view>

namespace berth::host {

inline constexpr std::string_view kProfileSuffix = ".toml";

// Returns whether `name` is the name of a profile that is installed with Berth, not a path: it has
// no slash and does not end in ".toml".
bool IsBareProfileName(std::string_view name);

// Joins `folder` and `path` and returns the normalised result. Ignores `folder` if `path` is
// absolute.
std::string InFolder(std::string_view folder, std::string_view path);

// Resolves `path`, which is written in the file `file`, relative to that file's folder.
std::string Beside(std::string_view file, std::string_view path);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_PATH_H_
