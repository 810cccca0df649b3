// Detects calls into a plugin that exceed their deadlines.
#ifndef BERTH_HOST_CONTRACT_DEADLINE_OBSERVER_H_
#define BERTH_HOST_CONTRACT_DEADLINE_OBSERVER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <berth/testing/report.h>

#include "host/base/time_units.h"

namespace berth::host {

// Calls `late` once, for the first call that takes longer than its deadline: when the call returns,
// or kHangingAfterNs after the deadline. The deadline is the plugin's own, which a profile may set,
// or else the default of the host (CallDeadlines). The host has no deadline for calls that it makes
// while it loads a plugin; for them, this class uses kLoadDeadlineNs.
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
  DeadlineObserver(const DeadlineObserver&) = delete;
  DeadlineObserver& operator=(const DeadlineObserver&) = delete;

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

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_DEADLINE_OBSERVER_H_
