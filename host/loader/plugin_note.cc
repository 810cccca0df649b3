#include "host/loader/plugin_note.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace berth::host {
namespace {

namespace dom = simdjson::dom;

LoadError Bad(std::string_view pointer, std::string_view expected, std::string_view found) {
  LoadError error;
  error.code = LoadErrorCode::kBadNote;
  error.expected.append(expected).append(" at \"").append(pointer).append("\" in the note");
  error.found = found;
  return error;
}

std::string_view KindName(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY: return "an array";
    case dom::element_type::OBJECT: return "an object";
    case dom::element_type::STRING: return "a string";
    case dom::element_type::BOOL: return "a boolean";
    case dom::element_type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

// Reads the member `key`, or returns the error that it is missing.
std::optional<LoadError> GetMember(dom::object object, const std::string& pointer, const char* key,
                                   dom::element* value) {
  if (object.at_key(key).get(*value) == simdjson::SUCCESS) return std::nullopt;
  return Bad(pointer + "/" + key, "a value", "nothing");
}

std::optional<LoadError> ReadUint16(dom::element value, const std::string& pointer,
                                    uint16_t* number) {
  uint64_t wide = 0;
  const bool is_number = value.get(wide) == simdjson::SUCCESS;
  if (!is_number || wide > std::numeric_limits<uint16_t>::max()) {
    return Bad(pointer, "an integer from 0 to 65535",
               is_number ? std::to_string(wide) : std::string(KindName(value)));
  }
  *number = static_cast<uint16_t>(wide);
  return std::nullopt;
}

std::optional<LoadError> ReadText(dom::element value, const std::string& pointer,
                                  std::string* text) {
  std::string_view view;
  if (value.get(view) != simdjson::SUCCESS) return Bad(pointer, "a string", KindName(value));
  if (view.empty()) return Bad(pointer, "a string that is not empty", "an empty one");
  *text = view;
  return std::nullopt;
}

std::optional<LoadError> ReadPoints(dom::element value, const std::string& pointer,
                                    std::vector<std::string>* points) {
  dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return Bad(pointer, "an array", KindName(value));
  for (dom::element element : array) {
    const std::string here = pointer + "/" + std::to_string(points->size());
    std::string point;
    if (auto error = ReadText(element, here, &point)) return error;
    if (std::find(points->begin(), points->end(), point) != points->end()) {
      return Bad(here, "unique points", "\"" + point + "\" twice");
    }
    points->push_back(std::move(point));
  }
  return std::nullopt;
}

std::optional<LoadError> ReadPlugin(dom::element value, const std::string& pointer,
                                    PluginInNote* plugin) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return Bad(pointer, "an object", KindName(value));
  dom::element member;
  if (auto error = GetMember(object, pointer, "name", &member)) return error;
  if (auto error = ReadText(member, pointer + "/name", &plugin->name)) return error;
  if (auto error = GetMember(object, pointer, "version", &member)) return error;
  if (auto error = ReadText(member, pointer + "/version", &plugin->version)) return error;
  if (auto error = GetMember(object, pointer, "points", &member)) return error;
  return ReadPoints(member, pointer + "/points", &plugin->points);
}

std::optional<LoadError> ReadAbi(dom::object object, PluginNote* note) {
  dom::element member;
  if (auto error = GetMember(object, "", "abi", &member)) return error;
  dom::array abi;
  if (member.get(abi) != simdjson::SUCCESS) return Bad("/abi", "an array", KindName(member));
  if (abi.size() != 2) {
    return Bad("/abi", "[major, minor]", std::to_string(abi.size()) + " elements");
  }
  if (auto error = ReadUint16(abi.at(0).value_unsafe(), "/abi/0", &note->abi_major)) return error;
  if (auto error = ReadUint16(abi.at(1).value_unsafe(), "/abi/1", &note->abi_minor)) return error;
  if (auto error = GetMember(object, "", "minHostMinor", &member)) return error;
  return ReadUint16(member, "/minHostMinor", &note->min_host_minor);
}

std::optional<LoadError> ReadPlugins(dom::object object, PluginNote* note) {
  dom::element member;
  if (auto error = GetMember(object, "", "plugins", &member)) return error;
  dom::array plugins;
  if (member.get(plugins) != simdjson::SUCCESS) {
    return Bad("/plugins", "an array", KindName(member));
  }
  for (dom::element element : plugins) {
    const std::string pointer = "/plugins/" + std::to_string(note->plugins.size());
    PluginInNote plugin;
    if (auto error = ReadPlugin(element, pointer, &plugin)) return error;
    for (const PluginInNote& other : note->plugins) {
      if (other.name != plugin.name) continue;
      return Bad(pointer + "/name", "unique plugin names", "\"" + plugin.name + "\" twice");
    }
    note->plugins.push_back(std::move(plugin));
  }
  if (note->plugins.empty()) return Bad("/plugins", "at least one plugin", "none");
  return std::nullopt;
}

}  // namespace

LoadResult<PluginNote> ParsePluginNote(std::string_view json) {
  if (json.size() > kMaxNoteBytes) {
    return Bad("", "at most " + std::to_string(kMaxNoteBytes) + " bytes",
               std::to_string(json.size()));
  }
  dom::parser parser;
  dom::element root;
  const simdjson::error_code code = parser.parse(simdjson::padded_string(json)).get(root);
  if (code != simdjson::SUCCESS) return Bad("", "JSON text", simdjson::error_message(code));
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return Bad("", "an object", KindName(root));
  PluginNote note;
  if (auto error = ReadAbi(object, &note)) return *std::move(error);
  if (note.abi_major == BERTH_ABI_MAJOR) {
    if (auto error = ReadPlugins(object, &note)) return *std::move(error);
  }
  return note;
}

}  // namespace berth::host
