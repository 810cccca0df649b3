// Reads a YAML or JSON file as a tree of plain values with their positions.
#ifndef BERTH_HOST_CONFIG_CONVERT_DOCUMENT_H_
#define BERTH_HOST_CONFIG_CONVERT_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/config/config_errors.h"
#include "host/config/config_value.h"

namespace berth::host {

// The maximum depth of nested arrays and objects. The values are written as TOML, whose limit also
// counts the surrounding profile.
inline constexpr uint32_t kMaxDocumentDepth = 24;

// Parses `text` as an object: as JSON if it begins with '{' and is valid JSON, otherwise as YAML.
// As in kube-scheduler, decoding is strict, keys must be unique, and null means not set. `file` is
// its name in messages.
// Errors: are added to `errors`. If the text is not valid YAML or JSON, is not exactly one
//         document, or exceeds a limit, only the first error; otherwise every value that TOML
//         cannot represent.
std::optional<ConfigValue> ReadDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_DOCUMENT_H_
