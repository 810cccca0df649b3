#include "host/api/value.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "host/api/quantity.h"
#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

uint32_t Kind(const berth_value* value) noexcept {
  return value == nullptr ? uint32_t{BERTH_VALUE_NULL} : Value::Of(value)->kind();
}

uint64_t Size(const berth_value* value) noexcept {
  return value == nullptr ? 0 : Value::Of(value)->size();
}

const berth_value* Get(const berth_value* object, berth_str key) noexcept {
  if (Kind(object) != BERTH_VALUE_OBJECT) return nullptr;
  const Value& value = *Value::Of(object);
  const std::string_view wanted = Text(key);
  // Objects have few members, for which a loop is faster than a binary search.
  for (uint32_t i = 0; i < value.size(); ++i) {
    const Member& member = value.At(i);
    if (Text(member.key) == wanted) return member.value.abi();
  }
  return nullptr;
}

const berth_value* At(const berth_value* value, uint64_t index, berth_str* key_or_null) noexcept {
  if (index >= Size(value)) return nullptr;
  const Member& member = Value::Of(value)->At(static_cast<uint32_t>(index));
  if (key_or_null != nullptr && Kind(value) == BERTH_VALUE_OBJECT) *key_or_null = member.key;
  return member.value.abi();
}

int64_t AsInt(const berth_value* value) noexcept {
  const uint32_t kind = Kind(value);
  return kind == BERTH_VALUE_INT || kind == BERTH_VALUE_BOOL ? Value::Of(value)->integer() : 0;
}

double AsFloat(const berth_value* value) noexcept {
  if (Kind(value) == BERTH_VALUE_FLOAT) return Value::Of(value)->number();
  return Kind(value) == BERTH_VALUE_INT ? static_cast<double>(AsInt(value)) : 0;
}

berth_str AsString(const berth_value* value) noexcept {
  return Kind(value) == BERTH_VALUE_STRING ? AsStr(Value::Of(value)->text())
                                           : berth_str{nullptr, 0};
}

berth_str Where(const berth_value* argument) noexcept {
  return argument == nullptr ? berth_str{nullptr, 0} : AsStr(Value::Of(argument)->where());
}

berth_code AsQuantity(const berth_value* value, int64_t* units, int64_t* milli) noexcept {
  // Enough for the decimal digits of any double, its sign and its point.
  std::array<char, 2 * std::numeric_limits<double>::max_exponent10 + 32> digits = {};
  std::string_view text;
  switch (Kind(value)) {
    case BERTH_VALUE_STRING: text = TrimSpace(Value::Of(value)->text()); break;
    case BERTH_VALUE_INT:
    case BERTH_VALUE_FLOAT: {
      char* const end = digits.data() + digits.size();
      const Value& number = *Value::Of(value);
      const auto written =
          number.kind() == BERTH_VALUE_INT
              ? std::to_chars(digits.data(), end, number.integer())
              : std::to_chars(digits.data(), end, number.number(), std::chars_format::fixed);
      text = {digits.data(), static_cast<size_t>(written.ptr - digits.data())};
      break;
    }
    default: return BERTH_BAD_ARGUMENT;
  }
  const Result<Quantity> quantity = ParseQuantity(text);
  if (!quantity.ok()) return BERTH_BAD_ARGUMENT;
  *units = quantity->Value();
  *milli = quantity->MilliValue();
  return BERTH_SUCCESS;
}

berth_code AsTime(const berth_value* value, int64_t* ns) noexcept {
  if (Kind(value) != BERTH_VALUE_STRING) return BERTH_BAD_ARGUMENT;
  const Result<int64_t> time = ParseTime(Value::Of(value)->text());
  if (!time.ok()) return BERTH_BAD_ARGUMENT;
  *ns = *time;
  return BERTH_SUCCESS;
}

// Writes trees as JSON, in pieces.
class TreeWriter {
 public:
  using Put = void (*)(void* to, berth_str text) noexcept;

  TreeWriter(Put put, void* to) : put_(put), to_(to) {}

