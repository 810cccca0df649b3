#include "host/config/config_path.h"

#include <filesystem>

namespace berth::host {

bool IsBareProfileName(std::string_view name) {
  return name.find('/') == std::string_view::npos && !name.ends_with(kProfileSuffix);
}

std::string InFolder(std::string_view folder, std::string_view path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string Beside(std::string_view file, std::string_view path) {
  return InFolder(std::filesystem::path(file).parent_path().string(), path);
}

}  // namespace berth::host
