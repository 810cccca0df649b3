// Tracks which function of the plugin runs on this thread, and under which thread word of abi.h.
#ifndef BERTH_TESTING_CALL_H_
#define BERTH_TESTING_CALL_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/testing/report.h>

namespace berth::testing {

enum Word : uint32_t {
  kLoad = 1,
  kEvent = 2,
  kQueue = 4,
  kCycle = 8,
  kBlock = 16,
  kBind = 32,
  kAnyWord = 63,
  kBindOnPool = 64,  // [bind] of a plugin with BERTH_PLUGIN_BLOCKS_IN_BIND: only services of [any]
  // All words on the scheduling thread. Unlike kAnyWord, it allows no call on another thread.
  kSchedulingThread = kAnyWord | 128,
};

std::string WordNames(uint32_t words);

// The scope of one call into the plugin.
class CallScope {
 public:
  // `cycle`: the cycle that the plugin receives; NULL if it receives none.
  CallScope(Reporter* reporter, const char* point, Word word, const berth_cycle* cycle = nullptr);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  Reporter& reporter() const { return reporter_; }
  const char* point() const { return point_; }
  Word word() const { return word_; }
  const berth_cycle* cycle() const { return cycle_; }

  // NULL on a thread that is not in a call, such as one of the plugin's own.
  static const CallScope* current() { return current_; }

 private:
  // NOLINTNEXTLINE(readability-identifier-naming): a static member
  static inline thread_local constinit const CallScope* current_ = nullptr;

  Reporter& reporter_;
  CallObserver* const observer_;
  const char* const point_;
  const Word word_;
  const berth_cycle* const cycle_;
  const CallScope* const outer_;
};

// Checks that a service is called under one of the `allowed` words. If it returns false, the
// service does nothing and returns CONFLICT, 0 or NULL.
bool ExpectWord(Reporter& reporter, const char* service, uint32_t allowed);

// Checks that a service is called for the cycle of the current call. Does not read `cycle`.
bool ExpectCycle(Reporter& reporter, const char* service, const berth_cycle* cycle);

// Checks that a service is called within one of these points, such as "PostFilter".
bool ExpectPoint(Reporter& reporter, const char* service,
                 std::initializer_list<std::string_view> points);

// Returns `call(status)`. An exception of any language that leaves `call` calls std::terminate()
// here, while the CallScope names the call.
template <class Call>
berth_code CallOrTerminate(Call& call, berth_status* status) noexcept {
  berth_code (*function)(Call&, berth_status*) = [](Call& called, berth_status* to) -> berth_code {
    return called(to);
  };
  // Functions of plugins are declared noexcept. A compiler that sees this leaves the check out, and
  // the exception passes through the caller.
  asm("" : "+r"(function));
  return function(call, status);
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_CALL_H_
