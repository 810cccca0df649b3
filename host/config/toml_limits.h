// Checks the nesting depth of a TOML text before a recursive parser reads it.
#ifndef BERTH_HOST_CONFIG_TOML_LIMITS_H_
#define BERTH_HOST_CONFIG_TOML_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::host {

struct TomlExcess {
  uint32_t line;  // Counted from 1.
  bool is_key;    // True for a key with too many parts, false for brackets nested too deeply.
};

// Returns the first place where brackets are nested more than `max_depth` deep, or a key has more
// than `max_key_parts` parts. The text need not be valid TOML. For a text without such a place, the
// parsed tree is at most (max_depth + 2) * max_key_parts deep.
std::optional<TomlExcess> FindTomlExcess(std::string_view text, size_t max_depth,
                                         size_t max_key_parts);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TOML_LIMITS_H_
