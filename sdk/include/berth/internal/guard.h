// Guards every call from the host, so that no exception crosses the boundary.
#ifndef BERTH_INTERNAL_GUARD_H_
#define BERTH_INTERNAL_GUARD_H_

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/services.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth::internal {

inline void AddReason(berth_status* status, std::string_view text) {
  if (status != nullptr) status->add_reason(status, Str(text));
}

inline berth_code Answer(const Status& answer, berth_status* status) {
  for (const std::string& reason : answer.reasons()) AddReason(status, reason);
  return answer.code();
}

#if defined(__cpp_exceptions)
// Thrown for a fault of the plugin whose text is among the reasons of the call already.
class ReportedFault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Returns the code for the current exception and adds its text to `status`.
[[gnu::cold, gnu::noinline]] inline berth_code Caught(berth_status* status) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    AddReason(status, error.what());
    return BERTH_ERROR;
  } catch (const std::bad_alloc&) {
    AddReason(status, "out of memory");
    return BERTH_ERROR;
  } catch (const ReportedFault&) {
    return BERTH_BUG;
  } catch (const std::exception& error) {
    AddReason(status, error.what());
    return BERTH_BUG;
  } catch (...) {
    AddReason(status, "threw an object that is not a std::exception");
    return BERTH_BUG;
  }
}
#endif

// Runs `call`, which returns a code. If it throws, returns the code for the exception.
template <class F>
berth_code Guard(berth_status* status, F&& call) noexcept {
#if defined(__cpp_exceptions)
  try {
    return call();
  } catch (...) {
    return Caught(status);
  }
#else
  (void)status;
  return call();
#endif
}

// Calls `call` like the overload without `fault`, unless `fault` reports an earlier failure.
template <class F>
berth_code Guard(const Fault& fault, berth_status* status, F&& call) noexcept {
  if (fault.set()) [[unlikely]] {
    AddReason(status, fault.text());
    return BERTH_BUG;
  }
  return Guard(status, static_cast<F&&>(call));
}

#if defined(__cpp_exceptions)
// Reports the current exception to the host. `fatal`: the instance is not used any more.
[[gnu::cold, gnu::noinline]] inline void CaughtInVoid(const Services& services, const char* where,
                                                      bool fatal) noexcept {
  const auto fail = [&](std::string_view what) {
    Fault fault;
    fault.Set(where, what);
    if (fatal) services.fault->Set(where, what);
    services.host->fault(services.host, Str(fault.text()));
  };
  try {
    throw;
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("threw an object that is not a std::exception");
  }
}
#endif

template <class F>
void GuardReported(const Services& services, const char* where, bool fatal, F&& call) noexcept {
#if defined(__cpp_exceptions)
  try {
    call();
  } catch (...) {
    CaughtInVoid(services, where, fatal);
  }
#else
  (void)services, (void)where, (void)fatal;
  call();
#endif
}

// Runs a `call` that cannot return a code. After an exception the instance is no longer valid,
// because the work of the call is missing.
template <class F>
void GuardVoid(const Services& services, const char* where, F&& call) noexcept {
  GuardReported(services, where, true, static_cast<F&&>(call));
}

// Runs a `call` whose caller has a correct, if slower, default for the case that it throws.
template <class F>
void GuardHint(const Services& services, const char* where, F&& call) noexcept {
  GuardReported(services, where, false, static_cast<F&&>(call));
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_GUARD_H_
