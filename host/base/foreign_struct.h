// Reads structs that a plugin fills in. Their sizes and strides are set by the plugin and may be
// smaller or larger than those of this host's header.
#ifndef BERTH_HOST_BASE_FOREIGN_STRUCT_H_
#define BERTH_HOST_BASE_FOREIGN_STRUCT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <berth/abi.h>

// The size of struct `T` in the first version of the ABI, in which `last` was the last member.
// Every plugin has at least these members.
#define BERTH_FIRST_SIZE(T, last) \
  static_cast<uint32_t>(offsetof(T, last) + sizeof(static_cast<T*>(nullptr)->last))

namespace berth::host {

// Returns a copy of the struct at `from`, which has `size` bytes: extended with zeros, or
// truncated.
template <class T>
T CopyStruct(const void* from, uint32_t size) {
  T copy{};
  std::memcpy(&copy, from, std::min<size_t>(size, sizeof(T)));
  return copy;
}

inline uint32_t StructSize(const void* from) {
  uint32_t size = 0;
  std::memcpy(&size, from, sizeof(size));
  return size;
}

// Returns true if the host can read the argument of a service: the struct has the members of its
// first version, which are `first_size` bytes, and no flag that this host does not know. abi.h: the
// service otherwise returns BAD_ARGUMENT.
template <class T>
bool IsReadable(const T& given, uint32_t first_size, uint32_t known_flags = 0) {
  return given.struct_size >= first_size && (given.flags & ~known_flags) == 0;
}

// Returns what is wrong with an array of a plugin; nothing if it is valid. Its elements must be
// structs with 8-byte members, at least `first_size` bytes long, and there may be at most
// `max_count` of them.
inline std::optional<std::string> ArrayFault(const berth_array& array, uint32_t first_size,
                                             uint32_t max_count) {
  if (array.count == 0) return std::nullopt;
  if (array.data == nullptr) return "NULL with count " + std::to_string(array.count);
  if (array.count > max_count) return std::to_string(array.count) + " elements";
  const bool aligned = reinterpret_cast<uintptr_t>(array.data) % 8 == 0 && array.stride % 8 == 0;
  if (array.stride < first_size || !aligned) return "stride " + std::to_string(array.stride);
  return std::nullopt;
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_FOREIGN_STRUCT_H_
