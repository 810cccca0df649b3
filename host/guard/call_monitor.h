// Records which plugin each thread is calling, for crash reports and for the watchdog.
#ifndef BERTH_HOST_GUARD_CALL_MONITOR_H_
#define BERTH_HOST_GUARD_CALL_MONITOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/base/interner.h"
#include "host/base/time_units.h"
#include "host/guard/plugin_faults.h"
#include "host/guard/point.h"

namespace berth::host {

// A recorded call: the callee, the point, and a number that is unique among the calls of the
// thread. 0 means no call.
using CallWord = uint64_t;

// How long a call may take; the values are defaults of the host file. The deadlines are meant to
// find calls that hang: a block of nodes takes microseconds, and no other pod is scheduled
// meanwhile.
struct CallDeadlines {
  int64_t call_ns = kSecond;
  // PostFilter runs Filters for many nodes.
  int64_t post_filter_ns = 10 * kSecond;
  // PreBind and Bind on a thread of the pool, and answers that they promise.
  int64_t bind_ns = 10 * kMinute;

  // The deadline of a call at `point` on the scheduling thread.
  constexpr int64_t of(Point point) const {
    return point == Point::kPostFilter ? post_filter_ns : call_ns;
  }
};

// A call that missed its deadline.
struct LateCall {
  std::string plugin;
  Point point;
  int64_t deadline_ns;
};

// The calls in progress on one thread. Only that thread writes its words.
struct alignas(64) CallSlot {
  std::atomic<uint64_t> thread = 0;     // pthread_self(), or 0 if the slot was never used.
  std::atomic<CallWord> innermost = 0;  // The call that runs.
  std::atomic<CallWord> outermost = 0;  // Equal to innermost, or the call that uses what-if.
  std::atomic<const berth_pod*> pod = nullptr;  // The pod of the innermost call, if it names one.
  std::atomic<CallWord> overdue = 0;            // A late call; written by the watchdog.
  uint64_t calls = 0;                           // The number of calls; used by the thread alone.
  // The word that is set when the innermost call is late, and its old value. Guarded by the
  // monitor's mutex.
  uint32_t* cancel = nullptr;
  uint32_t cancel_before = 0;
};

// Records calls by thread, and cancels late ones.
// Threading: any.
// Lifetime:  longer than every instance that was registered and every thread that calls plugins.
class CallMonitor {
 public:
  // A plugin instance that can be called.
  struct Callee {
    std::string plugin;
    std::string profile;
    std::string library;  // A path.
    std::shared_ptr<PluginFaults::Account> faults;
    int64_t deadline_ns = 0;  // The deadline of its calls; 0: that of the point.
  };
  using CalleeId = uint32_t;  // 0: unknown.

  static constexpr size_t kMaxThreads = 64;
  static constexpr size_t kMaxCallees = 4096;

  // The part that the threads which call plugins write.
  // Lifetime: that of the monitor, and of every call that holds a reference because it may outlive
  //           the monitor.
  struct Threads {
    std::array<CallSlot, kMaxThreads> slots;
    std::atomic<size_t> used_slots = 0;
    std::atomic<size_t> abandoned = 0;

    // Counts an abandoned call that has ended; see CallMonitor::BeginAbandoned().
    void EndAbandoned() { abandoned.fetch_sub(1, std::memory_order_relaxed); }
  };

  // `interner` holds the namespaces of pods.
  explicit CallMonitor(const Interner& interner) : interner_(interner) {}
  ~CallMonitor();
  CallMonitor(const CallMonitor&) = delete;
  CallMonitor& operator=(const CallMonitor&) = delete;

  // Returns 0 if kMaxCallees are registered; calls of such an instance have no name in reports.
  CalleeId Register(Callee callee);
  void Unregister(CalleeId id);

  // --- Called by MonitoredCall ---

  // Returns the slot of the calling thread, which keeps it for good; null if kMaxThreads have one.
  // Calls of a thread without a slot are not recorded.
  CallSlot* SlotOfThisThread();
  // Returns the word of the slot's next call. `may_block`: the watchdog ignores the call.
  static CallWord NextWord(CallSlot& slot, CalleeId callee, Point point, bool may_block);
  // Clears the late call of the slot, which has ended, and lets the attempt continue.
  void EndOverdue(CallSlot& slot);
  // Sets `cancel` to 1 when the slot's innermost call is late; EndCancellable() restores its value.
  // Must not: be nested; nothing else may change the word meanwhile.
  void BeginCancellable(CallSlot& slot, uint32_t* cancel);
  void EndCancellable(CallSlot& slot);
  // Counts calls on threads of the pool that were abandoned and have not ended.
  void BeginAbandoned() { threads_->abandoned.fetch_add(1, std::memory_order_relaxed); }
  std::shared_ptr<Threads> threads() const { return threads_; }

  // --- Called by Attempt ---

  // Sets `cancel` to 1 while a call of the attempt is late. There is one attempt at a time.
  void BeginAttempt(uint32_t* cancel, const berth_pod* pod);
  // Does nothing if another attempt has begun since.
  void EndAttempt(const uint32_t* cancel);
  // Returns the first call of the present or, between attempts, of the last attempt that was late;
  // none if all were in time.
  std::optional<LateCall> LateCallOfAttempt() const;

