// Broken promises: what is checked, and whom the kit tells.
#ifndef BERTH_TESTING_REPORT_H_
#define BERTH_TESTING_REPORT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::testing {

// What the kit asserts about every plugin, each of which a test may switch off.
enum class Check : uint32_t {
  kShape,    // what the plugin says of itself at creation fits together
  kThreads,  // services are called under the thread words that allow it
  kOutputs,  // every selected index is written, and nothing else
  kCodes,    // codes exist where they are used; a refusal has reasons; scores normalise into 0..100
  kBlocks,   // answers do not depend on how nodes are put into blocks, or selected
  kConcurrency,  // nor on other blocks being worked on at the same time
  kRepeat,       // nor on being asked again
  kWhatIf,       // AddPod and RemovePod come to what a cluster with, or without, the pod would
  kDependence,   // answers depend on what is declared, and on nothing else
  kHints,        // hints look at what is declared of a parked pod, and at nothing else
  kSlots,  // cycle state keeps to its memory, is read-only in blocks, and clones go their own ways
  kLeaks,  // nothing is left behind by destroy
};

inline std::string_view CheckName(Check check) {
  static constexpr std::string_view kNames[] = {
      "kShape",  "kThreads", "kOutputs",    "kCodes", "kBlocks", "kConcurrency",
      "kRepeat", "kWhatIf",  "kDependence", "kHints", "kSlots",  "kLeaks"};
  return kNames[static_cast<size_t>(check)];
}

using FailureHandler = void (*)(const std::string& text);

[[noreturn]] inline void PrintAndAbort(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

// Whom a broken promise is told where a PluginUnderTest has no handler of its own. One per process,
// as a test framework is; <berth/testing/gtest.h> sets it before main().
inline constinit std::atomic<FailureHandler> default_failure_handler{&PrintAndAbort};

// Whoever wants to know of every call into the plugin, by the name of its function: "Filter".
//
// Threading: any thread that calls; a call ends on the thread that it began on.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnBegin(const char* function) = 0;
  virtual void OnEnd(const char* function) = 0;
};

// Gathers what is found during one call of the test, from any thread, and reports it at the call's
// end, each text once.
//
// Threading: any; Flush on the test's thread.
class Reporter {
 public:
  explicit Reporter(std::string plugin) : plugin_(std::move(plugin)) {}
  ~Reporter() { Flush(); }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void set_handler(std::function<void(const std::string&)> handler) {
    handler_ = std::move(handler);
  }
  void set_plugin(std::string plugin) { plugin_ = std::move(plugin); }
  // Before the first call. Lifetime: outlives this.
  void set_observer(CallObserver* observer) { observer_ = observer; }
  CallObserver* observer() const { return observer_; }
  void Without(Check check) { off_ |= Bit(check); }
  bool Wants(Check check) const { return (off_ & Bit(check)) == 0; }

  // A broken promise. `text` says where, what was expected and what was found.
  void Fail(Check check, const std::string& text) {
    if (!Wants(check)) return;
    const std::string line = plugin_ + ": " + text + " [" + std::string(CheckName(check)) + "]";
    const std::lock_guard lock(mutex_);
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(line);
  }

  size_t pending() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

  void Flush() {
    std::vector<std::string> lines;
    {
      const std::lock_guard lock(mutex_);
      lines.swap(lines_);
    }
    for (const std::string& line : lines)
      handler_ ? handler_(line) : default_failure_handler.load()(line);
  }

 private:
  static uint32_t Bit(Check check) { return uint32_t{1} << static_cast<uint32_t>(check); }

  mutable std::mutex mutex_;
  std::string plugin_;
  std::vector<std::string> lines_;
  std::function<void(const std::string&)> handler_;
  CallObserver* observer_ = nullptr;
  uint32_t off_ = 0;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_REPORT_H_
