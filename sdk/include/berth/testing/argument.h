// Checks a struct that a plugin passes to a service.
#ifndef BERTH_TESTING_ARGUMENT_H_
#define BERTH_TESTING_ARGUMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/testing/report.h>

// The size of struct `T` in the first version of the ABI, in which `last` was the last member.
#define BERTH_TESTING_FIRST_SIZE(T, last) (offsetof(T, last) + sizeof(T::last))

namespace berth::testing {

// Returns true if the struct has the members of its first version, and no unknown flag. Otherwise
// reports it, and the service returns BAD_ARGUMENT. `service`: "waiting.reject".
template <class T>
bool ExpectReadable(Reporter& reporter, const std::string& service, const T& given,
                    size_t first_size, uint32_t known_flags = 0) {
  if (given.struct_size < first_size) {
    reporter.Fail(Check::kShape, "calls " + service + " with a struct_size of " +
                                     std::to_string(given.struct_size) + "; expected at least " +
                                     std::to_string(first_size));
    return false;
  }
  if ((given.flags & ~known_flags) != 0) {
    reporter.Fail(Check::kShape, "calls " + service + " with the unknown flags " +
                                     std::to_string(given.flags & ~known_flags));
    return false;
  }
  return true;
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_ARGUMENT_H_
