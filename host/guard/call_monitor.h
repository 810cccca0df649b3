// What every thread is calling right now: for the report of a crash, and to find the calls that do
// not end.
#ifndef BERTH_HOST_GUARD_CALL_MONITOR_H_
#define BERTH_HOST_GUARD_CALL_MONITOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/interner.h"
#include "host/guard/plugin_faults.h"
#include "host/guard/point.h"

namespace berth::host {

// A call as it stands in the record: whose, at which point, and a number that no other call of the
// thread has. 0: none.
using CallWord = uint64_t;

// How long a call may take, unless the host file says otherwise. They are meant to catch what
// hangs: a block of nodes takes microseconds, and while one call lasts no other pod is looked at.
struct CallDeadlines {
  int64_t call_ns = 1'000'000'000;
  // PostFilter asks what-if of many nodes.
  int64_t post_filter_ns = 10'000'000'000;
  // PreBind and Bind on a thread of the pool, and the answers that they promise.
  int64_t bind_ns = 600'000'000'000;

  // On the scheduling thread.
  constexpr int64_t of(Point point) const {
    return point == Point::kPostFilter ? post_filter_ns : call_ns;
  }
};

// What one thread is in the middle of. Its words are written by that thread alone.
struct alignas(64) CallSlot {
  std::atomic<uint64_t> thread = 0;     // pthread_self(); 0: never used.
  std::atomic<CallWord> innermost = 0;  // What runs.
  std::atomic<CallWord> outermost = 0;  // What it was called from; the same, or a what-if's caller.
  std::atomic<const berth_pod*> pod = nullptr;  // Of the innermost call, where it was said.
  std::atomic<CallWord> overdue = 0;  // A call that was found to be late. By the watchdog.
  uint64_t calls = 0;                 // Of the thread itself.
  // Guarded by the monitor's mutex: what is to be set when the innermost call is late, and what it
  // was before.
  uint32_t* cancel = nullptr;
  uint32_t cancel_before = 0;
};

// Threading: any.
// Lifetime:  longer than every instance that was registered and every thread that calls plugins.
class CallMonitor {
 public:
  // Who can be called: one instance.
  struct Callee {
    std::string plugin;
    std::string profile;
    std::string library;  // A path.
    std::shared_ptr<PluginFaults::Account> faults;
  };
  using CalleeId = uint32_t;  // 0: nobody.

  static constexpr size_t kMaxThreads = 64;
  static constexpr size_t kMaxCallees = 4096;

  // `interner` has the namespaces of pods.
  explicit CallMonitor(const Interner& interner) : interner_(interner) {}
  ~CallMonitor();
  CallMonitor(const CallMonitor&) = delete;
  CallMonitor& operator=(const CallMonitor&) = delete;

  // 0 when kMaxCallees are registered: its calls have no name then.
  CalleeId Register(Callee callee);
  void Unregister(CalleeId id);

  // --- around a call; see PluginCall ---

  // Of the calling thread; it keeps it. Null beyond kMaxThreads: its calls are not recorded.
  CallSlot* SlotOfThisThread();
  // The word of the slot's next call. `may_block`: it has no deadline here.
  static CallWord NextWord(CallSlot& slot, CalleeId callee, Point point, bool may_block);
  // The call that was found to be late has ended: the attempt goes on.
  void EndOverdue(CallSlot& slot);
  // `cancel` becomes 1 when the slot's innermost call is late, and is what it was again when that
  // has ended. Not nested. Must not: be changed by others meanwhile.
  void BeginCancellable(CallSlot& slot, uint32_t* cancel);
  void EndCancellable(CallSlot& slot);
  // A call on a thread of the pool was given up; it has ended after all.
  void BeginLost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  void EndLost() { lost_.fetch_sub(1, std::memory_order_relaxed); }

  // --- around an attempt; see Attempt ---

  // `cancel` becomes 1 while one of the attempt's calls is late. One attempt at a time.
  void BeginAttempt(uint32_t* cancel, const berth_pod* pod);
  // Nothing happens unless it is the present one.
  void EndAttempt(const uint32_t* cancel);

  // When a call that begins now at `point` will be late, by a clock that says `now_ns`. 0: never,
  // for nobody looks.
  int64_t DeadlineNs(Point point, int64_t now_ns) const;
  bool is_watched() const { return watched_.load(std::memory_order_acquire) != nullptr; }

  // --- for the watchdog ---

  // From now on somebody looks; null: nobody any more. Lifetime: until then.
  void SetDeadlines(const CallDeadlines* deadlines) {
    watched_.store(deadlines, std::memory_order_release);
  }
  // Calls that were given up and go on.
  size_t lost() const { return lost_.load(std::memory_order_relaxed); }
  struct Seen {
    CallWord innermost = 0;
    CallWord outermost = 0;
  };
  // By slot.
  std::vector<Seen> Snapshot() const;
  // Marks the call as late and cancels the attempt that it belongs to. None: it has ended.
  std::shared_ptr<const Callee> MarkOverdue(size_t slot, CallWord call);

  static Point PointOf(CallWord call);
  static bool MayBlock(CallWord call);

  // --- for the report of a crash ---

  // Writes "in plugin X (library path) at Filter, pod ns/name" of the calling thread, or "outside
  // any plugin", into `out` and returns how many bytes that took, cut off at its size.
  // Async-signal-safe.
  size_t Describe(std::span<char> out) const;

 private:
  static uint32_t CalleeOf(CallWord call);
  static bool InAttempt(Point point);

  const Interner& interner_;
  std::array<CallSlot, kMaxThreads> slots_;
  std::atomic<size_t> used_slots_ = 0;
  // By id - 1. What a signal handler reads beside what owns it.
  std::array<std::atomic<const Callee*>, kMaxCallees> callees_{};
  std::atomic<const berth_pod*> attempt_pod_ = nullptr;
  std::atomic<const CallDeadlines*> watched_ = nullptr;
  std::atomic<size_t> lost_ = 0;

  mutable std::mutex mutex_;  // Guards what follows.
  std::vector<std::shared_ptr<const Callee>> owned_;
  std::vector<CalleeId> free_;
  uint32_t* cancel_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CALL_MONITOR_H_
