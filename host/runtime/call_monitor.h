// What every thread is calling right now: for the report of a crash, and to find the calls that do
// not end.
#ifndef BERTH_HOST_RUNTIME_CALL_MONITOR_H_
#define BERTH_HOST_RUNTIME_CALL_MONITOR_H_

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

#include "host/api/interner.h"
#include "host/runtime/plugin_faults.h"
#include "host/runtime/point.h"

namespace berth::host {

// A call as it stands in the record: whose, at which point, and a number that no other call of the
// thread has. 0: none.
using CallWord = uint64_t;

// What one thread is in the middle of. Its words are written by that thread alone.
struct alignas(64) CallSlot {
  std::atomic<uint64_t> thread = 0;     // pthread_self(); 0: free.
  std::atomic<CallWord> innermost = 0;  // What runs.
  std::atomic<CallWord> outermost = 0;  // What it was called from; the same, or a what-if's caller.
  std::atomic<const berth_pod*> pod = nullptr;  // Of the innermost call, where it was said.
  std::atomic<CallWord> overdue = 0;  // A call that was found to be late. By the watchdog.
  uint64_t calls = 0;                 // Of the thread itself.
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

  // --- around an attempt; see Attempt ---

  // `cancel` becomes 1 while one of the attempt's calls is late. One attempt at a time.
  void BeginAttempt(uint32_t* cancel, const berth_pod* pod);
  // Nothing happens unless it is the present one.
  void EndAttempt(const uint32_t* cancel);

  // --- for the watchdog ---

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

  mutable std::mutex mutex_;  // Guards what follows.
  std::vector<std::shared_ptr<const Callee>> owned_;
  std::vector<CalleeId> free_;
  uint32_t* cancel_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_CALL_MONITOR_H_
