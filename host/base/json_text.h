// Conversion between JSON values and text.
#ifndef BERTH_HOST_BASE_JSON_TEXT_H_
#define BERTH_HOST_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace berth::host {

// Parses JSON text. An ordered_json keeps the order of the members of objects. Never throws.
// Returns: a discarded value (is_discarded()) if the text is not JSON in UTF-8.
// Must not: be called with text of unlimited depth, because the value is destroyed recursively.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);

// Returns the JSON text, on one line or with `indent` spaces per level. Never throws: invalid UTF-8
// becomes U+FFFD.
std::string DumpJson(const nlohmann::json& json, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_JSON_TEXT_H_
