// Converts YAML manifests to JSON, which the decoder reads, and finds the lines of its values.
#ifndef BERTH_HOST_API_YAML_H_
#define BERTH_HOST_API_YAML_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

struct JsonDocument {
  std::string json;  // Compact, valid UTF-8.
  int32_t line = 0;  // The line of its first node in the YAML text, counted from 1.
};

// A text that exceeds one of these limits is rejected.
struct YamlLimits {
  size_t max_bytes = size_t{512} << 20;     // Bytes of YAML.
  size_t max_json_bytes = size_t{1} << 30;  // Bytes of JSON, including copies made for anchors.
  uint32_t max_depth = 100;                 // Levels of nested mappings and sequences.
  uint64_t max_nodes = 50'000'000;          // Nodes after aliases are expanded.
  uint64_t max_alias_ratio = 100;           // Nodes from aliases per node or alias in the text.
  uint64_t free_alias_nodes = 1'000'000;    // The ratio is not checked up to this many alias nodes.
};

// Converts a stream of YAML documents. Documents that are empty or null are skipped, as in kubectl,
// so the result may be empty.
//
// Scalars have the same values as in kubectl (sigs.k8s.io/yaml, which uses go-yaml v2, resolve.go):
// - plain null: empty, ~, null, Null, NULL;
// - plain booleans: true, false, yes, no, on, off, y, n, each also Capitalised or in CAPITALS;
// - plain integers: decimal, 0x, 0b, 0o, and octal with a leading 0; "_" between digits is ignored;
//   a decimal that does not fit in 64 bits becomes a float, other integers are rejected;
// - plain floats: the syntax of JSON, and also ".5" and "5."; .inf and .nan are rejected;
// - all other plain scalars, including timestamps, and all quoted scalars: strings.
// A key is its value as text: the key 010 is "8", the key on is "true". A null key is rejected.
//
// The conversion is stricter than the default of sigs.k8s.io/yaml: a duplicate key in a mapping is
// an error, and so is every tag except str, null, bool, int, float, timestamp (a string), map and
// seq. Keys of a mapping override merged keys ("<<"), regardless of their order, as YAML 1.1
// requires.
//
// Errors: kInvalidArgument, kUnsupported (a tag) or kOutOfRange (a limit). Each message begins with
// "line N, column M: ".
Result<std::vector<JsonDocument>> YamlToJson(std::string_view text, const YamlLimits& limits = {});

struct YamlPlace {
  int32_t document_line = 0;  // JsonDocument::line of the document.
  std::string pointer;        // The JSON pointer of the value in the JSON text of the document.
};

// Returns the line of each place, counted from 1. If the text does not contain the value itself,
// because it is absent or comes from an alias or a merged mapping, returns the line of the
// innermost value on the way to it.
// REQUIRES: YamlToJson(text) succeeds.
std::vector<int32_t> FindYamlLines(std::string_view text, std::span<const YamlPlace> places);

}  // namespace berth::host

#endif  // BERTH_HOST_API_YAML_H_
