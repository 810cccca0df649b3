#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/quantity.h>
#include <berth/testing/ids.h>
#include <berth/testing/quantity.h>
#include <berth/testing/values.h>

namespace berth::testing {
namespace {

// See internal::ReadJson.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Returns nothing useful after an error.
  ValueSpec Read();
  // The first error; empty if there was none.
  const std::string& error() const { return error_; }

 private:
  // Records an error and skips the rest of the text, so that the callers end.
  void Refuse(const char* why);
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace();
  bool Take(std::string_view word);
  void Expect(std::string_view word, const char* why);

  ValueSpec ReadValue(int depth);

  ValueSpec ReadObject(int depth);

  ValueSpec ReadArray(int depth);

  std::string ReadString();

  void ReadEscape(std::string* out);
  uint32_t ReadHex();

  ValueSpec ReadNumber();

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

// Appends a character in UTF-8.
void AppendUtf8(uint32_t code, std::string* out) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

void WriteText(std::string_view text, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->append(1, '\\').append(1, c);
    } else if (byte < 0x20) {
      out->append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void WriteValue(const ValueSpec& value, std::string* out) {
  switch (value.kind) {
    case BERTH_VALUE_BOOL: out->append(value.number != 0 ? "true" : "false"); return;
    case BERTH_VALUE_INT: out->append(std::to_string(value.number)); return;
    case BERTH_VALUE_STRING: WriteText(value.text, out); return;
    case BERTH_VALUE_FLOAT: {
      char digits[40] = "null";
      if (std::isfinite(value.real)) {
        std::snprintf(digits, sizeof digits, "%.17g", value.real);
        if (std::strpbrk(digits, ".e") == nullptr) std::strncat(digits, ".0", 3);
      }
      out->append(digits);
      return;
    }
    case BERTH_VALUE_ARRAY:
    case BERTH_VALUE_OBJECT: break;
    default: out->append("null"); return;
  }
  const bool is_object = value.kind == BERTH_VALUE_OBJECT;
  out->push_back(is_object ? '{' : '[');
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) out->push_back(',');
    if (is_object) {
      WriteText(value.keys[i], out);
      out->push_back(':');
    }
    WriteValue(value.items[i], out);
  }
  out->push_back(is_object ? '}' : ']');
}

// The functions of the service berth.values/1. Threading: [any].
struct ValueReader {
  static const ValueSpec& Of(const berth_value* value);
  static uint32_t Kind(const berth_value* value) noexcept;
  static uint64_t Size(const berth_value* value) noexcept;
  static const berth_value* Get(const berth_value* object, berth_str key) noexcept;
  static const berth_value* At(const berth_value* value, uint64_t index,
                               berth_str* key_or_null) noexcept;
  static int64_t AsInt(const berth_value* value) noexcept;
  static double AsFloat(const berth_value* value) noexcept;
  static berth_str AsString(const berth_value* value) noexcept;
  static berth_str Where(const berth_value* argument) noexcept;
  static berth_code AsQuantity(const berth_value* value, int64_t* units, int64_t* milli) noexcept;
  static berth_code AsTime(const berth_value* value, int64_t* ns) noexcept;
  static void WriteJson(const berth_value* value, void (*put)(void* to, berth_str text) noexcept,
                        void* to) noexcept;
};

ValueSpec JsonReader::Read() {
  ValueSpec value = ReadValue(0);
  SkipSpace();
  if (at_ != text_.size()) Refuse("expected the end of the text");
  return value;
}

void JsonReader::Refuse(const char* why) {
  if (error_.empty()) {
    error_ = "bad JSON at byte " + std::to_string(at_) + ": " + why + ": " + std::string(text_);
  }
  at_ = text_.size();
}

void JsonReader::SkipSpace() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
}

