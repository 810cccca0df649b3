#include "host/queue/backoff.h"

#include "host/base/time_units.h"

namespace berth::host {

int64_t Backoff::DurationNs(const QueuedEntity& entity) const {
  const uint32_t count = entity.error_count > 0 ? entity.error_count : entity.rejected_count;
  if (count == 0) return 0;
  const uint32_t doublings = count - 1;
  if (doublings >= 63 || initial_ns_ > (max_ns_ >> doublings)) return max_ns_;
  return initial_ns_ << doublings;
}

int64_t Backoff::UntilNs(const QueuedEntity& entity) const {
  const int64_t duration = DurationNs(entity);
  return duration == 0 ? 0 : Align(entity.queued_ns + duration);
}

bool Backoff::IsOn(int64_t until_ns, int64_t now_ns) const {
  return until_ns != 0 && until_ns >= Align(now_ns);
}

int64_t Backoff::TickAfter(int64_t until_ns) { return until_ns - until_ns % kSecond + kSecond; }

int64_t Backoff::Align(int64_t at_ns) const {
  return has_windows_ ? at_ns - at_ns % kSecond : at_ns;
}

// --- flush schedule ------------------------------------------------------------------------------

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
