#include "host/api/value.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "host/api/quantity.h"
#include "host/base/assert.h"

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
    case BERTH_VALUE_STRING: text = Value::Of(value)->text(); break;
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

constexpr berth_values kService{
    sizeof(berth_values), 0, Kind, Size, Get, At, AsInt, AsFloat, AsString, Where, AsQuantity};

}  // namespace

const berth_values* ValuesService() { return &kService; }

Value::Value(uint32_t kind, size_t count)
    : count_(static_cast<uint32_t>(count)), kind_(static_cast<uint8_t>(kind)) {
  BERTH_ASSERT(count <= UINT32_MAX);
}

template <class Part>
Value Value::Parts(uint32_t kind, std::span<const Part> parts) {
  Value value(kind, parts.size());
  value.parts_ = parts.data();
  value.stride_ = sizeof(Part);
  return value;
}

Value Value::Bool(bool truth) {
  Value value(BERTH_VALUE_BOOL, 0);
  value.integer_ = truth ? 1 : 0;
  return value;
}

Value Value::Int(int64_t number) {
  Value value(BERTH_VALUE_INT, 0);
  value.integer_ = number;
  return value;
}

Value Value::Float(double number) {
  Value value(BERTH_VALUE_FLOAT, 0);
  value.number_ = number;
  return value;
}

Value Value::String(std::string_view text) {
  Value value(BERTH_VALUE_STRING, text.size());
  value.text_ = text.data();
  return value;
}

Value Value::Array(std::span<const Member> elements) { return Parts(BERTH_VALUE_ARRAY, elements); }
Value Value::Object(std::span<const Member> members) { return Parts(BERTH_VALUE_OBJECT, members); }
Value Value::Array(std::span<const PlacedMember> elements) {
  return Parts(BERTH_VALUE_ARRAY, elements);
}
Value Value::Object(std::span<const PlacedMember> members) {
  return Parts(BERTH_VALUE_OBJECT, members);
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
