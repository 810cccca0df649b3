// Shows the progress and the log of long work on the terminal.
#ifndef BERTH_HOST_CLI_PROGRESS_H_
#define BERTH_HOST_CLI_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/log.h"

namespace berth::host {

// Keeps one line on the terminal that is rewritten at most five times a second. Shows nothing in
// the first second, and erases the line at the end.
//
// Threading: any.
class Progress {
 public:
  // `enabled`: true if `out` is a terminal. `steady_ns` must only go forward.
  Progress(std::ostream& out, bool enabled, std::function<int64_t()> steady_ns);
  ~Progress() { Clear(); }

  // Shows "Reading cluster.json ...".
  void ShowActivity(std::string_view what);
  // Shows "Scheduling: 1,204 of 8,152 pods".
  void ShowCount(std::string_view what, size_t done, size_t total, std::string_view unit);
  // Erases the line, so that something else can be printed.
  void Clear();
  // Erases the line and prints `text`. Texts of several threads are not mixed.
  void Print(std::string_view text);

 private:
  // REQUIRES: mutex_ is held. This applies to the next three methods.
  void Erase();
  bool Due();
  void Show(const std::string& line);

  std::ostream& out_;
  const bool enabled_;
  std::function<int64_t()> steady_ns_;
  std::mutex mutex_;  // Guards the members below and out_.
  int64_t next_ns_ = 0;
  bool shown_ = false;
};

// Prints the log of a command that a person runs: "berth: warning: acme.RackPower: message", as
// LogFormat::kPlain.
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

#endif  // BERTH_HOST_CLI_PROGRESS_H_
