#include "host/queue/flush_schedule.h"

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kPeriodNs = 30 * kSecond;

}  // namespace

FlushSchedule::FlushSchedule(int64_t now_ns, int64_t limit_ns)
    : limit_ns_(limit_ns), next_ns_(now_ns + kPeriodNs) {}

std::optional<int64_t> FlushSchedule::Start(int64_t now_ns) {
  if (now_ns < next_ns_) return std::nullopt;
  const int64_t at_ns = now_ns - (now_ns - next_ns_) % kPeriodNs;
  next_ns_ = at_ns + kPeriodNs;
  return at_ns - limit_ns_;
}

int64_t FlushSchedule::TimeFor(int64_t parked_ns) const {
  const int64_t late_ns = parked_ns + limit_ns_ - next_ns_;
  const int64_t rounds = late_ns < 0 ? 0 : late_ns / kPeriodNs + 1;
  return next_ns_ + rounds * kPeriodNs;
}

}  // namespace berth::host
