// A YAML or JSON file as a tree of plain values that know where they stand.
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

// Of arrays and objects within each other: what is read here is written as TOML, whose limit counts
// the profile around it too.
inline constexpr uint32_t kMaxDocumentDepth = 24;

// The object that `text` is: JSON where it begins with '{' and is JSON, else YAML. As upstream
// decodes it: strictly, each key once; what is null was not said. `file` is what messages call it.
// Errors: in `errors`: what is not YAML or JSON, is not one document, or exceeds a limit, the first
//         of these alone; else each value that TOML cannot say.
std::optional<ConfigValue> ReadDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_DOCUMENT_H_
