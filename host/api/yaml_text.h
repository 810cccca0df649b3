// Functions for scalars, strings and characters of YAML. Used only by yaml.cc and yaml_lines.cc.
#ifndef BERTH_HOST_API_YAML_TEXT_H_
#define BERTH_HOST_API_YAML_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace YAML {
class EventHandler;
}

namespace berth::host {

enum class ScalarKind : uint8_t {
  kString,
  kNull,
  kBool,
  kInt,
  kFloat,
  kNotFinite,  // .inf, .nan
  kTooLarge,   // An integer that is not decimal and does not fit in 64 bits.
};

// Resolves `text` as go-yaml v2 does (resolve.go). Sets `json` to the JSON text of a null, boolean
// or number, and leaves it unchanged otherwise.
ScalarKind ResolvePlainScalar(std::string_view text, std::string& json);

// Appends `text` to `json` as a JSON string with its quotes.
// REQUIRES: `text` is valid UTF-8.
void AppendJsonString(std::string_view text, std::string& json);

// Returns an error whose message begins with "line N, column M: ".
Status AtPlace(ErrorCode code, int64_t line, int64_t column, std::string_view message);

// Rejects control characters and invalid UTF-8, because yaml-cpp treats byte 4 as the end of the
// text and does not check UTF-8.
Status CheckCharacters(std::string_view text);

// Calls `handler` with the events of all documents. Throws what the handler throws, and
// YAML::Exception.
void ParseYaml(std::string_view text, YAML::EventHandler& handler);

}  // namespace berth::host

#endif  // BERTH_HOST_API_YAML_TEXT_H_
