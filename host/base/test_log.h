// A log for tests, which keeps what is written.
#ifndef BERTH_HOST_BASE_TEST_LOG_H_
#define BERTH_HOST_BASE_TEST_LOG_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/base/log.h"

namespace berth::host {

// Returns "message: error key=value", without what is empty.
inline std::string MessageOf(const LogRecord& record) {
  std::string text(record.message);
  if (!record.error.empty()) text.append(": ").append(record.error);
  for (const LogField& field : record.fields) {
    text.append(" ").append(field.key).append("=").append(field.value);
  }
  return text;
}

// Returns the line of a plugin's fault without its profile and count.
inline std::string WithoutFaultFields(const std::string& line) {
  return line.substr(0, line.rfind(" profile="));
}

// Keeps each record as a line: "logger: message: error key=value".
// Threading: as LogSink; lines() only while no other thread logs.
class TestLog final : public LogSink {
 public:
  // With `shows_levels`, lines begin with the number of the level: "3 logger: message".
  explicit TestLog(uint32_t level = BERTH_LOG_TRACE, bool shows_levels = false)
      : level_(level), shows_levels_(shows_levels) {}

  bool IsOn(uint32_t level) const override { return level >= level_; }
  void Write(const LogRecord& record) override {
    if (!IsOn(record.level)) return;
    std::string line = shows_levels_ ? std::to_string(record.level) + " " : "";
    line.append(record.logger).append(": ").append(MessageOf(record));
    const std::scoped_lock lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string>& lines() { return lines_; }

 private:
  const uint32_t level_;
  const bool shows_levels_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TEST_LOG_H_
