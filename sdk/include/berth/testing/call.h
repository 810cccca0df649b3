// Tracks which function of the plugin runs on this thread, and under which thread word of abi.h.
#ifndef BERTH_TESTING_CALL_H_
#define BERTH_TESTING_CALL_H_

#include <cstdint>
#include <string>

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
};

inline std::string WordNames(uint32_t words) {
  static constexpr const char* kNames[] = {
      "[load]", "[event]", "[queue]", "[cycle]", "[block]", "[bind]", "[bind] on a pool thread"};
  if (words == kAnyWord) return "[any]";
  std::string out;
  for (uint32_t bit = 0; bit < 7; ++bit) {
    if ((words & (1u << bit)) != 0) out += (out.empty() ? "" : " ") + std::string(kNames[bit]);
  }
  return out;
}

// The scope of one call into the plugin.
class CallScope {
 public:
  CallScope(Reporter* reporter, const char* point, Word word)
      : reporter_(*reporter),
        observer_(reporter->observer()),
        point_(point),
        word_(word),
        outer_(current_) {
    current_ = this;
    if (observer_ != nullptr) observer_->OnBegin(point_);
  }
  ~CallScope() {
    if (observer_ != nullptr) observer_->OnEnd(point_);
    current_ = outer_;
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  Reporter& reporter() const { return reporter_; }
  const char* point() const { return point_; }
  Word word() const { return word_; }

  // NULL on a thread that is not in a call, such as one of the plugin's own.
  static const CallScope* current() { return current_; }

 private:
  // NOLINTNEXTLINE(readability-identifier-naming): a static member
  static inline thread_local constinit const CallScope* current_ = nullptr;

  Reporter& reporter_;
  CallObserver* const observer_;
  const char* const point_;
  const Word word_;
  const CallScope* const outer_;
};

// Checks that a service is called under one of the `allowed` words.
inline bool ExpectWord(Reporter& reporter, const char* service, uint32_t allowed) {
  // A service that is only for [load] is called in create(), where nothing else is possible.
  if (allowed != kAnyWord && allowed != kLoad) reporter.See(Check::kThreads);
  const CallScope* call = CallScope::current();
  if (allowed == kAnyWord || (call != nullptr && (call->word() & allowed) != 0)) return true;
  const std::string where = call == nullptr
                                ? "a thread of the plugin"
                                : std::string(call->point()) + " " + WordNames(call->word());
  reporter.Fail(Check::kThreads, "calls " + std::string(service) + " from " + where +
                                     ", but it may be called only under " + WordNames(allowed));
  return false;
}

}  // namespace berth::testing

#endif  // BERTH_TESTING_CALL_H_
