// Reads the members of one table, and says what is wrong with each.
#ifndef BERTH_HOST_CONFIG_TABLE_READER_H_
#define BERTH_HOST_CONFIG_TABLE_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/config_errors.h"
#include "host/config/config_value.h"

namespace berth::host {

// Ask for every member that there may be, then End(): what nobody asked for is unknown. What is
// there and wrong is reported, and read as if it were not there.
// Lifetime: table and errors outlive it.
class TableReader {
 public:
  // `context` stands before each key in messages: `plugin "ImageLocality": `.
  TableReader(const ConfigValue& table, std::string context, ConfigErrors& errors)
      : table_(table), context_(std::move(context)), errors_(errors) {}

  std::optional<Placed<bool>> Bool(std::string_view key);
  // From `min` to `max`, both included.
  std::optional<Placed<int64_t>> Int(std::string_view key, int64_t min, int64_t max);
  // Not empty. `what` says what it is: "the name of a plugin".
  std::optional<Placed<std::string>> String(std::string_view key, std::string_view what);
  // Texts that are not empty, each once. `what` says what they are: "names of plugins".
  std::optional<std::vector<Placed<std::string>>> Strings(std::string_view key,
                                                          std::string_view what);
  const ConfigValue* Table(std::string_view key);
  const ConfigValue* Array(std::string_view key, std::string_view what);
  // Whatever it is.
  const ConfigValue* Any(std::string_view key);

  // The same of what is refused wherever it is: it is no suggestion for anything.
  const ConfigValue* AnyUnsuggested(std::string_view key);

  // Reports members that were not asked for, with the nearest of those that were.
  void End();

  // "expected <expected>, found <found>" about the member `key`.
  void Expected(std::string_view key, const ConfigPlace& place, std::string_view expected,
                std::string_view found);
  std::string KeyOf(std::string_view key) const { return context_ + std::string(key); }

 private:
  void Mismatch(std::string_view key, const ConfigValue& value, std::string_view expected);

  const ConfigValue& table_;
  std::string context_;
  ConfigErrors& errors_;
  std::vector<std::string> known_;
  std::vector<std::string> refused_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_TABLE_READER_H_
