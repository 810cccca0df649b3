// A configuration file as a tree of plain values with their positions; the reader of its tables,
// which reports the errors of each member; and the paths in it.
#ifndef BERTH_HOST_CONFIG_CONFIG_VALUE_H_
#define BERTH_HOST_CONFIG_CONFIG_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/time_units.h"
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
  double number = 0;  // For kFloat; perhaps not finite.
  // For kString. For kFloat, the number as the file writes it, if that is known: "1e1". For kTime,
  // the value for messages: "the date 1979-05-27".
  std::string text;
  std::vector<ConfigValue> elements;  // For kArray.
  std::vector<ConfigMember> members;  // For kTable: unique keys, in no particular order.

  bool is_table() const { return kind == Kind::kTable; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_string() const { return kind == Kind::kString; }

  // Returns the member; nullptr if there is none, or if this is no table. Lifetime: that of this
  // value.
  const ConfigValue* Find(std::string_view key) const;
  // Describes the value for messages: `"five"`, `7`, `the number 1e1`, `true`, `the date
  // 1979-05-27`, `an array`, `a table`.
  std::string Describe() const;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

// Returns what follows the description of a number that was found in place of an integer: ", which
// is not written as an integer; write 10" for 10.0, and "" for a number that is not whole.
std::string IntegerAdvice(double number);

// Returns `value` as arguments. `context` precedes each key in messages. REQUIRES: `value` is a
// table.
// Errors: dates, times and numbers that are not finite, which JSON does not have. They become null.
ProfileArgs ToArgs(const ConfigValue& value, const std::string& context, ConfigErrors& errors);

// Returns the JSON pointer of the member `key` of the table at `pointer`, such as `/a~1b/0`. (RFC
// 6901)
std::string PointerTo(std::string_view pointer, std::string_view key);

// ---- Reading ------------------------------------------------------------------------------------

// The longest duration in a configuration: a year, so that sums of times and a few durations do not
// overflow.
inline constexpr int64_t kMaxDurationNs = int64_t{8760} * 60 * kMinute;

// Call a method for every possible member, then End(), which reports all other members as unknown.
// A member with an invalid value is reported and treated as missing.
// Lifetime: table and errors must outlive the reader.
class TableReader {
 public:
  // `context` precedes each key in messages: `plugin "ImageLocality": `.
  TableReader(const ConfigValue& table, std::string context, ConfigErrors& errors)
      : table_(table), context_(std::move(context)), errors_(errors) {}

  std::optional<Placed<bool>> Bool(std::string_view key);
  // Reads an integer from `min` to `max`, both included.
  std::optional<Placed<int64_t>> Int(std::string_view key, int64_t min, int64_t max);
  // Reads a duration, such as "1.5s", above 0 and of at most kMaxDurationNs. Returns nanoseconds.
  std::optional<Placed<int64_t>> Duration(std::string_view key);
  // Reads a duration as Duration() does, or "0s".
  std::optional<Placed<int64_t>> DurationOrZero(std::string_view key);
  // Reads a number, whole or not, from `min` to `max`, both included.
  std::optional<Placed<double>> Number(std::string_view key, double min, double max);
  // Reads a string that is not empty. `what` describes it: "the name of a plugin".
  std::optional<Placed<std::string>> String(std::string_view key, std::string_view what);
  // Reads a string that may be empty.
  std::optional<Placed<std::string>> StringOrEmpty(std::string_view key, std::string_view what);
  // Reads an array of unique strings that are not empty. `what` describes them: "names of plugins".
  std::optional<std::vector<Placed<std::string>>> Strings(std::string_view key,
                                                          std::string_view what);
  const ConfigValue* Table(std::string_view key);
  const ConfigValue* Array(std::string_view key, std::string_view what);
  // Returns the member, whatever its type.
  const ConfigValue* Any(std::string_view key);

  // Returns the member, whatever its type. The key is not suggested for unknown keys, because the
  // caller rejects it.
  const ConfigValue* AnyUnsuggested(std::string_view key);

  // Reports members that no method was called for, with similar known keys as suggestions.
  void End();

  // Reports "expected <expected>, found <found>" for the member `key`.
  void Expected(std::string_view key, const ConfigPlace& place, std::string_view expected,
                std::string_view found);
  std::string KeyOf(std::string_view key) const { return context_ + std::string(key); }

 private:
  // Reads the member with `get`, which returns nullopt if the value is not what is expected.
  template <class T, class Get>
  std::optional<Placed<T>> Read(std::string_view key, std::string_view expected, Get get);
  std::optional<Placed<int64_t>> DurationFrom(std::string_view key, int64_t min_ns,
                                              std::string_view expected);
  void Mismatch(std::string_view key, const ConfigValue& value, std::string_view expected);

  const ConfigValue& table_;
  std::string context_;
  ConfigErrors& errors_;
  std::vector<std::string> known_;
  std::vector<std::string> rejected_;
};

// ---- Paths --------------------------------------------------------------------------------------

inline constexpr std::string_view kProfileSuffix = ".toml";

// Returns whether `name` is the name of a profile that is installed with Berth, not a path: it has
// no slash and does not end in ".toml".
bool IsBareProfileName(std::string_view name);

// Joins `folder` and `path` and returns the normalised result. Ignores `folder` if `path` is
// absolute.
std::string InFolder(std::string_view folder, std::string_view path);

// Resolves `path`, which is written in the file `file`, relative to that file's folder.
std::string Beside(std::string_view file, std::string_view path);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_VALUE_H_
