// Parses TOML text into plain values.
#ifndef BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
#define BERTH_HOST_CONFIG_TOML_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/config_errors.h"
#include "host/config/config_value.h"

namespace berth::host {

// The maximum size of a configuration file, in bytes.
inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;
// The maximum depth of nested arrays and inline tables, and the maximum number of parts of one key
// such as "a.b.c".
inline constexpr size_t kMaxTomlDepth = 32;
inline constexpr size_t kMaxTomlKeyParts = 32;

struct TomlExcess {
  uint32_t line;  // Counted from 1.
  bool is_key;    // True for a key with too many parts, false for brackets nested too deeply.
};

// Returns the first place where brackets are nested more than `max_depth` deep, or a key has more
// than `max_key_parts` parts. The text need not be valid TOML. For a text without such a place, the
// parsed tree is at most (max_depth + 2) * max_key_parts deep.
std::optional<TomlExcess> FindTomlExcess(std::string_view text, size_t max_depth,
                                         size_t max_key_parts);

// Parses `text` as a TOML table. `file` is its name in messages.
// Errors: the first error, if the text is not TOML 1.0 or exceeds a limit.
std::optional<ConfigValue> ParseToml(std::string_view text, const std::string& file,
                                     ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
