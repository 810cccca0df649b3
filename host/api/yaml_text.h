// The letters of YAML and JSON, below their structure. Used by yaml.cc alone.
#ifndef BERTH_HOST_API_YAML_TEXT_H_
#define BERTH_HOST_API_YAML_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

enum class ScalarKind : uint8_t {
  kString,
  kNull,
  kBool,
  kInt,
  kFloat,
  kNotFinite,  // .inf, .nan
  kTooLarge,   // An integer beyond 64 bits, not decimal.
};

// Resolves `text` as go-yaml v2 does (resolve.go). For null, booleans and numbers `json` is
// assigned the JSON text; otherwise it is left alone.
ScalarKind ResolvePlainScalar(std::string_view text, std::string& json);

// Appends `text` to `json` as a JSON string, quotes included. `text` is valid UTF-8.
void AppendJsonString(std::string_view text, std::string& json);

// The end of the JSON value that begins at `begin` in `json`, which is valid and compact.
size_t EndOfJsonValue(std::string_view json, size_t begin);

// An error whose message begins "line N, column M: ".
Status AtPlace(ErrorCode code, int64_t line, int64_t column, std::string_view message);

// Refuses control characters and what is not UTF-8: yaml-cpp takes byte 4 for the end of the text
// and passes broken UTF-8 on.
Status CheckCharacters(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_API_YAML_TEXT_H_