  // Returns the time from which a call at `point` that begins at `now_ns` is late. `own_ns` is
  // Callee::deadline_ns. Returns 0 if there is no watchdog.
  int64_t DeadlineNs(Point point, int64_t own_ns, int64_t now_ns) const;
  bool is_watched() const { return watched_.load(std::memory_order_acquire) != nullptr; }

  // --- Called by the watchdog ---

  // Registers a watchdog with these deadlines, which must live until the watchdog is unregistered.
  // Null unregisters the watchdog.
  void SetDeadlines(const CallDeadlines* deadlines) {
    watched_.store(deadlines, std::memory_order_release);
  }
  // Returns how many abandoned calls have not ended.
  size_t abandoned() const { return threads_->abandoned.load(std::memory_order_relaxed); }
  struct ThreadCalls {
    CallWord innermost = 0;
    CallWord outermost = 0;
    // Callee::deadline_ns of the two calls.
    int64_t innermost_deadline_ns = 0;
    int64_t outermost_deadline_ns = 0;
  };
  // Returns the calls in progress, by slot.
  std::vector<ThreadCalls> Snapshot() const;
  struct Overdue {
    std::shared_ptr<const Callee> callee;  // Null: the call has ended, or its callee is unknown.
    uint64_t pod = 0;  // See PodOfAttempt(); 0 also if the point belongs to no attempt.
  };
  // Marks the call as late and cancels it. If its point belongs to an attempt, also cancels the
  // attempt.
  Overdue MarkOverdue(size_t slot, CallWord call, int64_t deadline_ns);

  static Point PointOf(CallWord call);
  static bool MayBlock(CallWord call);

  // --- Called by InstanceHost ---

  // Returns the point at which the calling thread is calling this instance; kNoCall if it is not.
  Point PointOnThisThread(CalleeId callee) const;
  // Returns a number that identifies the pod of the attempt, for PluginFaults::Note(); 0 between
  // attempts. Threading: the scheduling thread, or any with mutex_ locked.
  uint64_t PodOfAttempt() const;

  // --- Called by the crash report ---

  // Writes what the calling thread is doing to `out`, "in plugin X (library path) at Filter, pod
  // ns/name" or "outside any plugin call", and returns the number of bytes; a longer text is cut
  // off. Async-signal-safe.
  size_t Describe(std::span<char> out) const;

 private:
  static uint32_t CalleeOf(CallWord call);
  // Returns Callee::deadline_ns of the call. REQUIRES: mutex_ is locked.
  int64_t OwnDeadlineOf(CallWord call) const;
  static bool InAttempt(Point point);
  // Returns the slots that threads have.
  std::span<CallSlot> Slots() const;
  // Returns the slot of the calling thread; null if it has none. Async-signal-safe.
  CallSlot* FindSlot() const;

  const Interner& interner_;
  const std::shared_ptr<Threads> threads_ = std::make_shared<Threads>();
  // Pointers to the objects of owned_, indexed by id - 1. A signal handler reads them.
  std::array<std::atomic<const Callee*>, kMaxCallees> callees_{};
  std::atomic<const berth_pod*> attempt_pod_ = nullptr;
  std::atomic<const CallDeadlines*> watched_ = nullptr;

  mutable std::mutex mutex_;  // Guards what follows.
  std::vector<std::shared_ptr<const Callee>> owned_;
  std::vector<CalleeId> free_;
  uint32_t* cancel_ = nullptr;
  std::optional<LateCall> late_;
};

// The terms of one call. By default, the call must return within the deadline of its point.
struct CallTerms {
  // The pod that a crash report names. If null, the report names the pod of the attempt, if the
  // point belongs to an attempt.
  const berth_pod* pod = nullptr;
  // The call has no deadline: it runs on a thread of the pool, or creates or destroys an instance.
  bool may_block = false;
  // A word that becomes 1 when the call is late and gets its old value back when the call ends.
  // Null if the call has no such word, or uses the word of the attempt.
  uint32_t* cancel = nullptr;
};

// Records the call from construction to destruction: a crash report names it, and the watchdog
// measures how long it takes. Costs a few relaxed stores.
// Threading: the thread that calls the plugin. Calls may be nested (a plugin that asks what-if).
// Lifetime:  the monitor must outlive it.
class MonitoredCall {
 public:
  // Records nothing if `monitor` is null or has no slot for this thread.
  MonitoredCall(CallMonitor* monitor, CallMonitor::CalleeId callee, Point point,
                const CallTerms& terms);
  ~MonitoredCall();
  MonitoredCall(const MonitoredCall&) = delete;
  MonitoredCall& operator=(const MonitoredCall&) = delete;

  // Ends the record now, without the monitor; the destructor does nothing then.
  // Called: when the call has outlived the monitor. REQUIRES: the call has a reference to
  //         CallMonitor::Threads, and no CallTerms::cancel.
  void Detach();

 private:
  void RestoreSlot();

  CallMonitor* const monitor_;
  CallSlot* slot_ = nullptr;  // Null: the call is not recorded.
  bool is_cancellable_ = false;
  CallWord call_ = 0;
  CallWord outer_ = 0;
  const berth_pod* outer_pod_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CALL_MONITOR_H_
