// A configuration file as a tree of plain values that know where they stand.
#ifndef BERTH_HOST_CONFIG_CONFIG_VALUE_H_
#define BERTH_HOST_CONFIG_CONFIG_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"
#include "host/config/profile.h"

namespace berth::host {

struct ConfigMember;

struct ConfigValue {
  enum class Kind : uint8_t { kBool, kInt, kFloat, kString, kTime, kArray, kTable };

  Kind kind = Kind::kTable;
  ConfigPlace place;  // Of a member of a table: of its key.
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;                  // Finite.
  std::string text;                   // Of a string.
  std::vector<ConfigValue> elements;  // Of an array.
  std::vector<ConfigMember> members;  // Of a table: keys are unique, in any order.

  bool is_table() const { return kind == Kind::kTable; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_string() const { return kind == Kind::kString; }

  // nullptr: it has no such member, or is no table. Lifetime: that of this value.
  const ConfigValue* Find(std::string_view key) const;
  // What is found here, for messages: `"five"`, `7`, `true`, `an array`, `a table`.
  std::string Describe() const;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

// `value` as arguments. A time, which was said to be an error, is an empty text. REQUIRES: it is a
// table.
ProfileArgs ToArgs(const ConfigValue& value);

// A text between quotes for a message: control characters are escaped, a long one is cut.
std::string Quoted(std::string_view text);

// `/a~1b/0`: what leads to the member `key` of what `pointer` leads to. (RFC 6901)
std::string PointerTo(std::string_view pointer, std::string_view key);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_VALUE_H_
