// Value: a tree of objects, arrays and scalars: an argument from the profile, or an object of a
// kind that has no view.
//
//   const berth::Value claim = berth::ValueOf(host_.objects().Get(kClaim, ns, name));
//   const std::string_view volume = claim["spec"]["volumeName"].AsString();
//
// A value that does not exist is absent and reads as empty or 0. A value of another kind than the
// requested one also reads as empty or 0. So a path through a tree needs only one test, at its end.
//
// A member of Args with this type accepts any value; the plugin reads it in its constructor.
//
// Threading: [any].
// Lifetime:  an argument until the constructor returns; otherwise that of the object.
#ifndef BERTH_VALUE_H_
#define BERTH_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/quantity.h>
#include <berth/span.h>

namespace berth {

class Value {
 public:
  Value() = default;  // Absent.
  explicit Value(const berth_value* value) : value_(value) {}

  // BERTH_VALUE_*; an absent value is BERTH_VALUE_NULL.
  uint32_t kind() const {
    return value_ == nullptr ? uint32_t{BERTH_VALUE_NULL} : value_->reader->kind(value_);
  }
  bool absent() const { return kind() == BERTH_VALUE_NULL; }
  // Returns the size of an array or object; 0 for other kinds.
  uint64_t size() const { return value_ == nullptr ? 0 : value_->reader->size(value_); }
  // Returns a member of an object; absent if the object has no such member.
  Value operator[](std::string_view key) const {
    return value_ == nullptr ? Value() : Value(value_->reader->get(value_, Str(key)));
  }
  // Returns an element of an array, or a member of an object; absent if `i` is size() or more.
  Value At(uint64_t i) const {
    return value_ == nullptr ? Value() : Value(value_->reader->at(value_, i, nullptr));
  }
  std::string_view KeyAt(uint64_t i) const {
    berth_str key = {nullptr, 0};
    if (value_ != nullptr) value_->reader->at(value_, i, &key);
    return Str(key);
  }
  bool AsBool() const { return kind() == BERTH_VALUE_BOOL && AsInt() != 0; }
  // Reads INT and BOOL.
  int64_t AsInt() const { return value_ == nullptr ? 0 : value_->reader->as_int(value_); }
  // Reads FLOAT and INT.
  double AsFloat() const { return value_ == nullptr ? 0 : value_->reader->as_float(value_); }
  std::string_view AsString() const {
    return value_ == nullptr ? std::string_view() : Str(value_->reader->as_string(value_));
  }
  // Returns std::nullopt if the value is not a quantity.
  std::optional<Quantity> AsQuantity() const {
    Quantity amount;
    if (value_ == nullptr) return std::nullopt;
    const berth_code code = value_->reader->as_quantity(value_, &amount.units, &amount.milli);
    return code == BERTH_SUCCESS ? std::optional(amount) : std::nullopt;
  }
  // Reads a STRING as a time of RFC 3339, in nanoseconds since 1970-01-01T00:00:00Z. Returns
  // std::nullopt if the value is not such a time.
  std::optional<int64_t> AsTime() const {
    int64_t ns = 0;
    if (value_ == nullptr) return std::nullopt;
    return value_->reader->as_time(value_, &ns) == BERTH_SUCCESS ? std::optional(ns) : std::nullopt;
  }
  // Returns the value as JSON; an absent value is "null".
  std::string ToJson() const {
    if (value_ == nullptr) return "null";
    std::string json;
    value_->reader->write_json(
        value_,
        [](void* to, berth_str text) noexcept { static_cast<std::string*>(to)->append(Str(text)); },
        &json);
    return json;
  }
  // Returns the place of an argument in its file: "profiles/default.toml:12".
  std::string_view where() const {
    return value_ == nullptr ? std::string_view() : Str(value_->reader->where(value_));
  }

  // Iterates over the elements of an array, or the members of an object: `for (const Value element
  // : value)`.
  class Iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    Iterator(const berth_value* of, uint64_t at) : of_(of), at_(at) {}
    Value operator*() const { return Value(of_).At(at_); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {of_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const berth_value* of_ = nullptr;
    uint64_t at_ = 0;
  };
  Iterator begin() const { return {value_, 0}; }
  Iterator end() const { return {value_, size()}; }

  const berth_value* abi() const { return value_; }

 private:
  const berth_value* value_ = nullptr;
};

// Returns the whole object, for a result of ObjectIn or Objects::Get; absent for null.
inline Value ValueOf(const berth_object* object) {
  return object == nullptr ? Value() : Value(object->value);
}

}  // namespace berth

#endif  // BERTH_VALUE_H_
