// Decides whether a decision may still leave this process.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_FENCE_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_FENCE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/base/status.h"
#include "host/base/time.h"
#include "host/base/time_units.h"

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

  // A process that does not elect a leader opens the fence for ever.
  static constexpr int64_t kForever = INT64_MAX;

  // Opens the fence, or moves the time forward. A time before the present one is ignored.
  void OpenUntil(int64_t until_boot_ns) {
    if (until_boot_ns > until_ns_.load()) until_ns_.store(until_boot_ns);
  }
  // Closes the fence at once and for ever.
  void Close() { is_closed_.store(true); }

  // Returns Ok if a request may be written now. Otherwise counts the refusal.
  // Errors: kUnavailable: this process has not led yet, does not lead any more, or has not renewed
  //         its lease in time.
  Status Check() {
    const int64_t until_ns = until_ns_.load();
    const int64_t now_ns = boot_ns_();
    const bool is_closed = is_closed_.load();
    if (!is_closed && now_ns < until_ns) return {};
    refusals_.fetch_add(1, std::memory_order_relaxed);
    if (is_closed) return Status::Unavailable("this process does not lead any more");
    if (until_ns == 0) return Status::Unavailable("this process does not lead");
    const int64_t late_ns = (now_ns - until_ns) / kMillisecond * kMillisecond;
    return Status::Unavailable(
        "this process does not lead any more: the time to renew its lease ended " +
        FormatDuration(late_ns) + " ago");
  }
  bool is_open() const { return !is_closed_.load() && boot_ns_() < until_ns_.load(); }
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
