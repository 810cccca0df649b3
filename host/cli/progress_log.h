// Prints the log of a command that a person runs.
#ifndef BERTH_HOST_CLI_PROGRESS_LOG_H_
#define BERTH_HOST_CLI_PROGRESS_LOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "host/base/log.h"
#include "host/cli/progress.h"

namespace berth::host {

// Prints "berth: warning: acme.RackPower: message", as LogFormat::kPlain.
// Lifetime: `progress` must outlive it.
class ProgressLog final : public LogSink {
 public:
  // `level`: the lowest level that is on. `time`: returns the text in front of each line; if empty,
  // there is none. Called on any thread.
  ProgressLog(Progress& progress, uint32_t level, std::function<std::string()> time = {})
      : progress_(progress), level_(level), time_(std::move(time)) {}

  bool IsOn(uint32_t level) const override { return level >= level_; }
  void Write(const LogRecord& record) override;

 private:
  Progress& progress_;
  const uint32_t level_;
  const std::function<std::string()> time_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROGRESS_LOG_H_