  void Write(const berth_value* value) {
    switch (Kind(value)) {
      case BERTH_VALUE_BOOL: buffer_.append(AsInt(value) != 0 ? "true" : "false"); break;
      case BERTH_VALUE_INT: buffer_.append(std::to_string(AsInt(value))); break;
      case BERTH_VALUE_FLOAT: WriteFloat(AsFloat(value)); break;
      case BERTH_VALUE_STRING: WriteText(Value::Of(value)->text()); break;
      case BERTH_VALUE_ARRAY:
      case BERTH_VALUE_OBJECT: WriteParts(*Value::Of(value)); break;
      default: buffer_.append("null");
    }
    if (buffer_.size() >= kPiece) Flush();
  }
  void Flush() {
    if (!buffer_.empty()) put_(to_, AsStr(buffer_));
    buffer_.clear();
  }

 private:
  static constexpr size_t kPiece = 4096;

  void WriteParts(const Value& value) {
    const bool is_object = value.kind() == BERTH_VALUE_OBJECT;
    buffer_ += is_object ? '{' : '[';
    for (uint32_t i = 0; i < value.size(); ++i) {
      const Member& part = value.At(i);
      if (i > 0) buffer_ += ',';
      if (is_object) {
        WriteText(Text(part.key));
        buffer_ += ':';
      }
      Write(part.value.abi());
    }
    buffer_ += is_object ? '}' : ']';
  }

  // The shortest text that reads as the same number, and as a FLOAT.
  void WriteFloat(double number) {
    if (!std::isfinite(number)) {
      buffer_.append("null");
      return;
    }
    std::array<char, 32> digits = {};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string_view text(digits.data(), static_cast<size_t>(written.ptr - digits.data()));
    buffer_.append(text);
    if (text.find_first_of(".e") == text.npos) buffer_.append(".0");
  }

  void WriteText(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    buffer_ += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        buffer_.append(1, '\\').append(1, c);
      } else if (byte < 0x20) {
        buffer_.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
      } else {
        buffer_ += c;
      }
    }
    buffer_ += '"';
  }

  const Put put_;
  void* const to_;
  std::string buffer_;
};

void WriteJson(const berth_value* value, TreeWriter::Put put, void* to) noexcept {
  TreeWriter writer(put, to);
  writer.Write(value);
  writer.Flush();
}

// The table of a value has no state of an instance, so `parse` and `release` use the service of the
// host that they get.
const berth_values& ServiceOf(const berth_host* host) {
  return *static_cast<const HostBase*>(host->impl)->values_service;
}

const berth_value* Parse(const berth_host* host, berth_str json, berth_status* status) noexcept {
  return ServiceOf(host).parse(host, json, status);
}

void Release(const berth_host* host, const berth_value* value) noexcept {
  ServiceOf(host).release(host, value);
}

constexpr berth_values kService{
    sizeof(berth_values), 0,      Kind,      Size,  Get,    At, AsInt, AsFloat, AsString, Where,
    AsQuantity,           AsTime, WriteJson, Parse, Release};

}  // namespace

const berth_values* ValuesService() { return &kService; }

std::string JsonOf(const berth_value* value) {
  std::string json;
  WriteJson(
      value,
      [](void* to, berth_str text) noexcept { static_cast<std::string*>(to)->append(Text(text)); },
      &json);
  return json;
}

const Member& Value::At(uint32_t i) const {
  BERTH_ASSERT(i < size());
  const auto* part = static_cast<const char*>(parts_) + size_t{i} * stride_;
  return *reinterpret_cast<const Member*>(part);
}

std::string_view Value::where() const {
  // The value is the first field of its Member, which is the first field of the PlacedMember.
  return placed_ == 0 ? std::string_view()
                      : Text(reinterpret_cast<const PlacedMember*>(this)->where);
}

PlacedMember::PlacedMember(const Value& value, std::string_view key, std::string_view written)
    : member{value, AsStr(key)}, where(AsStr(written)) {
  member.value.placed_ = 1;
}

void AddValue(const berth_value* value, SipHash13& hash) {
  hash.Add(uint64_t{Kind(value)});
  switch (Kind(value)) {
    case BERTH_VALUE_BOOL:
    case BERTH_VALUE_INT: return hash.Add(static_cast<uint64_t>(AsInt(value)));
    case BERTH_VALUE_FLOAT: return hash.Add(std::bit_cast<uint64_t>(AsFloat(value)));
    case BERTH_VALUE_STRING: return hash.Add(Value::Of(value)->text());
    default: break;
  }
  const uint64_t size = Size(value);
  hash.Add(size);
  for (uint64_t i = 0; i < size; ++i) {
    berth_str key = {nullptr, 0};
    const berth_value* part = At(value, i, &key);
    hash.Add(Text(key));
    AddValue(part, hash);
  }
}

}  // namespace berth::host
