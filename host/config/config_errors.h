// The errors of a set of configuration files, as values.
#ifndef BERTH_HOST_CONFIG_CONFIG_ERRORS_H_
#define BERTH_HOST_CONFIG_CONFIG_ERRORS_H_

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

// A position in a configuration file.
struct ConfigPlace {
  std::string file;     // As the user named it; empty for a value made by a program.
  uint32_t line = 0;    // Counted from 1; 0 for the file as a whole.
  uint32_t column = 0;  // In characters, counted from 1; 0 for the line as a whole.

  // Returns "profiles/binpack.toml:12", "profiles/binpack.toml", or an empty string.
  std::string ToString() const;

  friend auto operator<=>(const ConfigPlace&, const ConfigPlace&) = default;
};

// A value and its position in a configuration file.
template <class T>
struct Placed {
  T value{};
  ConfigPlace place;

  // Compares only the values: equal values at different places are equal.
  friend bool operator==(const Placed& a, const Placed& b) { return a.value == b.value; }
};

struct ConfigError {
  ConfigPlace place;
  std::string key;   // "schedulerName", `plugin "ImageLocality": weight`; may be empty.
  std::string text;  // "expected ..., found ..."
  // The file could not be parsed: all other errors are omitted from the report.
  bool is_alone = false;

  // Returns one line, "file:line: key: expected ..., found ...", without the parts that are empty.
  std::string ToString() const;
};

// Collects errors, so that one error does not hide the next.
// Threading: an instance is used by one thread.
class ConfigErrors {
 public:
  void Add(ConfigPlace place, std::string key, std::string text);
  // Adds the error "expected <expected>, found <found>".
  void Expected(ConfigPlace place, std::string key, std::string_view expected,
                std::string_view found);

  // Adds an error that hides all errors that were not added by AddAlone().
  void AddAlone(ConfigPlace place, std::string text);

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  // Returns the errors in the order in which they were added.
  std::span<const ConfigError> errors() const { return errors_; }

  // Returns Success if there are no errors, otherwise InvalidArgument with one error per line. The
  // errors of a file are grouped and sorted by position; files are in the order of their first
  // error. Equal lines are reported once. If there are errors of AddAlone(), only those are
  // reported.
  Status ToStatus() const;

 private:
  std::vector<ConfigError> errors_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_ERRORS_H_
