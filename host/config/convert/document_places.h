// In which lines the nodes of a YAML or JSON text stand.
#ifndef BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_
#define BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

struct DocumentPlaces {
  // From 1, by JSON pointer. A member of an object stands where its key is. What an alias or a
  // merge key ("<<") brings has no line of its own.
  std::map<std::string, uint32_t, std::less<>> lines;
  // The first member of an object whose key is there already, by its pointer; its line. In YAML
  // never: YamlToJson() refuses it.
  std::optional<std::pair<std::string, uint32_t>> repeated;
};

// REQUIRES: YamlToJson() takes the text for one document.
DocumentPlaces PlacesOfYaml(std::string_view text);

// REQUIRES: FindSyntaxError() finds none.
DocumentPlaces PlacesOfJson(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_DOCUMENT_PLACES_H_
