// How deep a TOML text goes, before a recursive parser reads it.
#ifndef BERTH_HOST_CONFIG_TOML_LIMITS_H_
#define BERTH_HOST_CONFIG_TOML_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::host {

struct TomlExcess {
  uint32_t line;  // From 1.
  bool is_key;    // A key of too many parts; otherwise brackets in brackets.
};

// The first place where brackets stand in more than `max_depth` others, or a key has more than
// `max_key_parts`. The text may be anything. A text without such a place makes no tree deeper than
// (max_depth + 2) * max_key_parts.
std::optional<TomlExcess> FindTomlExcess(std::string_view text, size_t max_depth,
                                         size_t max_key_parts);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TOML_LIMITS_H_
