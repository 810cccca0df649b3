// A configuration file as a tree of plain values with their positions.
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
  ConfigPlace place;  // For a member of a table, the place of its key.
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;                  // For kFloat; finite.
  std::string text;                   // For kString.
  std::vector<ConfigValue> elements;  // For kArray.
  std::vector<ConfigMember> members;  // For kTable: unique keys, in no particular order.

  bool is_table() const { return kind == Kind::kTable; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_string() const { return kind == Kind::kString; }

  // Returns the member; nullptr if there is none, or if this is no table. Lifetime: that of this
  // value.
  const ConfigValue* Find(std::string_view key) const;
  // Describes the value for messages: `"five"`, `7`, `true`, `an array`, `a table`.
  std::string Describe() const;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

// Returns `value` as arguments. A date or time, which was reported as an error before, becomes an
// empty string. REQUIRES: `value` is a table.
ProfileArgs ToArgs(const ConfigValue& value);

// Returns the JSON pointer of the member `key` of the table at `pointer`, such as `/a~1b/0`. (RFC
// 6901)
std::string PointerTo(std::string_view pointer, std::string_view key);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_VALUE_H_
