// Checks the contract of a plugin in a child process. The library is loaded only there, so that a
// crash, a hanging call or an exit is a finding.
#ifndef BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_
#define BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <berth/testing/report.h>

#include "host/base/child_process.h"
#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/contract/contract_check.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

// --- deadlines -----------------------------------------------------------------------------------
//
// Detects calls into a plugin that exceed their deadlines.

// Calls `late` once, for the first call that takes longer than its deadline: when the call returns,
// or kHangingAfterNs after the deadline. The deadline is the plugin's own, which a profile may set,
// or else the default of the host (CallDeadlines). The host has no
// deadline for calls that it makes while it loads a plugin; for them, this class uses
// kLoadDeadlineNs.
//
// Threading: `late` is called on the thread that made the call, or on a thread of the observer.
class DeadlineObserver final : public testing::CallObserver {
 public:
  static constexpr int64_t kLoadDeadlineNs = 10 * kSecond;
  static constexpr int64_t kHangingAfterNs = 2 * kSecond;

  using Late = std::function<void(const std::string& text)>;

  // `steady_ns` must only go forward, and may be called on any thread. `deadline_ns`: the deadline
  // of the plugin's calls; 0: it has none of its own.
  DeadlineObserver(std::function<int64_t()> steady_ns, int64_t deadline_ns, Late late);
  ~DeadlineObserver() override;

  void OnBegin(const char* function) override;
  void OnEnd(const char* function) override;

 private:
  struct Deadline {
    int64_t ns;
    const char* owner;  // What sets this deadline: "host", "check", or "plugin" in a profile.
  };
  struct Call {
    const char* function;
    int64_t began_ns;
    Deadline deadline;
  };

  // Returns the deadline of the call that begins on this thread.
  Deadline DeadlineOf(std::string_view function) const;
  // Returns "; the deadline of the host is 1.0 s".
  static std::string Suffix(const Deadline& deadline);
  void Watch();
  // Returns a sentence about the first call that hangs, or an empty text if no call hangs.
  // REQUIRES: mutex_ is held.
  std::string FindHangingCall() const;

  const std::function<int64_t()> steady_ns_;
  const int64_t deadline_ns_;
  const Late late_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::thread::id, std::vector<Call>> calls_;  // Calls in progress, the innermost last.
  bool ending_ = false;
  bool reported_ = false;  // `late` was called, or is about to be.
  std::thread watcher_;    // Last: it uses the others.
};

// --- isolated check ------------------------------------------------------------------------------

struct ContractOutcome {
  // False if the library could not be loaded. Then the findings contain the reason, and no plugin
  // was checked.
  bool is_loaded = false;
  bool is_accepted = false;  // The host accepts the plugin.
  std::string
      rejection;  // The LoadErrorName of the loader's error; empty if the library was loaded.
  std::vector<ContractFinding> findings;     // The findings in the order in which they occurred.
  std::optional<ContractCoverage> coverage;  // Nullopt if the check ended early.
};

// Returns the outcome that the text of a child process of CheckContractIsolated() states. A text
// that ends early has no coverage.
ContractOutcome OutcomeOf(const ChildResult& end);

// Checks a library in a child process. No code of the library runs in this process.
// Errors: Unavailable if the child process could not be created.
Result<ContractOutcome> CheckContractIsolated(const PluginLibrary::Source& library,
                                              const ContractCheckRequest& request,
                                              const std::function<int64_t()>& steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_
