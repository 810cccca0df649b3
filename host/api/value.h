// Values: the trees that the service berth.values/1 reads: arguments, objects of kinds without a
// view, and single fields.
#ifndef BERTH_HOST_API_VALUE_H_
#define BERTH_HOST_API_VALUE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>

#include "host/base/text.h"

namespace berth::host {

struct Member;
struct PlacedMember;

// The service. Constant data.
const berth_values* ValuesService();

// One value of a tree. Texts and parts are borrowed: they lie in the arena of the tree.
class Value {
 public:
  Value() = default;  // Null.
  static Value Bool(bool truth);
  static Value Int(int64_t number);
  static Value Float(double number);
  static Value String(std::string_view text);
  // The elements' keys mean nothing.
  static Value Array(std::span<const Member> elements);
  // Each key is there once.
  static Value Object(std::span<const Member> members);
  // The same within a tree whose values say where they were written.
  static Value Array(std::span<const PlacedMember> elements);
  static Value Object(std::span<const PlacedMember> members);

  // Between the boundary's pointer and ours. Null stays null.
  static const Value* Of(const berth_value* value) { return reinterpret_cast<const Value*>(value); }
  const berth_value* abi() const { return &head_; }

  uint32_t kind() const { return kind_; }
  bool boolean() const { return integer_ != 0; }             // REQUIRES: BOOL.
  int64_t integer() const { return integer_; }               // REQUIRES: INT or BOOL.
  double number() const { return number_; }                  // REQUIRES: FLOAT.
  std::string_view text() const { return {text_, count_}; }  // REQUIRES: STRING.
  // Of an array or object; 0 of all else.
  uint32_t size() const { return kind_ >= BERTH_VALUE_ARRAY ? count_ : 0; }
  // REQUIRES: i < size().
  const Member& At(uint32_t i) const;
  // Empty where the tree does not say.
  std::string_view where() const;

 private:
  friend struct PlacedMember;

  Value(uint32_t kind, size_t count);
  template <class Part>
  static Value Parts(uint32_t kind, std::span<const Part> parts);

  berth_value head_ = {ValuesService()};
  union {
    int64_t integer_ = 0;
    double number_;
    const char* text_;
    const void* parts_;
  };
  uint32_t count_ = 0;
  uint8_t kind_ = BERTH_VALUE_NULL;
  uint8_t placed_ = 0;   // 1: it is that of a PlacedMember.
  uint16_t stride_ = 0;  // Bytes from one part to the next.
};

// A value within another.
struct Member {
  Value value;
  berth_str key = {nullptr, 0};
};

// A value of which is known where it was written: "profiles/default.toml:12". The root of such a
// tree is one too.
struct PlacedMember {
  PlacedMember(const Value& value, std::string_view key, std::string_view where);

  Member member;
  berth_str where;
};

static_assert(sizeof(Value) == 24 && std::is_standard_layout_v<PlacedMember> &&
              std::is_trivially_copyable_v<PlacedMember> &&
              std::is_trivially_destructible_v<PlacedMember>);

// Equal trees have equal hashes; members in another order make another tree. Null hashes as the
// value null.
uint64_t HashValue(const berth_value* value);

}  // namespace berth::host

#endif  // BERTH_HOST_API_VALUE_H_
