#include "host/config/convert/document.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <exception>
#include <istream>
#include <iterator>
#include <map>
#include <streambuf>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "host/api/json_syntax.h"
#include "host/api/yaml.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/config/args_schema.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

constexpr YamlLimits kYamlLimits{.max_bytes = kMaxConfigBytes,
                                 .max_json_bytes = kMaxConfigBytes,
                                 .max_depth = kMaxDocumentDepth,
                                 .max_nodes = 200'000,
                                 .max_alias_ratio = 100,
                                 .free_alias_nodes = 10'000};

// ---- The lines of nodes -------------------------------------------------------------------------

struct DocumentPlaces {
  // The lines, from 1, by JSON pointer. The line of an object's member is that of its key. Nodes
  // that come from an alias or a merge key ("<<") have no line.
  std::map<std::string, uint32_t, std::less<>> lines;
  // The pointer and line of the first repeated key in an object. Never set for YAML, where
  // YamlToJson() rejects repeated keys.
  std::optional<std::pair<std::string, uint32_t>> repeated;
};

// Tracks the position in a text from its first node to its last, and records the line of each node.
class Tracker {
 public:
  explicit Tracker(DocumentPlaces& places) : places_(places) {}

  bool ExpectsKey() const { return !frames_.empty() && frames_.back().expects_key; }
  size_t depth() const { return frames_.size(); }

  void Key(std::string_view key, uint32_t line) {
    Frame& frame = frames_.back();
    frame.child = PointerTo(frame.pointer, key);
    frame.expects_key = false;
    const bool is_new = places_.lines.emplace(frame.child, line).second;
    if (!is_new && !places_.repeated.has_value()) places_.repeated.emplace(frame.child, line);
  }

  void Value(uint32_t line) { Next(line); }

  void Open(bool is_map, uint32_t line) {
    Frame frame;
    frame.pointer = Next(line);
    frame.is_map = frame.expects_key = is_map;
    frames_.push_back(std::move(frame));
  }

  void Close() { frames_.pop_back(); }

 private:
  struct Frame {
    std::string pointer;
    std::string child;  // The pointer of the member whose key was read last.
    size_t index = 0;
    bool is_map = false;
    bool expects_key = false;
  };

  // Returns the pointer of the value that begins here.
  std::string Next(uint32_t line) {
    if (frames_.empty()) {
      places_.lines.emplace("", line);
      return "";
    }
    Frame& frame = frames_.back();
    if (frame.is_map) {
      frame.expects_key = true;
      return std::move(frame.child);
    }
    std::string pointer = PointerTo(frame.pointer, std::to_string(frame.index++));
    places_.lines.emplace(pointer, line);
    return pointer;
  }

  DocumentPlaces& places_;
  std::vector<Frame> frames_;
};

class YamlHandler : public YAML::EventHandler {
 public:
  explicit YamlHandler(DocumentPlaces& places) : tracker_(places) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Scalar(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Scalar(mark, ""); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    Scalar(mark, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    tracker_.Open(false, LineOf(mark));
  }
  void OnSequenceEnd() override { tracker_.Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    tracker_.Open(true, LineOf(mark));
  }
  void OnMapEnd() override { tracker_.Close(); }

 private:
  static uint32_t LineOf(const YAML::Mark& mark) { return static_cast<uint32_t>(mark.line) + 1; }

  void Scalar(const YAML::Mark& mark, std::string_view value) {
    if (tracker_.ExpectsKey()) {
      tracker_.Key(value, LineOf(mark));
    } else {
      tracker_.Value(LineOf(mark));
    }
  }

  Tracker tracker_;
};

class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // The buffer is only read.
    setg(begin, begin, begin + text.size());
  }
};

// REQUIRES: YamlToJson() accepts the text as one document.
DocumentPlaces PlacesOfYaml(std::string_view text) {
  DocumentPlaces places;
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  YamlHandler handler(places);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {  // Empty documents may precede the document.
    }
  } catch (const YAML::Exception&) {
    // A node without a line has the line of its nearest ancestor.
  }
  places.repeated.reset();
  return places;
}

// The position of the parser, which reads through this object.
struct Cursor {
  const char* at;
  const char* end;
  uint32_t line = 1;
  bool after_line_end = false;  // The last character was a line break.
};

