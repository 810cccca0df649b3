// Counts and logs the faults of plugins, and quarantines plugins with too many of them.
#ifndef BERTH_HOST_GUARD_PLUGIN_FAULTS_H_
#define BERTH_HOST_GUARD_PLUGIN_FAULTS_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/time_units.h"
#include "host/guard/point.h"

namespace berth::host {

// The kinds of faults. Each is counted by plugin and point.
enum class FaultKind : uint8_t {
  kException,   // The plugin threw an exception (BERTH_BUG at the boundary).
  kBadCode,     // The plugin returned a code that the point does not have.
  kBadVerdict,  // A verdict that Filter must not give, or none.
  kBadScore,    // A score outside 0..100 after normalisation.
  kDeadline,    // A call or a promised answer took too long.
};

// Returns the name in messages and metric labels: "exception", "deadline".
std::string_view FaultName(FaultKind kind);

struct QuarantinePolicy {
  // The number of faults of one instance, at all its points, for different pods. 0 disables
  // quarantine.
  uint32_t faults = 10;
  int64_t window_ns = 60 * kSecond;  // The faults must lie within this time.
  // The duration of the first quarantine of an instance. Each one that begins on trial lasts twice
  // as long as the one before.
  int64_t pause_ns = 30 * kSecond;
  int64_t max_pause_ns = 10 * kMinute;
};

// The faults of all plugins of a process.
//
// A fault in an attempt is charged to its pod: of the faults for one pod only the last counts, and
// faults cause no quarantine if the plugin answered, at the point of the last one, in at least as
// many other attempts since its first fault there. So a few pods for which a plugin fails do not
// keep it from all others. Faults without an attempt count in any case.
//
// A quarantine ends by itself: after its pause the plugin is called again, on trial for the time of
// the window. Faults for two pods on trial, or one without a pod, begin the next quarantine;
// without them, the plugin is trusted as before its first fault. Whatever made a plugin fail, such
// as a pod or a slow machine, may be gone.
// Threading: any.
// Lifetime:  must outlive every account that it opened.
class PluginFaults {
 public:
  struct Quarantined {
    std::string profile;
    std::string plugin;
    std::string why;
    int64_t pause_ns;  // How long the quarantine lasts.

    // Returns "acme.RackPower of the profile acme is in quarantine for 30s: " and the reason.
    std::string ToString() const;
  };

  struct Options {
    QuarantinePolicy quarantine;
    // Receives the first fault of each plugin, point and kind, then one each time their number has
    // doubled, with the plugin as the logger. May be null.
    LogSink* log = nullptr;
    // Called when a quarantine begins, by the thread that notes the fault, without a lock. May be
    // empty.
    std::function<void(const Quarantined& plugin)> on_quarantine = {};
    // Null: time stands still, so that all faults lie in one window.
    const Clock* clock = nullptr;
  };

  // The faults of one instance. A quarantine also ends with the instance: a reload creates a plugin
  // in quarantine anew, and trusts the new instance. An instance that stays keeps its faults.
  class Account {
   public:
    Account(std::string plugin, std::string profile)
        : plugin_(std::move(plugin)), profile_(std::move(profile)) {}

    // Counts the points at which the plugin was called in an attempt, except those with a fault.
    // `called`: a bit 1 << point for each. Threading: the scheduling thread.
    void CountServed(uint32_t called) {
      if (failed_.load(std::memory_order_relaxed) != 0) called &= ~failed_.exchange(0);
      for (; called != 0; called &= called - 1) {
        std::atomic<int64_t>& served = served_[static_cast<size_t>(std::countr_zero(called))];
        served.store(served.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
    }
    // Costs one acquiring load.
    bool quarantined() const { return quarantined_.load(std::memory_order_acquire); }
    // Returns the reason of the last quarantine, such as "10 faults within 1m0s, the last at
    // Filter: deadline: ..."; empty if there was none.
    std::string why() const {
      const std::scoped_lock lock(why_mutex_);
      return why_;
    }

   private:
    friend class PluginFaults;
    struct Fault {
      int64_t at_ns;
      uint64_t pod;
      Point point;
      int64_t served;  // In how many attempts the plugin had answered at this point.
    };

    const std::string plugin_;
    const std::string profile_;
    std::atomic<bool> quarantined_ = false;
    std::atomic<uint32_t> failed_ = 0;  // The points with a fault in the present attempt.
    std::array<std::atomic<int64_t>, 32> served_{};  // By point.
    mutable std::mutex why_mutex_;                   // Guards why_.
    std::string why_;
    // What follows is guarded by PluginFaults::mutex_.
    // The latest faults within the window, at most as many as cause a quarantine.
    std::deque<Fault> latest_;
    int64_t pause_ns_ = 0;  // The duration of the last quarantine; 0: it is trusted.
    // When the pause of the last quarantine ends, or ended, and the trial begins.
    int64_t trial_ns_ = 0;
  };

  struct Count {
    std::string profile;
    std::string plugin;
    Point point;
    FaultKind kind;
    uint64_t count;
  };

  explicit PluginFaults(Options options) : options_(std::move(options)) {}

  std::shared_ptr<Account> Open(std::string_view plugin, std::string_view profile);
  // `pod` identifies the pod of the attempt; 0: the fault belongs to no attempt.
  void Note(Account& account, Point point, FaultKind kind, std::string_view what, uint64_t pod = 0);
  // Ends the quarantines whose pause is over. Returns whether there were any: pods that wait
  // because a plugin was not called must be tried again. Costs one load if no plugin is in
  // quarantine. Called: between scheduling cycles, so that no quarantine ends within one.
  bool BeginTrials();
  // Returns when BeginTrials() has something to do; none if no quarantine will end.
  std::optional<int64_t> NextTrialNs() const;

  // Returns the faults by profile, plugin, point and kind, including those of destroyed instances.
  std::vector<Count> Counts() const;
  // Returns the instances that are quarantined.
  std::vector<Quarantined> InQuarantine() const;

 private:
  using Key = std::tuple<std::string, std::string, Point, FaultKind>;

  int64_t NowNs() const { return options_.clock != nullptr ? options_.clock->NowNs() : 0; }
  // Records a fault. Returns how the reason of the quarantine that it causes begins, or an empty
  // text if it causes none.
  std::string QuarantineFor(Account& account, Point point, uint64_t pod);
  // Returns whether the plugin is on trial. If it has passed its trial, trusts it again.
  bool IsOnTrial(Account& account, int64_t now_ns) const;
  void BeginQuarantine(Account& account, const std::string& why);

  void LogFault(const Account& account, Point point, FaultKind kind, std::string_view what,
                uint64_t count) const;
  void LogQuarantine(const Quarantined& plugin) const;
  void LogTrial(const Account& account) const;

  const Options options_;
  mutable std::mutex mutex_;  // Guards what follows, and the members of Account that say so.
  std::map<Key, uint64_t> counts_;
  std::vector<std::weak_ptr<Account>> accounts_;
  std::atomic<bool> has_quarantine_ = false;  // An instance may be in quarantine.
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_PLUGIN_FAULTS_H_
