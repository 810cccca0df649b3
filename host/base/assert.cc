#include "host/base/assert.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace berth::host {

void AssertFailed(const char* file, int32_t line, const char* expression, const char* message,
                  ...) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s", file, line, expression);
  if (message != nullptr) {
    std::fputs(": ", stderr);
    va_list arguments;
    va_start(arguments, message);
    std::vfprintf(stderr, message, arguments);
    va_end(arguments);
  }
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace berth::host
