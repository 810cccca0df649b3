// Manifests are YAML; everything behind this file reads JSON.
#ifndef BERTH_HOST_API_YAML_H_
#define BERTH_HOST_API_YAML_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

struct JsonDocument {
  std::string json;  // Compact, valid UTF-8.
  int32_t line = 0;  // Where its first node starts in the YAML text, counted from 1.
};

// Above any of them the text is refused.
struct YamlLimits {
  size_t max_bytes = size_t{512} << 20;     // Of YAML.
  size_t max_json_bytes = size_t{1} << 30;  // Of JSON, and of what anchors make us remember.
  uint32_t max_depth = 100;                 // Mappings and sequences within each other.
  uint64_t max_nodes = 50'000'000;          // After aliases are expanded.
  uint64_t max_alias_ratio = 100;           // Nodes from aliases per node or alias written out.
  uint64_t free_alias_nodes = 1'000'000;    // Up to here the ratio does not matter.
};

// Converts a stream of YAML documents. Documents that are empty or null are left out, as kubectl
// does; so the result may be empty.
//
// Values are those of kubectl (sigs.k8s.io/yaml, which is go-yaml v2, resolve.go):
// - plain null: empty, ~, null, Null, NULL;
// - plain booleans: true, false, yes, no, on, off, y, n, each also Capitalised or in CAPITALS;
// - plain integers: decimal, 0x, 0b, 0o, and octal by a leading 0, "_" between digits ignored;
//   decimals beyond 64 bits are read as floats, the others are refused;
// - plain floats: as JSON writes them, also ".5" and "5."; .inf and .nan are refused;
// - everything else plain, timestamps among it, and everything quoted: strings.
// A key is its value as text: the key 010 is "8", the key on is "true"; null is no key.
//
// Stricter than the default of sigs.k8s.io/yaml: a key twice in one mapping is an error, and so is
// every tag but str, null, bool, int, float, timestamp (a string), map, seq. Merge keys ("<<") give
// way to keys that stand in the mapping itself, before or behind them, as YAML 1.1 says.
//
// Returns: kInvalidArgument, kUnsupported (a tag) or kOutOfRange (a limit); each message begins
// "line N, column M: ".
Result<std::vector<JsonDocument>> YamlToJson(std::string_view text, const YamlLimits& limits = {});

}  // namespace berth::host

#endif  // BERTH_HOST_API_YAML_H_
