// Assertions for the host's own invariants. They are enabled in every build, release builds
// included, because a host with a broken invariant must not schedule pods. Foreign input is never
// asserted: invalid input is reported as a Status.
#ifndef BERTH_HOST_BASE_ASSERT_H_
#define BERTH_HOST_BASE_ASSERT_H_

#include <cstdint>

namespace berth::host {

// Writes "file:line: assertion failed: expression: message" to stderr and aborts the process.
// `message` is null or a printf format for the arguments that follow.
[[noreturn]] __attribute__((cold, noinline, format(printf, 4, 5))) void AssertFailed(
    const char* file, int32_t line, const char* expression, const char* message, ...);

}  // namespace berth::host

#define BERTH_ASSERT(condition)                                             \
  do {                                                                      \
    if (!(condition)) [[unlikely]] {                                        \
      ::berth::host::AssertFailed(__FILE__, __LINE__, #condition, nullptr); \
    }                                                                       \
  } while (false)

// Takes a printf format and its arguments as the message:
// BERTH_ASSERT_MSG(row < rows, "row %u", row).
#define BERTH_ASSERT_MSG(condition, ...)                                        \
  do {                                                                          \
    if (!(condition)) [[unlikely]] {                                            \
      ::berth::host::AssertFailed(__FILE__, __LINE__, #condition, __VA_ARGS__); \
    }                                                                           \
  } while (false)

#endif  // BERTH_HOST_BASE_ASSERT_H_
