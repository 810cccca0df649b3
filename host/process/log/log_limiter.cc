#include "host/process/log/log_limiter.h"

#include <algorithm>

namespace berth::host {

LogLimiter::~LogLimiter() {
  for (const auto& [logger, budgets] : budgets_) {
    for (const Budget& budget : budgets) {
      if (budget.left_out > 0) WriteCount(logger, budget.left_out);
    }
  }
}

void LogLimiter::Write(const LogRecord& record) {
  uint64_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    auto known = budgets_.find(record.logger);
    if (known == budgets_.end()) known = budgets_.try_emplace(std::string(record.logger)).first;
    Budget& budget = known->second[std::min<uint32_t>(record.level, BERTH_LOG_ERROR)];
    if (!Take(budget)) {
      ++budget.left_out;
      return;
    }
    left_out = std::exchange(budget.left_out, 0);
    if (left_out > 0) budget.spent_ns += RecordNs();  // The record that states the count.
  }
  if (left_out > 0) WriteCount(record.logger, left_out);
  sink_.Write(record);
}

// Each record uses up the time in which the rate allows one. The times may run ahead of the clock
// by those of a whole burst.
bool LogLimiter::Take(Budget& budget) const {
  const int64_t now_ns = options_.steady_ns();
  const int64_t spent_ns = std::max(budget.spent_ns, now_ns) + RecordNs();
  if (spent_ns - now_ns > options_.burst * RecordNs()) return false;
  budget.spent_ns = spent_ns;
  return true;
}

void LogLimiter::WriteCount(std::string_view logger, uint64_t left_out) {
  const std::string count = std::to_string(left_out);
  const LogField field{"count", count};
  sink_.Write({.level = BERTH_LOG_WARN,
               .logger = logger,
               .message = "Left out records that came too fast",
               .fields = {&field, 1}});
}

}  // namespace berth::host
