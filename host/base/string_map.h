// A hash map with string keys that is searched by string_view without constructing a string.
#ifndef BERTH_HOST_BASE_STRING_MAP_H_
#define BERTH_HOST_BASE_STRING_MAP_H_

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace berth::host {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

template <class T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_STRING_MAP_H_
