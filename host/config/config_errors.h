// Everything that is wrong with a set of configuration files, as values.
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

// Where something is written.
struct ConfigPlace {
  std::string file;     // As the user named it; empty: nowhere, it was made by a program.
  uint32_t line = 0;    // From 1; 0: the file as a whole.
  uint32_t column = 0;  // From 1, in characters; 0: the line as a whole.

  // "profiles/binpack.toml:12", "profiles/binpack.toml", or nothing.
  std::string ToString() const;

  friend auto operator<=>(const ConfigPlace&, const ConfigPlace&) = default;
};

// A value and where it was said.
template <class T>
struct Placed {
  T value{};
  ConfigPlace place;

  // Of the value alone: the same said elsewhere is the same.
  friend bool operator==(const Placed& a, const Placed& b) { return a.value == b.value; }
};

struct ConfigError {
  ConfigPlace place;
  std::string key;   // "schedulerName", `plugin "ImageLocality": weight`; may be empty.
  std::string text;  // "expected ..., found ..."
  // The file could not be understood at all: what else was found is of no use beside it.
  bool is_alone = false;

  // "file:line: key: expected ..., found ...", in one line, without what is empty.
  std::string ToString() const;
};

// Collects errors where one must not hide the next.
// Threading: a value of one thread.
class ConfigErrors {
 public:
  void Add(ConfigPlace place, std::string key, std::string text);
  // "expected <expected>, found <found>"
  void Expected(ConfigPlace place, std::string key, std::string_view expected,
                std::string_view found);

  // An error beside which only others of its kind are said.
  void AddAlone(ConfigPlace place, std::string text);

  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  // In the order in which they were added.
  std::span<const ConfigError> errors() const { return errors_; }

  // Success when there is none; else InvalidArgument with one error a line, those of a file
  // together and from its top to its bottom, files in the order in which they first erred; the
  // same line twice is said once. Where some are to be alone, the others are left out.
  Status ToStatus() const;

 private:
  std::vector<ConfigError> errors_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONFIG_ERRORS_H_
