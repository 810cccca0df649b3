// The log of the process, through spdlog.
#ifndef BERTH_HOST_PROCESS_LOG_LOG_OUTPUT_H_
#define BERTH_HOST_PROCESS_LOG_LOG_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "host/base/log.h"
#include "host/process/log/log_format.h"

namespace berth::host {

// Writes each record as one line, on a thread of spdlog. A reader that does not read makes the log
// drop its oldest records after a queue of 512, so that a stuck pipe never blocks the scheduler.
// The number of dropped records is logged when there is room again. Every level is on: a LogFilter
// in front of it selects the level.
//
// Threading: as LogSink. dropped() and Flush() any.
class LogOutput final : public LogSink {
 public:
  struct Options {
    LogFormat format = LogFormat::kKlog;
    // Returns the time of the record that is written. Called on any thread.
    std::function<int64_t()> wall_ns;
    // Receives complete lines; it must outlive the log, which does not close it.
    int32_t descriptor = 2;
    // spdlog allocates the whole queue at the start, 408 bytes for each record.
    size_t queue_records = 512;
    int32_t pid = 0;  // Written by the form kKlog.
  };

  explicit LogOutput(Options options);
  // Writes what waits, for at most one second.
  ~LogOutput() override;

  bool IsOn(uint32_t /*level*/) const override { return true; }
  void Write(const LogRecord& record) override;

  // Returns the number of records that were not written: those that the queue dropped, and those
  // whose write failed.
  uint64_t dropped() const;
  // Waits until everything that was written before has left the process or was dropped, for at most
  // one second. Called before exit. Returns false if the second was not enough.
  bool Flush();

 private:
  class Impl;

  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_LOG_LOG_OUTPUT_H_
