#include "host/cluster/kubernetes/write/bind_fence.h"

#include <string>

#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {

void BindFence::OpenUntil(int64_t until_boot_ns) {
  if (until_boot_ns > until_ns_.load()) until_ns_.store(until_boot_ns);
}

void BindFence::Close() { is_closed_.store(true); }

Status BindFence::Check() {
  const int64_t until_ns = until_ns_.load();
  const int64_t now_ns = boot_ns_();
  const bool is_closed = is_closed_.load();
  if (!is_closed && now_ns < until_ns) return {};
  refusals_.fetch_add(1, std::memory_order_relaxed);
  if (is_closed) return Status::Unavailable("this process does not lead any more");
  if (until_ns == 0) return Status::Unavailable("this process does not lead");
  const int64_t late_ns = (now_ns - until_ns) / kMillisecond * kMillisecond;
  return Status::Unavailable("this process does not lead any more: the time to renew its lease " +
                             std::string("ended ") + FormatDuration(late_ns) + " ago");
}

bool BindFence::is_open() const { return !is_closed_.load() && boot_ns_() < until_ns_.load(); }

}  // namespace berth::host
