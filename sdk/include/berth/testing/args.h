// Arguments of a plugin, and the JSON that they may be written in.
#ifndef BERTH_TESTING_ARGS_H_
#define BERTH_TESTING_ARGS_H_

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/quantity.h>

namespace berth::testing {

// A node of the tree that the service berth.args/1 reads.
struct ArgValue {
  uint32_t kind = BERTH_VALUE_NULL;
  int64_t number = 0;             // INT, BOOL
  double real = 0;                // FLOAT, INT
  std::string text;               // STRING
  std::vector<ArgValue> items;    // ARRAY, OBJECT
  std::vector<std::string> keys;  // OBJECT: one for each item
  std::string where;              // "args/scoringStrategy/type"

  ArgValue() = default;
  ArgValue(bool value) : kind(BERTH_VALUE_BOOL), number(value ? 1 : 0) {}
  template <std::integral T>
  ArgValue(T value)
      : kind(BERTH_VALUE_INT),
        number(static_cast<int64_t>(value)),
        real(static_cast<double>(value)) {}
  ArgValue(double value) : kind(BERTH_VALUE_FLOAT), real(value) {}
  ArgValue(const char* value) : kind(BERTH_VALUE_STRING), text(value) {}
  ArgValue(std::string value) : kind(BERTH_VALUE_STRING), text(std::move(value)) {}

  static ArgValue List(std::vector<ArgValue> values) {
    ArgValue value;
    value.kind = BERTH_VALUE_ARRAY;
    value.items = std::move(values);
    return value;
  }
  static ArgValue Object() {
    ArgValue value;
    value.kind = BERTH_VALUE_OBJECT;
    return value;
  }
  void Set(std::string key, ArgValue value) {
    keys.push_back(std::move(key));
    items.push_back(std::move(value));
  }
  // Names every value by its way from the root.
  void Locate(const std::string& at) {
    where = at;
    for (size_t i = 0; i < items.size(); ++i) {
      items[i].Locate(at + "/" + (kind == BERTH_VALUE_OBJECT ? keys[i] : std::to_string(i)));
    }
  }
};

namespace internal {

// JSON (RFC 8259) in a test's source: \u escapes beyond ASCII are refused, and so is everything
// that is not JSON. A mistake ends the test.
class JsonReader {
 public:
  static ArgValue Read(std::string_view text) {
    JsonReader reader(text);
    ArgValue value = reader.ReadValue(0);
    reader.SkipSpace();
    if (reader.at_ != text.size()) reader.Refuse("expected the end of the text");
    return value;
  }

 private:
  explicit JsonReader(std::string_view text) : text_(text) {}

  [[noreturn]] void Refuse(const char* why) const {
    Misuse("bad JSON at byte " + std::to_string(at_) + ": " + why + ": " + std::string(text_));
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool Take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void Expect(std::string_view word, const char* why) {
    SkipSpace();
    if (!Take(word)) Refuse(why);
  }

  ArgValue ReadValue(int depth) {
    if (depth > 64) Refuse("nested too deeply");
    SkipSpace();
    switch (Peek()) {
      case '{': return ReadObject(depth);
      case '[': return ReadArray(depth);
      case '"': return ReadString();
      default: break;
    }
    if (Take("true")) return true;
    if (Take("false")) return false;
    if (Take("null")) return {};
    return ReadNumber();
  }

  ArgValue ReadObject(int depth) {
    ArgValue object = ArgValue::Object();
    Expect("{", "expected {");
    SkipSpace();
    if (Take("}")) return object;
    do {
      SkipSpace();
      if (Peek() != '"') Refuse("expected a key");
      std::string key = ReadString();
      Expect(":", "expected :");
      object.Set(std::move(key), ReadValue(depth + 1));
      SkipSpace();
    } while (Take(","));
    Expect("}", "expected , or }");
    return object;
  }

  ArgValue ReadArray(int depth) {
    std::vector<ArgValue> items;
    Expect("[", "expected [");
    SkipSpace();
    if (Take("]")) return ArgValue::List({});
    do {
      items.push_back(ReadValue(depth + 1));
      SkipSpace();
    } while (Take(","));
    Expect("]", "expected , or ]");
    return ArgValue::List(std::move(items));
  }

  std::string ReadString() {
    std::string out;
    Expect("\"", "expected a string");
    while (Peek() != '"') {
      if (static_cast<unsigned char>(Peek()) < 0x20) Refuse("expected \" before the line ends");
      if (!Take("\\")) {
        out.push_back(text_[at_++]);
        continue;
      }
      out.push_back(ReadEscape());
    }
    ++at_;
    return out;
  }

  char ReadEscape() {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const size_t name = kNames.find(Peek());
    if (at_ < text_.size() && name != kNames.npos) return ++at_, kMeanings[name];
    if (!Take("u00")) Refuse("expected an escape of ASCII");
    const std::string digits(text_.substr(at_, 2));
    char* end = nullptr;
    const int64_t code = std::strtol(digits.c_str(), &end, 16);
    if (digits.size() != 2 || end != digits.c_str() + 2 || code > 0x7f) Refuse("expected ASCII");
    at_ += 2;
    return static_cast<char>(code);
  }

  ArgValue ReadNumber() {
    size_t end = at_;
    while (end < text_.size() &&
           std::string_view("+-.eE0123456789").find(text_[end]) != text_.npos) {
      ++end;
    }
    const std::string digits(text_.substr(at_, end - at_));
    if (digits.empty()) Refuse("expected a value");
    char* stop = nullptr;
    const bool whole = digits.find_first_of(".eE") == std::string::npos;
    const ArgValue value =
        whole ? ArgValue(static_cast<int64_t>(std::strtoll(digits.c_str(), &stop, 10)))
              : ArgValue(std::strtod(digits.c_str(), &stop));
    if (*stop != '\0') Refuse("expected a number");
    at_ = end;
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace internal

// What the profile says: {{"cpuMilli", 200}, {"strict", true}}, or JSON text, or nothing at all.
class Args {
 public:
  Args() = default;
  Args(std::initializer_list<std::pair<const char*, ArgValue>> entries)
      : given_(true), value_(ArgValue::Object()) {
    for (const auto& [key, value] : entries) value_.Set(key, value);
    value_.Locate("args");
  }
  Args(std::string_view json) : given_(true), value_(internal::JsonReader::Read(json)) {
    value_.Locate("args");
  }
  Args(const char* json) : Args(std::string_view(json)) {}

  // NULL when nothing was given.
  const ArgValue* value() const { return given_ ? &value_ : nullptr; }

 private:
  bool given_ = false;
  ArgValue value_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_ARGS_H_
