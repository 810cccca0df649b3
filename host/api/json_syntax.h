// Where JSON text is malformed. The decoder notices that it is; this finds the place, for people.
#ifndef BERTH_HOST_API_JSON_SYNTAX_H_
#define BERTH_HOST_API_JSON_SYNTAX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

struct SyntaxError {
  size_t offset = 0;    // Into the text.
  std::string message;  // "expected ',' or '}', found ']'"
};

// The first place at which `text` is not a sequence of JSON values (RFC 8259) in UTF-8, with or
// without spaces between them. Nothing: it is one; the empty text too.
std::optional<SyntaxError> FindSyntaxError(std::string_view text);

// The end of the JSON object or array that begins at text[0], behind its last bracket, found by
// counting brackets; text.size() when it does not end.
size_t EndOfValue(std::string_view text);

// "'x'", or "byte 7" for what cannot be printed: for messages.
std::string DescribeCharacter(char c);

// The line that `offset` is on, counted from 1.
int32_t LineAt(std::string_view text, size_t offset);

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_SYNTAX_H_
