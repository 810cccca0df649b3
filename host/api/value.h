// Value trees, which the service berth.values/1 reads: plugin arguments, objects of kinds that have
// no view, and single fields.
#ifndef BERTH_HOST_API_VALUE_H_
#define BERTH_HOST_API_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>
#include <berth/siphash.h>

#include "host/base/assert.h"
#include "host/base/text.h"

namespace berth::host {

struct Member;
struct PlacedMember;

// Returns the table that every value points to, which is constant data. Its `parse` and `release`
// call those of HostBase::values_service.
const berth_values* ValuesService();

// The object that berth_host.impl points to, for every host of an instance.
struct HostBase {
  // The service berth.values/1 that the host serves. Unlike get_service, it is available on any
  // thread at any time.
  const berth_values* values_service;
};

// Returns the value as JSON, as berth_values.write_json writes it.
std::string JsonOf(const berth_value* value);

// One value of a tree.
// Lifetime: a value borrows its text, elements or members, which are in the arena of the tree.
class Value {
 public:
  Value() = default;  // The value null.
  static Value Bool(bool truth) { return Value(BERTH_VALUE_BOOL, int64_t{truth}); }
  static Value Int(int64_t number) { return Value(BERTH_VALUE_INT, number); }
  static Value Float(double number) { return Value(number); }
  static Value String(std::string_view text) { return Value(text); }
  // Array and Object take Members; or PlacedMembers, in a tree whose values record where they were
  // written. The keys of the elements of an array are ignored.
  template <class Part, size_t kExtent>
  static Value Array(std::span<Part, kExtent> elements) {
    return Value(BERTH_VALUE_ARRAY, elements.data(), elements.size(), sizeof(Part));
  }
  // REQUIRES: each key occurs once.
  template <class Part, size_t kExtent>
  static Value Object(std::span<Part, kExtent> members) {
    return Value(BERTH_VALUE_OBJECT, members.data(), members.size(), sizeof(Part));
  }

  // Of and abi convert between the pointer of the C boundary and a Value. Of(nullptr) is null.
  static const Value* Of(const berth_value* value) { return reinterpret_cast<const Value*>(value); }
  const berth_value* abi() const { return &head_; }

  uint32_t kind() const { return kind_; }
  bool boolean() const { return integer_ != 0; }             // REQUIRES: BOOL.
  int64_t integer() const { return integer_; }               // REQUIRES: INT or BOOL.
  double number() const { return number_; }                  // REQUIRES: FLOAT.
  std::string_view text() const { return {text_, count_}; }  // REQUIRES: STRING.
  // Returns the number of elements or members; 0 for a value that is no array and no object.
  uint32_t size() const { return kind_ >= BERTH_VALUE_ARRAY ? count_ : 0; }
  // Returns an element or member by its index.
  // REQUIRES: i < size().
  const Member& At(uint32_t i) const;
  // Returns where the value was written; empty if the tree does not record it.
  std::string_view where() const;

 private:
  friend struct PlacedMember;

  Value(uint8_t kind, int64_t integer) : integer_(integer), kind_(kind) {}
  explicit Value(double number) : number_(number), kind_(BERTH_VALUE_FLOAT) {}
  explicit Value(std::string_view text)
      : text_(text.data()), count_(Checked(text.size())), kind_(BERTH_VALUE_STRING) {}
  Value(uint8_t kind, const void* parts, size_t count, uint16_t stride)
      : parts_(parts), count_(Checked(count)), kind_(kind), stride_(stride) {}
  static uint32_t Checked(size_t count) {
    BERTH_ASSERT(count <= UINT32_MAX);
    return static_cast<uint32_t>(count);
  }

  berth_value head_ = {ValuesService()};
  union {
    int64_t integer_ = 0;
    double number_;
    const char* text_;
    const void* parts_;
  };
  uint32_t count_ = 0;
  uint8_t kind_ = BERTH_VALUE_NULL;
  uint8_t placed_ = 0;   // 1 if this is the value of a PlacedMember.
  uint16_t stride_ = 0;  // Bytes from one element or member to the next.
};

// An element of an array, or a member of an object.
struct Member {
  Value value;
  berth_str key = {nullptr, 0};
};

// A member that records where it was written, such as "profiles/default.toml:12". The root of such
// a tree is a PlacedMember too.
struct PlacedMember {
  PlacedMember(const Value& value, std::string_view key, std::string_view where);

  Member member;
  berth_str where;
};

static_assert(sizeof(Value) == 24 && std::is_standard_layout_v<PlacedMember> &&
              std::is_trivially_copyable_v<PlacedMember> &&
              std::is_trivially_destructible_v<PlacedMember>);

// Adds a tree to a hash. Equal trees add the same; trees whose members are in a different order are
// not equal. A null pointer adds the same as the value null.
void AddValue(const berth_value* value, SipHash13& hash);

}  // namespace berth::host

#endif  // BERTH_HOST_API_VALUE_H_
