#include "host/loader/plugin_note.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace berth::host {
namespace {

namespace dom = simdjson::dom;

LoadError Bad(std::string_view pointer, const std::string& expected, std::string_view found) {
  return MakeLoadError(LoadErrorCode::kBadNote,
                       expected + " at \"" + std::string(pointer) + "\" in the note",
                       std::string(found));
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

// A value of the note; `element` is nullopt if there was an error on the way to it.
struct NoteValue {
  std::optional<dom::element> element;
  std::string pointer;
};

// Keeps the first error. Nothing can be read of what could not be read before.
class NoteReader {
 public:
  const std::optional<LoadError>& error() const { return error_; }
  void Fail(LoadError error) {
    if (!error_.has_value()) error_ = std::move(error);
  }

  NoteValue Member(const NoteValue& of, const char* key) {
    NoteValue member{std::nullopt, of.pointer + "/" + key};
    const auto object = Get<dom::object>(of, "an object");
    dom::element found;
    if (!object.has_value()) return member;
    if (object->at_key(key).get(found) == simdjson::SUCCESS) {
      member.element = found;
    } else {
      Fail(Bad(member.pointer, "a value", "nothing"));
    }
    return member;
  }

  std::vector<NoteValue> Elements(const NoteValue& of) {
    std::vector<NoteValue> elements;
    const auto array = Get<dom::array>(of, "an array");
    if (!array.has_value()) return elements;
    for (const dom::element element : *array) {
      elements.push_back({element, of.pointer + "/" + std::to_string(elements.size())});
    }
    return elements;
  }

  std::string Text(const NoteValue& value) {
    const auto text = Get<std::string_view>(value, "a string");
    if (text == "") Fail(Bad(value.pointer, "a string that is not empty", "an empty one"));
    return std::string(text.value_or(""));
  }

  uint16_t Number(const NoteValue& value) {
    constexpr const char* kExpected = "an integer from 0 to 65535";
    const uint64_t number = Get<uint64_t>(value, kExpected).value_or(0);
    if (number > UINT16_MAX) Fail(Bad(value.pointer, kExpected, std::to_string(number)));
    return static_cast<uint16_t>(number);
  }

 private:
  template <class T>
  std::optional<T> Get(const NoteValue& value, const char* expected) {
    T got{};
    if (!value.element.has_value()) return std::nullopt;
    if (value.element->get(got) == simdjson::SUCCESS) return got;
    Fail(Bad(value.pointer, expected, KindName(*value.element)));
    return std::nullopt;
  }

  std::optional<LoadError> error_;
};

std::vector<std::string> ReadPoints(const NoteValue& value, NoteReader& reader) {
  std::vector<std::string> points;
  for (const NoteValue& element : reader.Elements(value)) {
    std::string point = reader.Text(element);
    if (std::ranges::find(points, point) != points.end()) {
      reader.Fail(Bad(element.pointer, "unique points", "\"" + point + "\" twice"));
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<PluginInNote> ReadPlugins(const NoteValue& value, NoteReader& reader) {
  std::vector<PluginInNote> plugins;
  for (const NoteValue& element : reader.Elements(value)) {
    PluginInNote plugin{reader.Text(reader.Member(element, "name")),
                        reader.Text(reader.Member(element, "version")),
                        ReadPoints(reader.Member(element, "points"), reader)};
    if (std::ranges::find(plugins, plugin.name, &PluginInNote::name) != plugins.end()) {
      reader.Fail(
          Bad(element.pointer + "/name", "unique plugin names", "\"" + plugin.name + "\" twice"));
    }
    plugins.push_back(std::move(plugin));
  }
  if (plugins.empty()) reader.Fail(Bad("/plugins", "at least one plugin", "none"));
  return plugins;
}

PluginNote ReadNote(const NoteValue& root, NoteReader& reader) {
  PluginNote note;
  const std::vector<NoteValue> abi = reader.Elements(reader.Member(root, "abi"));
  if (abi.size() != 2) {
    reader.Fail(Bad("/abi", "[major, minor]", std::to_string(abi.size()) + " elements"));
    return note;
  }
  note.abi_major = reader.Number(abi[0]);
  note.abi_minor = reader.Number(abi[1]);
  note.min_host_minor = reader.Number(reader.Member(root, "minHostMinor"));
  if (note.abi_major == BERTH_ABI_MAJOR) {
    note.plugins = ReadPlugins(reader.Member(root, "plugins"), reader);
  }
  return note;
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
  NoteReader reader;
  PluginNote note = ReadNote({root, ""}, reader);
  if (reader.error().has_value()) return *reader.error();
  return note;
}

}  // namespace berth::host
