// Finds the lines of the nodes of a YAML or JSON text.
#ifndef BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_
#define BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

struct DocumentPlaces {
  // The lines, from 1, by JSON pointer. The line of an object's member is that of its key. Nodes
  // that come from an alias or a merge key ("<<") have no line.
  std::map<std::string, uint32_t, std::less<>> lines;
  // The pointer and line of the first repeated key in an object. Never set for YAML, where
  // YamlToJson() rejects repeated keys.
  std::optional<std::pair<std::string, uint32_t>> repeated;
};

// REQUIRES: YamlToJson() accepts the text as one document.
DocumentPlaces PlacesOfYaml(std::string_view text);

// REQUIRES: FindSyntaxError() finds no error.
DocumentPlaces PlacesOfJson(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_
