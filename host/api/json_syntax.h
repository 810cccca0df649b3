// Finds places in JSON text, and names its objects, for messages. The decoder only detects
// malformed text and objects that cannot be decoded; these functions locate the error.
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
#include <vector>

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

// Returns the offset after the JSON value that begins at json[at]; npos if the text ends before it,
// or within a string.
size_t SkipValue(std::string_view json, size_t at);

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

// ---- Places in the text of objects, and their names ---------------------------------------------

// These functions accept malformed JSON. Keys and texts are compared and returned as they are
// written: escapes such as \u0041 are not decoded. If a key occurs twice, the first one counts.

// Returns the offset in `json` of the value at a JSON pointer such as "/spec/containers/0". If
// there is no such value, returns the offset of the innermost value on the way to it. The root is
// the first value of the text.
size_t FindPlace(std::string_view json, std::string_view pointer);

// Returns true if the root of `json` is an object that has the member `key`.
bool HasMember(std::string_view json, std::string_view key);

// Returns the keys and indexes of a JSON pointer, without its escapes: "metadata", "a/b" for
// "/metadata/a~1b".
std::vector<std::string> SegmentsOf(std::string_view pointer);

// Returns the JSON pointer at the beginning of a message of Decoder: "/spec/priority" of
// "/spec/priority: expected an integer". Returns "" if there is none.
std::string_view PointerOf(std::string_view message);

// Returns the kind, the namespace and the name of an object: "Pod default/web-0", "Node n1". Leaves
// out what the text does not state; a pod without a namespace is in the namespace "default".
// Returns "" if the text states neither a kind nor a name. `list_type`: the "apiVersion/Kind" of an
// object that does not state its kind, such as "v1/Pod" in a PodList. May be empty.
std::string DescribeObject(std::string_view json, std::string_view list_type = "");

}  // namespace berth::host

#endif  // BERTH_HOST_API_JSON_SYNTAX_H_
