#include "host/config/profile.h"

#include <algorithm>

namespace berth::host {

bool IsSchedulerName(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

ConfigPlace ProfileArgs::PlaceOf(std::string_view pointer) const {
  while (true) {
    if (const auto found = places.find(pointer); found != places.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    if (slash == std::string_view::npos) return {};
    pointer = pointer.substr(0, slash);
  }
}

const ProfilePlugin* Profile::Find(std::string_view plugin) const {
  const auto found = std::ranges::find(
      plugins, plugin, [](const ProfilePlugin& p) -> std::string_view { return p.name.value; });
  return found == plugins.end() ? nullptr : &*found;
}

}  // namespace berth::host
