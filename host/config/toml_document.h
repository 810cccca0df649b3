// Parses TOML text into plain values.
#ifndef BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
#define BERTH_HOST_CONFIG_TOML_DOCUMENT_H_

#include <cstddef>
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

// Parses `text` as a TOML table. `file` is its name in messages.
// Errors: if the text is not TOML 1.0 or exceeds a limit, only the first error. Otherwise every
//         date, time and number that is not finite; the rest of the table is returned.
std::optional<ConfigValue> ParseToml(std::string_view text, const std::string& file,
                                     ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TOML_DOCUMENT_H_
