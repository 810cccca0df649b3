// What plugins will do later of their own accord: their timers, and the work that their threads
// have announced. A run that has nothing else to do waits for it.
#ifndef BERTH_HOST_RUNTIME_SERVICES_PLUGIN_WORK_H_
#define BERTH_HOST_RUNTIME_SERVICES_PLUGIN_WORK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "host/event/inbox.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// The timers and holds (berth_timer.hold) of all instances, as the service berth.timer/1 reports
// them, and how often it has called plugins back.
// Threading: the scheduling thread, unless a comment states otherwise.
class PluginWork {
 public:
  struct Counts {
    size_t timers = 0;
    size_t holds = 0;
  };

  // `waker` is woken when a hold ends. May be null; otherwise it must outlive the object.
  explicit PluginWork(Waker* waker) : waker_(waker) {}

  // ---- What the service reports -----------------------------------------------------------------

  void OnTimerStarted(PluginId plugin, int64_t at_ns);
  // The timer was cancelled, or it fires now. REQUIRES: it was started with these arguments.
  void OnTimerEnded(PluginId plugin, int64_t at_ns);
  // A timer is fired, or a function is called that was posted on the scheduling thread.
  void OnCalledByItself() { ++calls_by_itself_; }
  // A function is called that was posted on another thread while the plugin had a hold.
  void OnCalledByThread() { ++calls_by_threads_; }
  // Returns the id of a new hold: larger than those before, never 0. Threading: any.
  uint64_t Hold(PluginId plugin);
  // REQUIRES: Hold() returned `hold`, which was not released. Threading: any.
  void Release(uint64_t hold);

  // ---- What a run asks --------------------------------------------------------------------------

  // Returns when the next timer is due; none if there is no timer.
  std::optional<int64_t> NextTimerNs() const;
  // Returns the newest hold that is not released; 0 if there is none. Threading: any.
  uint64_t NewestHold() const;
  uint64_t calls_by_itself() const { return calls_by_itself_; }
  uint64_t calls_by_threads() const { return calls_by_threads_; }
  // Returns the plugins that have a timer or a hold.
  std::map<PluginId, Counts> CountByPlugin() const;

 private:
  Waker* const waker_;
  std::multiset<int64_t> due_ns_;
  std::map<PluginId, size_t> timers_;
  uint64_t calls_by_itself_ = 0;
  uint64_t calls_by_threads_ = 0;
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<uint64_t, PluginId> holds_;
  uint64_t last_hold_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_PLUGIN_WORK_H_