bool JsonReader::Take(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonReader::Expect(std::string_view word, const char* why) {
  SkipSpace();
  if (!Take(word)) Refuse(why);
}

ValueSpec JsonReader::ReadValue(int depth) {
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

ValueSpec JsonReader::ReadObject(int depth) {
  ValueSpec object = ValueSpec::Object();
  Expect("{", "expected {");
  SkipSpace();
  if (Take("}")) return object;
  do {
    SkipSpace();
    if (Peek() != '"') Refuse("expected a key");
    std::string key = ReadString();
    Expect(":", "expected :");
    ValueSpec value = ReadValue(depth + 1);
    // As in the host, null means absent, and the last of several equal keys counts.
    object.Drop(key);
    if (value.kind != BERTH_VALUE_NULL) object.Set(std::move(key), std::move(value));
    SkipSpace();
  } while (Take(","));
  Expect("}", "expected , or }");
  return object;
}

ValueSpec JsonReader::ReadArray(int depth) {
  std::vector<ValueSpec> items;
  Expect("[", "expected [");
  SkipSpace();
  if (Take("]")) return ValueSpec::List({});
  do {
    items.push_back(ReadValue(depth + 1));
    SkipSpace();
  } while (Take(","));
  Expect("]", "expected , or ]");
  return ValueSpec::List(std::move(items));
}

std::string JsonReader::ReadString() {
  std::string out;
  Expect("\"", "expected a string");
  while (Peek() != '"') {
    if (static_cast<unsigned char>(Peek()) < 0x20) {
      Refuse("expected \" before the line ends");
      return out;
    }
    if (!Take("\\")) {
      out.push_back(text_[at_++]);
      continue;
    }
    ReadEscape(&out);
  }
  ++at_;
  return out;
}

void JsonReader::ReadEscape(std::string* out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t name = kNames.find(Peek());
  if (at_ < text_.size() && name != kNames.npos) return ++at_, out->push_back(kMeanings[name]);
  uint32_t code = ReadHex();
  if (code >= 0xdc00 && code < 0xe000) return Refuse("expected a whole character");
  if (code >= 0xd800 && code < 0xdc00) {
    const bool has_second = Take("\\");
    const uint32_t low = has_second ? ReadHex() : 0;
    if (low < 0xdc00 || low >= 0xe000) return Refuse("expected the second half of a character");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(code, out);
}

uint32_t JsonReader::ReadHex() {
  if (!Take("u")) return Refuse("expected an escape"), 0;
  const std::string digits(text_.substr(at_, 4));
  if (digits.size() != 4 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return Refuse("expected four hexadecimal digits"), 0;
  }
  at_ += 4;
  return static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 16));
}

ValueSpec JsonReader::ReadNumber() {
  size_t end = at_;
  while (end < text_.size() && std::string_view("+-.eE0123456789").find(text_[end]) != text_.npos) {
    ++end;
  }
  const std::string digits(text_.substr(at_, end - at_));
  if (digits.empty()) {
    Refuse("expected a value");
    return {};
  }
  char* stop = nullptr;
  const bool whole = digits.find_first_of(".eE") == std::string::npos;
  const ValueSpec value =
      whole ? ValueSpec(static_cast<int64_t>(std::strtoll(digits.c_str(), &stop, 10)))
            : ValueSpec(std::strtod(digits.c_str(), &stop));
  if (*stop != '\0') Refuse("expected a number");
  at_ = end;
  return value;
}

const ValueSpec& ValueReader::Of(const berth_value* value) {
  return *static_cast<const ValueSpec*>(value);
}

uint32_t ValueReader::Kind(const berth_value* value) noexcept {
  return value == nullptr ? uint32_t{BERTH_VALUE_NULL} : Of(value).kind;
}

uint64_t ValueReader::Size(const berth_value* value) noexcept {
  return value == nullptr ? 0 : Of(value).items.size();
}

const berth_value* ValueReader::Get(const berth_value* object, berth_str key) noexcept {
  return Kind(object) == BERTH_VALUE_OBJECT ? Of(object).Find(FromAbi(key)) : nullptr;
}

const berth_value* ValueReader::At(const berth_value* value, uint64_t index,
                                   berth_str* key_or_null) noexcept {
  if (index >= Size(value)) return nullptr;
  if (key_or_null != nullptr && Kind(value) == BERTH_VALUE_OBJECT) {
    *key_or_null = ToAbi(Of(value).keys[index]);
  }
  return &Of(value).items[index];
}

int64_t ValueReader::AsInt(const berth_value* value) noexcept {
  return value == nullptr ? 0 : Of(value).number;
}

double ValueReader::AsFloat(const berth_value* value) noexcept {
  return value == nullptr ? 0 : Of(value).real;
}

berth_str ValueReader::AsString(const berth_value* value) noexcept {
  return value == nullptr ? berth_str{nullptr, 0} : ToAbi(Of(value).text);
}

berth_str ValueReader::Where(const berth_value* argument) noexcept {
  return argument == nullptr ? berth_str{nullptr, 0} : ToAbi(Of(argument).where);
}

berth_code ValueReader::AsQuantity(const berth_value* value, int64_t* units,
                                   int64_t* milli) noexcept {
  const uint32_t kind = Kind(value);
  std::string text;
  if (kind == BERTH_VALUE_STRING) text = Of(value).text;
  if (kind == BERTH_VALUE_INT) text = std::to_string(Of(value).number);
  if (kind == BERTH_VALUE_FLOAT) text = std::to_string(Of(value).real);
  const std::optional<Quantity> amount = ParseQuantity(text);
  if (!amount.has_value()) return BERTH_BAD_ARGUMENT;
  *units = amount->units;
  *milli = amount->milli;
  return BERTH_SUCCESS;
}

berth_code ValueReader::AsTime(const berth_value* value, int64_t* ns) noexcept {
  if (Kind(value) != BERTH_VALUE_STRING) return BERTH_BAD_ARGUMENT;
  int64_t time = 0;
  if (!internal::ReadTime(Of(value).text, &time)) return BERTH_BAD_ARGUMENT;
  *ns = time;
  return BERTH_SUCCESS;
}

void ValueReader::WriteJson(const berth_value* value,
                            void (*put)(void* to, berth_str text) noexcept, void* to) noexcept {
  std::string json;
  WriteValue(value == nullptr ? ValueSpec() : Of(value), &json);
  put(to, ToAbi(json));
}

}  // namespace

