// Paths in configuration files.
#ifndef BERTH_HOST_CONFIG_CONFIG_PATH_H_
#define BERTH_HOST_CONFIG_CONFIG_PATH_H_

#include <string>
#include <string_view>

namespace berth::host {

inline constexpr std::string_view kProfileSuffix = ".toml";

// Without a slash and without ".toml": the name of a profile that comes with the host.
bool IsBareProfileName(std::string_view name);

// `path` in `folder`, without detours; an absolute path is itself.
std::string InFolder(std::string_view folder, std::string_view path);

// What `path` means in the file `file`: it is relative to the file's folder.
std::string Beside(std::string_view file, std::string_view path);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_PATH_H_
