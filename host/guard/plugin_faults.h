// What plugins did wrong: counted, logged, and, when it is too much, the reason for a quarantine.
#ifndef BERTH_HOST_GUARD_PLUGIN_FAULTS_H_
#define BERTH_HOST_GUARD_PLUGIN_FAULTS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/base/clock.h"
#include "host/guard/point.h"

namespace berth::host {

// What a plugin may do wrong. Each is counted per plugin and point.
enum class FaultKind : uint8_t {
  kException,   // Something was thrown (BERTH_BUG at the boundary).
  kBadCode,     // A code that the point does not have.
  kBadVerdict,  // A verdict that Filter may not give, or none.
  kBadScore,    // A score outside 0..100 after normalisation.
  kDeadline,    // A call, or an answer that was promised, took too long.
  kSlotLeak,    // A what-if row or a clone of cycle state that was not given back.
};

// "exception", "deadline": in messages and as a metric's label.
std::string_view FaultName(FaultKind kind);

struct QuarantinePolicy {
  uint32_t faults = 10;  // Of one instance, at any of its points. 0: never.
  int64_t window_ns = int64_t{60} * 1'000'000'000;  // Within this time.
};

// The faults of all plugins of a process.
// Threading: any.
// Lifetime:  longer than every account that it opened.
class PluginFaults {
 public:
  struct Options {
    QuarantinePolicy quarantine;
    // Where faults are written down: the first of a plugin, point and kind at once, repetitions
    // when they have doubled. May be empty. Threading: any.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    // Null: time stands still, and all faults lie in one window.
    const Clock* clock = nullptr;
  };

  // The faults of one instance. A quarantine ends with it: who reloads a plugin trusts it anew.
  class Account {
   public:
    Account(std::string plugin, std::string profile)
        : plugin_(std::move(plugin)), profile_(std::move(profile)) {}
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // One relaxed load, and an acquiring one when it is true.
    bool quarantined() const { return quarantined_.load(std::memory_order_acquire); }
    // REQUIRES: quarantined().
    std::string_view why() const { return why_; }

   private:
    friend class PluginFaults;

    const std::string plugin_;
    const std::string profile_;
    std::atomic<bool> quarantined_ = false;
    std::string why_;  // Written once, before quarantined_.
    std::deque<int64_t>
        when_;  // Guarded by the ledger's mutex; at most as many as make a quarantine.
  };

  struct Count {
    std::string profile;
    std::string plugin;
    Point point;
    FaultKind kind;
    uint64_t count;
  };
  struct Quarantined {
    std::string profile;
    std::string plugin;
    std::string why;
  };

  explicit PluginFaults(Options options) : options_(std::move(options)) {}
  PluginFaults(const PluginFaults&) = delete;
  PluginFaults& operator=(const PluginFaults&) = delete;

  std::shared_ptr<Account> Open(std::string_view plugin, std::string_view profile);
  void Note(Account& account, Point point, FaultKind kind, std::string_view what);

  // By profile, plugin, point and kind; instances that are gone included.
  std::vector<Count> Counts() const;
  // Instances that are in quarantine now.
  std::vector<Quarantined> InQuarantine() const;

 private:
  using Key = std::tuple<std::string, std::string, Point, FaultKind>;

  // The reason of the quarantine that this fault brings about; empty: none.
  std::string QuarantineFor(Account& account, Point point, FaultKind kind, std::string_view what);

  const Options options_;
  mutable std::mutex mutex_;  // Guards what follows, and Account::when_.
  std::map<Key, uint64_t> counts_;
  std::vector<std::weak_ptr<Account>> accounts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_PLUGIN_FAULTS_H_
