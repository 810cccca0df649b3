// Finds the place where JSON text is malformed. The decoder only detects malformed text; these
// functions locate the error for messages.
//
// The SAX parser of nlohmann does not replace them: it stops at a number beyond a double ("1e999")
// and at half a surrogate pair, which are valid, gives the offset after a token, and names the
// reason only within the text of an exception, with other characters for those of the token.
#ifndef BERTH_HOST_API_JSON_SYNTAX_H_
#define BERTH_HOST_API_JSON_SYNTAX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

// The byte order mark in UTF-8, which may precede a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// The characters that may stand between the tokens of JSON.
inline constexpr std::string_view kJsonSpaces = " \t\r\n";

struct SyntaxError {
  size_t offset = 0;    // The offset in the text, in bytes.
  std::string message;  // A message such as "expected ',' or '}', found ']'".
};

// Returns the first place at which `text` is not a sequence of JSON values (RFC 8259) in UTF-8,
// with or without white space between them. Returns nullopt if there is none; the empty text is
// valid.
std::optional<SyntaxError> FindSyntaxError(std::string_view text);

// Returns the offset after the last bracket of the JSON object or array that begins at text[0]. The
// end is found by counting brackets. Returns text.size() if the value does not end.
size_t EndOfValue(std::string_view text);

// Returns true if arrays and objects are nested in `text` more than `max_depth` deep. Counts the
// brackets outside of strings and does not recurse. If `text` is not JSON, the result is
// unspecified.
bool IsNestedDeeper(std::string_view text, size_t max_depth);

// Returns a text for messages, such as "'x'", or "byte 7" for a byte that is not printable ASCII.
std::string DescribeCharacter(char c);

// Returns the line that contains `offset`, counted from 1.
int32_t LineAt(std::string_view text, size_t offset);

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_SYNTAX_H_