class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit CursorIterator(Cursor* cursor) : cursor_(cursor) {}

  reference operator*() const { return *cursor_->at; }
  CursorIterator& operator++() {
    cursor_->after_line_end = *cursor_->at == '\n';
    cursor_->line += cursor_->after_line_end ? 1 : 0;
    ++cursor_->at;
    return *this;
  }
  bool operator==(const CursorIterator& end) const { return IsAtEnd() == end.IsAtEnd(); }
  bool operator!=(const CursorIterator& end) const { return !(*this == end); }

 private:
  bool IsAtEnd() const { return cursor_ == nullptr || cursor_->at == cursor_->end; }

  Cursor* cursor_;
};

// The handler for nlohmann::json::sax_parse().
class JsonHandler {
 public:
  JsonHandler(const Cursor& cursor, DocumentPlaces& places) : cursor_(cursor), tracker_(places) {}

  // The library prescribes these names.
  // NOLINTBEGIN(readability-identifier-naming)
  bool null() { return Value(cursor_.line); }
  bool boolean(bool /*value*/) { return Value(cursor_.line); }
  bool number_integer(int64_t /*value*/) { return Number(); }
  bool number_unsigned(uint64_t /*value*/) { return Number(); }
  bool number_float(double /*value*/, const std::string& /*text*/) { return Number(); }
  bool string(std::string& /*value*/) { return Value(cursor_.line); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(size_t /*size*/) { return Open(true); }
  bool start_array(size_t /*size*/) { return Open(false); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& key) {
    tracker_.Key(key, cursor_.line);
    return true;
  }
  static bool parse_error(size_t /*position*/, const std::string& /*token*/,
                          const std::exception& /*error*/) {
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  // The parser has read one character beyond the number, which may be a line break.
  bool Number() { return Value(cursor_.line - (cursor_.after_line_end ? 1 : 0)); }
  bool Value(uint32_t line) {
    tracker_.Value(line);
    return true;
  }
  bool Open(bool is_map) {
    tracker_.Open(is_map, cursor_.line);
    return true;
  }
  bool Close() {
    tracker_.Close();
    return true;
  }

  const Cursor& cursor_;
  Tracker tracker_;
};

// REQUIRES: FindSyntaxError() finds no error.
DocumentPlaces PlacesOfJson(std::string_view text) {
  DocumentPlaces places;
  Cursor cursor{text.data(), text.data() + text.size()};
  JsonHandler handler(cursor, places);
  nlohmann::json::sax_parse(CursorIterator(&cursor), CursorIterator(nullptr), &handler);
  return places;
}

// ---- Values -------------------------------------------------------------------------------------

class DocumentConverter {
 public:
  DocumentConverter(const std::string& file, const DocumentPlaces& places, ConfigErrors& errors)
      : file_(file), places_(places), errors_(errors) {}

  ConfigValue Convert(const Json& json, const std::string& pointer, const ConfigPlace& around) {
    ConfigValue value;
    const auto line = places_.lines.find(pointer);
    value.place =
        line == places_.lines.end() ? around : ConfigPlace{file_, line->second, /*column=*/0};
    if (json.is_object()) {
      AddMembers(json, pointer, value);
    } else if (json.is_array()) {
      AddElements(json, pointer, value);
    } else {
      SetScalar(json, pointer, value);
    }
    return value;
  }

 private:
  void AddMembers(const Json& json, const std::string& pointer, ConfigValue& value) {
    for (const auto& [key, member] : json.items()) {
      if (member.is_null()) continue;
      value.members.push_back({key, Convert(member, PointerTo(pointer, key), value.place)});
    }
    // Sort members by their position in the file, not alphabetically.
    std::ranges::stable_sort(value.members, {},
                             [](const ConfigMember& member) { return member.value.place.line; });
  }

  void AddElements(const Json& json, const std::string& pointer, ConfigValue& value) {
    value.kind = ConfigValue::Kind::kArray;
    for (size_t i = 0; i < json.size(); ++i) {
      value.elements.push_back(Convert(json[i], pointer + "/" + std::to_string(i), value.place));
    }
  }

  void SetScalar(const Json& json, const std::string& pointer, ConfigValue& value) {
    if (json.is_string()) {
      value.kind = ConfigValue::Kind::kString;
      value.text = json.get<std::string>();
    } else if (json.is_boolean()) {
      value.kind = ConfigValue::Kind::kBool;
      value.boolean = json.get<bool>();
    } else if (json.is_number_float()) {
      value.kind = ConfigValue::Kind::kFloat;
      value.number = json.get<double>();
    } else if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
      errors_.Expected(value.place, PathOfPointer(pointer), "a whole number of 64 bits",
                       DumpJson(json));
    } else if (json.is_number()) {
      value.kind = ConfigValue::Kind::kInt;
      value.integer = json.get<int64_t>();
    } else {
      errors_.Expected(value.place, PathOfPointer(pointer), "a value", "null within an array");
    }
  }

  // Returns the path of a JSON pointer: "profiles[0].plugins".
  static std::string PathOfPointer(const std::string& pointer) {
    return ArgsKey(pointer).substr(std::string_view("args.").size());
  }

  const std::string& file_;
  const DocumentPlaces& places_;
  ConfigErrors& errors_;
};

// Removes "line N, column M: " from the beginning of `message` and returns it as a place.
ConfigPlace ParsePlace(std::string_view& message, const std::string& file) {
  ConfigPlace place{file, 0, 0};
  constexpr std::string_view kLine = "line ";
  constexpr std::string_view kColumn = ", column ";
  if (!message.starts_with(kLine)) return place;
  const char* end = message.data() + message.size();
  auto number = std::from_chars(message.data() + kLine.size(), end, place.line);
  if (!std::string_view(number.ptr, end).starts_with(kColumn)) return place;
  number = std::from_chars(number.ptr + kColumn.size(), end, place.column);
  const size_t taken = static_cast<size_t>(number.ptr - message.data());
  message.remove_prefix(std::min(taken + 2, message.size()));
  return place;
}

struct Parsed {
  Json json;
  DocumentPlaces places;
};

std::optional<Parsed> ParseJsonDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  if (const auto error = FindSyntaxError(text)) {
    errors.AddAlone({file, static_cast<uint32_t>(LineAt(text, error->offset)), 0},
                    "not JSON: " + error->message);
    return std::nullopt;
  }
  if (IsNestedDeeper(text, kMaxDocumentDepth)) {
    errors.AddAlone({file, 0, 0}, "expected at most " + std::to_string(kMaxDocumentDepth) +
                                      " nested arrays and objects, found more");
    return std::nullopt;
  }
  Parsed parsed{ParseJson(text), PlacesOfJson(text)};
  if (parsed.json.is_discarded()) {  // Several values, or an incomplete surrogate pair.
    errors.AddAlone({file, 0, 0}, "expected one JSON object, found something else");
    return std::nullopt;
  }
  if (parsed.places.repeated.has_value()) {
    const auto& [pointer, line] = *parsed.places.repeated;
    errors.AddAlone({file, line, 0}, "expected each key once, found " +
                                         Quoted(pointer.substr(pointer.rfind('/') + 1)) +
                                         " twice in one object");
    return std::nullopt;
  }
  return parsed;
}

