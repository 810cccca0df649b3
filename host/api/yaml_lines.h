// Finds the lines of values in YAML text, for messages about objects that cannot be decoded.
#ifndef BERTH_HOST_API_YAML_LINES_H_
#define BERTH_HOST_API_YAML_LINES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

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

#endif  // BERTH_HOST_API_YAML_LINES_H_
