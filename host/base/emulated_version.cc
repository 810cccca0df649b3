#include "host/base/emulated_version.h"

#include <vector>

#include "host/base/text.h"

namespace berth::host {

std::string ToString(KubeVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::string EmulatedVersionNames() {
  std::vector<std::string> names;
  names.reserve(kEmulatedVersions.size());
  for (const KubeVersion version : kEmulatedVersions) names.push_back(Quoted(ToString(version)));
  return Join(names, " or ");
}

Result<KubeVersion> ReadEmulatedVersion(std::string_view text) {
  constexpr std::string_view kComponent = "kube=";
  std::string_view wanted = text;
  if (wanted.starts_with(kComponent)) wanted.remove_prefix(kComponent.size());
  for (const KubeVersion version : kEmulatedVersions) {
    if (wanted == ToString(version)) return version;
  }
  return Status::InvalidArgument("expected " + EmulatedVersionNames() + ", found " + Quoted(text));
}

}  // namespace berth::host
