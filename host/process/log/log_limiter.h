// Limits how many records each part of the process writes to the log.
#ifndef BERTH_HOST_PROCESS_LOG_LOG_LIMITER_H_
#define BERTH_HOST_PROCESS_LOG_LOG_LIMITER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>

#include "host/base/log.h"
#include "host/base/time_units.h"

namespace berth::host {

// Passes the records of a logger on, at each level, until they come too fast: `burst` at once, and
// then `per_second`. Further records are left out and counted. A record states the count before the
// next one of this logger and level, or when the limiter ends. A tenant with thousands of pods, or
// a plugin with a bug, fills a disk slowly at most, and the records of other loggers and levels go
// on.
//
// Threading: as LogSink.
// Lifetime:  the sink must outlive it.
// Memory:    one entry for each logger and level, of which there are few: loggers are parts of the
//            process and plugins.
class LogLimiter final : public LogSink {
 public:
  struct Options {
    // Called on any thread.
    std::function<int64_t()> steady_ns;
    int64_t burst = 10'000;
    int64_t per_second = 200;
  };

  LogLimiter(LogSink& sink, Options options) : sink_(sink), options_(std::move(options)) {}
  // Writes the counts of what was left out.
  ~LogLimiter() override;
  LogLimiter(const LogLimiter&) = delete;
  LogLimiter& operator=(const LogLimiter&) = delete;

  bool IsOn(uint32_t level) const override { return sink_.IsOn(level); }
  void Write(const LogRecord& record) override;

 private:
  // The account of one logger at one level.
  struct Budget {
    int64_t spent_ns = 0;  // The time until which the records so far use up the rate.
    uint64_t left_out = 0;
  };
  using Budgets = std::array<Budget, BERTH_LOG_OFF>;  // By level.

  // Returns the time in which the rate allows one record.
  int64_t RecordNs() const { return kSecond / options_.per_second; }
  // Returns whether a record may be written now, and counts it.
  bool Take(Budget& budget) const;
  void WriteCount(std::string_view logger, uint64_t left_out);

  LogSink& sink_;
  const Options options_;
  std::mutex mutex_;  // Guards the budgets. Not held while the sink writes.
  std::map<std::string, Budgets, std::less<>> budgets_;  // By logger.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_LOG_LOG_LIMITER_H_
