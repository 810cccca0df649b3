// Conversion between JSON values and text.
#ifndef BERTH_HOST_BASE_JSON_TEXT_H_
#define BERTH_HOST_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace berth::host {

// Parses JSON text. An ordered_json keeps the order of the members of objects. Never throws.
// Returns: a discarded value (is_discarded()) if the text is not JSON in UTF-8.
// Code that walks through the value by recursion, such as DumpJson(), needs a stack as deep as the
// text: the depth of text from outside must be limited first.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);

// Returns the JSON text, on one line or with `indent` spaces per level. Never throws: invalid UTF-8
// becomes U+FFFD.
std::string DumpJson(const nlohmann::json& json, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& json, int indent = -1);

// Returns the JSON text, cut to kMaxQuotedBytes, for a message about invalid input.
std::string QuotedJson(const nlohmann::ordered_json& json);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_JSON_TEXT_H_
