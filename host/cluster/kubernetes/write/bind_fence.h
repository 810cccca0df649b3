// Decides whether a decision may still leave this process.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_FENCE_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_FENCE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/base/status.h"

namespace berth::host {

// While this process leads, the fence is open until a time of its own clock. The clock is
// CLOCK_BOOTTIME, which counts while the machine sleeps and which no program can set. The elector
// extends the time after each renewal to <when the renewal was sent> + renewDeadline; other
// processes take the lease over at <when they saw the renewal> + leaseDuration at the earliest,
// which is later by leaseDuration - renewDeadline at least. A request that left before the fence
// closed has this time to reach the server.
//
// The limit of the fence: between the check and the write there are some microseconds. A process
// that is stopped exactly there and continued after its lease has expired still sends this one
// request. The server accepts it only if the pod (by its uid) has no node.
// TCP may deliver a request later than it was written. The connections of writes give a segment up
// that is not acknowledged within 5 seconds, which is the difference of leaseDuration and
// renewDeadline by default, and a request whose answer is not awaited any more is discarded (RST).
// A request that has reached a proxy or the network is not discarded, and a server may execute a
// request some time after it has received it.
//
// Threading: Check() any; the other methods the thread of the elector.
class BindFence {
 public:
  // `boot_ns` reads CLOCK_BOOTTIME. Threading: any.
  explicit BindFence(std::function<int64_t()> boot_ns) : boot_ns_(std::move(boot_ns)) {}
  BindFence(const BindFence&) = delete;
  BindFence& operator=(const BindFence&) = delete;

  // A process that does not elect a leader opens the fence for ever.
  static constexpr int64_t kForever = INT64_MAX;

  // Opens the fence, or moves the time forward. A time before the present one is ignored.
  void OpenUntil(int64_t until_boot_ns);
  // Closes the fence at once and for ever.
  void Close();

  // Returns Ok if a request may be written now. Otherwise counts the refusal.
  // Errors: kUnavailable: this process has not led yet, does not lead any more, or has not renewed
  //         its lease in time.
  Status Check();
  bool is_open() const;
  // Returns CLOCK_BOOTTIME. Threading: any.
  int64_t NowNs() const { return boot_ns_(); }
  uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

 private:
  const std::function<int64_t()> boot_ns_;
  std::atomic<int64_t> until_ns_ = 0;
  std::atomic<bool> is_closed_ = false;
  std::atomic<uint64_t> refusals_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_FENCE_H_