namespace internal {

std::string TryReadJson(std::string_view text, ValueSpec* value) {
  JsonReader reader(text);
  *value = reader.Read();
  return reader.error();
}

ValueSpec ReadJson(std::string_view text) {
  ValueSpec value;
  if (const std::string why = TryReadJson(text, &value); !why.empty()) Misuse(why);
  return value;
}

const berth_values kValues{sizeof(berth_values),
                           0,
                           &ValueReader::Kind,
                           &ValueReader::Size,
                           &ValueReader::Get,
                           &ValueReader::At,
                           &ValueReader::AsInt,
                           &ValueReader::AsFloat,
                           &ValueReader::AsString,
                           &ValueReader::Where,
                           &ValueReader::AsQuantity,
                           &ValueReader::AsTime,
                           &ValueReader::WriteJson,
                           &ParseValue,
                           &ReleaseValue};

}  // namespace internal

const berth_values* ValueSpec::Reader() { return &internal::kValues; }

ValueSpec::ValueSpec(bool value) : ValueSpec() {
  kind = BERTH_VALUE_BOOL;
  number = value ? 1 : 0;
}

ValueSpec::ValueSpec(double value) : ValueSpec() {
  kind = BERTH_VALUE_FLOAT;
  real = value;
}

ValueSpec::ValueSpec(std::string value) : ValueSpec() {
  kind = BERTH_VALUE_STRING;
  text = std::move(value);
}

ValueSpec ValueSpec::List(std::vector<ValueSpec> values) {
  ValueSpec value;
  value.kind = BERTH_VALUE_ARRAY;
  value.items = std::move(values);
  return value;
}

ValueSpec ValueSpec::Object() {
  ValueSpec value;
  value.kind = BERTH_VALUE_OBJECT;
  return value;
}

const ValueSpec* ValueSpec::Find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<size_t>(found - keys.begin())];
}

void ValueSpec::Set(std::string key, ValueSpec value) {
  keys.push_back(std::move(key));
  items.push_back(std::move(value));
}

void ValueSpec::Drop(std::string_view key) {
  const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
  if (at == static_cast<std::ptrdiff_t>(keys.size())) return;
  keys.erase(keys.begin() + at);
  items.erase(items.begin() + at);
}

void ValueSpec::Locate(const std::string& at) {
  where = at;
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].Locate(at + "/" + (kind == BERTH_VALUE_OBJECT ? keys[i] : std::to_string(i)));
  }
}

}  // namespace berth::testing
