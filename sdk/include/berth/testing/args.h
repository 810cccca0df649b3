// Arguments of a plugin.
#ifndef BERTH_TESTING_ARGS_H_
#define BERTH_TESTING_ARGS_H_

#include <initializer_list>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/values.h>

namespace berth::testing {

// The arguments in the profile: {{"cpuMilli", 200}, {"strict", true}}, or JSON text, or none.
class Args {
 public:
  Args() = default;
  Args(std::initializer_list<std::pair<const char*, ValueSpec>> entries);
  Args(std::string_view json);
  Args(const char* json) : Args(std::string_view(json)) {}

  // NULL if there are no arguments.
  const ValueSpec* value() const { return given_ ? &value_ : nullptr; }

 private:
  bool given_ = false;
  ValueSpec value_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_ARGS_H_
