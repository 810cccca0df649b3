// Ends a call that cannot continue: throws, or ends the process where the plugin is built without
// exceptions. The functions are not inlined, so that a test before them costs no code for the text.
#ifndef BERTH_INTERNAL_FAIL_H_
#define BERTH_INTERNAL_FAIL_H_

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include <berth/status.h>

namespace berth::internal {

[[noreturn]] inline void EndProcess(const std::string& what) {
  std::fputs((what + "\n").c_str(), stderr);
  std::abort();
}

// Throws an Error, with which the call returns BERTH_ERROR.
[[noreturn, gnu::cold, gnu::noinline]] inline void Fail(std::string what) {
#if defined(__cpp_exceptions)
  throw Error(std::move(what));
#else
  EndProcess(what);
#endif
}

// Throws a std::logic_error for a fault of the plugin, with which the call returns BERTH_BUG.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailBug(const std::string& what) {
#if defined(__cpp_exceptions)
  throw std::logic_error(what);
#else
  EndProcess(what);
#endif
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_FAIL_H_
