// Value: one argument as the profile wrote it: a tree of objects, arrays and scalars.
//
// A member of Args of this type takes anything; the plugin reads it in its constructor.
// Threading: [load].
// Lifetime:  until the constructor returns.
#ifndef BERTH_VALUE_H_
#define BERTH_VALUE_H_

#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/span.h>

namespace berth {

class Value {
 public:
  Value() = default;  // Absent.
  Value(const berth_args* args, const berth_value* value) : args_(args), value_(value) {}

  // BERTH_VALUE_*; an absent value is BERTH_VALUE_NULL.
  uint32_t kind() const {
    return args_ == nullptr ? uint32_t{BERTH_VALUE_NULL} : args_->kind(value_);
  }
  bool absent() const { return kind() == BERTH_VALUE_NULL; }
  // Of an array or object; 0 for all else.
  uint64_t size() const {
    const bool many = kind() == BERTH_VALUE_ARRAY || kind() == BERTH_VALUE_OBJECT;
    return many ? args_->size(value_) : 0;
  }
  // The member of an object; absent where there is none.
  Value operator[](std::string_view key) const {
    return kind() == BERTH_VALUE_OBJECT ? Value(args_, args_->get(value_, Str(key))) : Value();
  }
  // REQUIRES: i < size().
  Value At(uint64_t i) const { return {args_, args_->at(value_, i, nullptr)}; }
  std::string_view KeyAt(uint64_t i) const {
    berth_str key = {nullptr, 0};
    args_->at(value_, i, &key);
    return Str(key);
  }
  // Each REQUIRES the kind that it names; Float takes integers too.
  bool Bool() const { return args_->as_int(value_) != 0; }
  int64_t Int() const { return args_->as_int(value_); }
  double Float() const { return args_->as_float(value_); }
  std::string_view String() const { return Str(args_->as_string(value_)); }
  // Where it was written: "profiles/default.toml:12".
  std::string_view where() const {
    return args_ == nullptr ? std::string_view() : Str(args_->where(value_));
  }

 private:
  const berth_args* args_ = nullptr;
  const berth_value* value_ = nullptr;
};

}  // namespace berth

#endif  // BERTH_VALUE_H_
