// TOML text to plain values.
#ifndef BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
#define BERTH_HOST_CONFIG_TOML_DOCUMENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/config_errors.h"
#include "host/config/config_value.h"

namespace berth::host {

// Of a configuration file, in bytes.
inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;
// Arrays and inline tables within each other, and the parts of one key "a.b.c".
inline constexpr size_t kMaxTomlDepth = 32;
inline constexpr size_t kMaxTomlKeyParts = 32;

// The table that `text` is. `file` is what messages call it.
// Errors: one, where the text is not TOML 1.0 or exceeds a limit: the first; else each date, time
//         and number that is not finite, and what is left of the table is returned.
std::optional<ConfigValue> ParseToml(std::string_view text, const std::string& file,
                                     ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
