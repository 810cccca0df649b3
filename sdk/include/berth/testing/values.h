// Values in a test, and the JSON in which they may be written.
#ifndef BERTH_TESTING_VALUES_H_
#define BERTH_TESTING_VALUES_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

// A value of a test, which the service berth.values/1 can read.
struct ValueSpec : berth_value {
  uint32_t kind = BERTH_VALUE_NULL;
  int64_t number = 0;             // INT, BOOL
  double real = 0;                // FLOAT, INT
  std::string text;               // STRING
  std::vector<ValueSpec> items;   // ARRAY, OBJECT
  std::vector<std::string> keys;  // OBJECT: one for each item
  std::string where;              // "args/scoringStrategy/type"

  ValueSpec() : berth_value{Reader()} {}
  ValueSpec(bool value);
  template <std::integral T>
  ValueSpec(T value) : ValueSpec() {
    kind = BERTH_VALUE_INT;
    number = static_cast<int64_t>(value);
    real = static_cast<double>(value);
  }
  ValueSpec(double value);
  ValueSpec(const char* value) : ValueSpec(std::string(value)) {}
  ValueSpec(std::string value);

  static ValueSpec List(std::vector<ValueSpec> values);
  static ValueSpec Object();
  // Returns a member of an object; NULL if there is none.
  const ValueSpec* Find(std::string_view key) const;
  void Set(std::string key, ValueSpec value);
  void Drop(std::string_view key);
  // Sets `where` of every value to its path from the root.
  void Locate(const std::string& at);

 private:
  static const berth_values* Reader();
};

namespace internal {

// Reads JSON (RFC 8259) in a test's source. A syntax error ends the test.
ValueSpec ReadJson(std::string_view text);

// Reads JSON that a plugin parses. Returns why it is not JSON; empty if it is.
std::string TryReadJson(std::string_view text, ValueSpec* value);

// Reads a time of RFC 3339, as the host does. Returns false if the text is not such a time.
bool ReadTime(std::string_view text, int64_t* ns);

// berth_values.parse and release. Threading: [any].
const berth_value* ParseValue(const berth_host* host, berth_str json,
                              berth_status* status) noexcept;
void ReleaseValue(const berth_host* host, const berth_value* value) noexcept;

// The service berth.values/1, over ValueSpecs. Threading: [any].
extern const berth_values kValues;

}  // namespace internal

}  // namespace berth::testing

#endif  // BERTH_TESTING_VALUES_H_
