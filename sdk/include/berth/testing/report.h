// Contract violations: what the test kit checks, and how it reports failures.
#ifndef BERTH_TESTING_REPORT_H_
#define BERTH_TESTING_REPORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::testing {

// The checks that the kit makes for every plugin. A test may switch off each of them.
enum class Check : uint32_t {
  kShape,    // the plugin's declarations at creation are consistent
  kThreads,  // services are called only under their thread words
  kOutputs,  // every selected index is written, and no other index
  // codes are valid where they are used; rejections have reasons; scores normalise into 0..100
  kCodes,
  kBlocks,       // results do not depend on how nodes are grouped into blocks, or on the selection
  kConcurrency,  // results do not depend on other blocks being evaluated at the same time
  kRepeat,       // results do not change when the plugin is called again
  // AddPod and RemovePod have the same effect as adding or removing the pod in the cluster
  kWhatIf,
  kDependence,  // results depend only on what is declared
  kHints,       // hints read only the declared parts of a parked pod
  // the plugin writes cycle state only within its size and never in a block, and a change of a
  // clone does not change the original
  kSlots,
  kFaults,  // no function without a result code fails
  kLeaks,   // nothing is leaked by a cycle or by destroy
};

std::string_view CheckName(Check check);

using FailureHandler = void (*)(const std::string& text);

[[noreturn]] void PrintAndAbort(const std::string& text);

// Receives failures if a PluginUnderTest has no handler of its own. There is one per process, as
// with a test framework; <berth/testing/gtest.h> sets it before main().
inline constinit std::atomic<FailureHandler> default_failure_handler{&PrintAndAbort};

// Observes every call into the plugin, by the name of the function: "Filter".
//
// Threading: any thread that calls the plugin. A call ends on the thread on which it began.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void OnBegin(const char* function) = 0;
  virtual void OnEnd(const char* function) = 0;
};

// Collects the failures of one call of the test, from any thread. Flush() reports each text once.
//
// Threading: any; Flush on the test's thread.
class Reporter {
 public:
  explicit Reporter(std::string plugin) : plugin_(std::move(plugin)) {}
  ~Reporter() { Flush(); }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  void set_handler(std::function<void(const std::string&)> handler);
  void set_plugin(std::string plugin) { plugin_ = std::move(plugin); }
  const std::string& plugin() const { return plugin_; }
  // Call it before the first call into the plugin. Lifetime: `observer` must outlive the reporter.
  void set_observer(CallObserver* observer) { observer_ = observer; }
  CallObserver* observer() const { return observer_; }
  void Without(Check check) { off_ |= Bit(check); }
  bool Wants(Check check) const { return (off_ & Bit(check)) == 0; }

  // Records that a check has observed what it asks about, so that "no failure" has a meaning.
  void See(Check check) { seen_.fetch_or(Bit(check), std::memory_order_relaxed); }
  bool Saw(Check check) const { return (seen_.load(std::memory_order_relaxed) & Bit(check)) != 0; }

  // Records a contract violation. `text` states where it happened, what was expected and what was
  // found.
  void Fail(Check check, const std::string& text);

  size_t pending() const;

  void Flush();

 private:
  static uint32_t Bit(Check check) { return uint32_t{1} << static_cast<uint32_t>(check); }

  mutable std::mutex mutex_;
  std::string plugin_;
  std::vector<std::string> lines_;
  std::function<void(const std::string&)> handler_;
  CallObserver* observer_ = nullptr;
  uint32_t off_ = 0;
  std::atomic<uint32_t> seen_{0};
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_REPORT_H_
