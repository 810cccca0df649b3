#include "host/config/convert/document_places.h"

#include <cstddef>
#include <exception>
#include <istream>
#include <iterator>
#include <streambuf>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "host/config/config_value.h"

namespace berth::host {
namespace {

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

}  // namespace

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

DocumentPlaces PlacesOfJson(std::string_view text) {
  DocumentPlaces places;
  Cursor cursor{text.data(), text.data() + text.size()};
  JsonHandler handler(cursor, places);
  nlohmann::json::sax_parse(CursorIterator(&cursor), CursorIterator(nullptr), &handler);
  return places;
}

}  // namespace berth::host