std::optional<Parsed> ParseYamlDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  const auto documents = YamlToJson(text, kYamlLimits);
  if (!documents.ok()) {
    const Status status = documents.status();
    std::string_view message = status.message();
    const ConfigPlace place = ParsePlace(message, file);
    errors.AddAlone(place, "not YAML: " + std::string(message));
    return std::nullopt;
  }
  if (documents->size() != 1) {
    ConfigPlace place{file, 0, 0};
    if (documents->size() > 1) place.line = static_cast<uint32_t>((*documents)[1].line);
    errors.AddAlone(place, "expected one document, found " +
                               (documents->empty() ? std::string("none") : "several"));
    return std::nullopt;
  }
  Parsed parsed{ParseJson(documents->front().json), PlacesOfYaml(text)};
  return parsed;
}

// A text that begins with '{' may be JSON, or a YAML flow mapping.
std::optional<Parsed> Parse(std::string_view text, const std::string& file, ConfigErrors& errors) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{')
    return ParseYamlDocument(text, file, errors);
  if (FindSyntaxError(text).has_value()) {
    ConfigErrors ignored;
    auto parsed = ParseYamlDocument(text, file, ignored);
    if (parsed.has_value()) return parsed;
  }
  return ParseJsonDocument(text, file, errors);
}

}  // namespace

std::optional<ConfigValue> ReadDocument(std::string_view text, const std::string& file,
                                        ConfigErrors& errors) {
  if (text.size() > kMaxConfigBytes) {
    errors.AddAlone({file, 0, 0}, "expected a file of at most " + std::to_string(kMaxConfigBytes) +
                                      " bytes, found more");
    return std::nullopt;
  }
  const auto parsed = Parse(text, file, errors);
  if (!parsed.has_value()) return std::nullopt;
  if (!parsed->json.is_object()) {
    errors.AddAlone({file, 0, 0}, "expected an object, found something else");
    return std::nullopt;
  }
  const size_t before = errors.size();
  ConfigValue root =
      DocumentConverter(file, parsed->places, errors).Convert(parsed->json, "", {file, 0, 0});
  if (errors.size() != before) return std::nullopt;
  return root;
}

}  // namespace berth::host
