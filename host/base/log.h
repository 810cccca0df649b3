// Structured log records. Every part of the host and every plugin logs through a LogSink. That of
// processes on a cluster is in process/log/log_output.h, that of other commands in cli/progress.h.
#ifndef BERTH_HOST_BASE_LOG_H_
#define BERTH_HOST_BASE_LOG_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <berth/abi.h>

namespace berth::host {

// The names of the levels in configuration files and messages, in ascending order.
inline constexpr std::array<std::pair<std::string_view, uint32_t>, 5> kLogLevels = {
    {{"trace", BERTH_LOG_TRACE},
     {"debug", BERTH_LOG_DEBUG},
     {"info", BERTH_LOG_INFO},
     {"warning", BERTH_LOG_WARN},
     {"error", BERTH_LOG_ERROR}}};

// Returns the name of a level. A level above BERTH_LOG_ERROR has the name "error".
constexpr std::string_view LogLevelName(uint32_t level) {
  return kLogLevels[std::min<size_t>(level, kLogLevels.size() - 1)].first;
}
// Returns the level with this name; nullopt if there is none.
constexpr std::optional<uint32_t> FindLogLevel(std::string_view name) {
  for (const auto& [known, level] : kLogLevels) {
    if (known == name) return level;
  }
  return std::nullopt;
}

// One pair of a record. The keys "pod" and "node" are references to objects: a pod is written as
// "namespace/name" in text, and as {"name": ..., "namespace": ...} in JSON, as kube-scheduler does.
// Lifetime: the texts are valid until the call that they are passed to returns.
struct LogField {
  std::string_view key;    // lowerCamelCase.
  std::string_view value;  // May be any bytes; the output escapes it.
};

struct LogRecord {
  uint32_t level = BERTH_LOG_INFO;  // BERTH_LOG_*
  std::string_view logger = {};     // The plugin, or a part of the host such as "leaderElection".
  std::string_view message;
  std::span<const LogField> fields = {};
  // The error that the record reports; empty if there is none. It is the key "err".
  std::string_view error = {};
};

// Threading: any.
// Must not:  be passed a secret. Values of the type Secret (base/secret.h) do not convert to text.
class LogSink {
 public:
  virtual ~LogSink() = default;

  // Returns whether a record of this level would be written. It is cheap: the caller checks it
  // before it formats anything.
  virtual bool IsOn(uint32_t level) const = 0;
  // Writes the record, or drops it if its level is not on. Never blocks on a reader that is slow:
  // an output that cannot be written loses records, which it counts.
  virtual void Write(const LogRecord& record) = 0;
};

// Returns the lowest level that is on. Without a sink, or if no level is on, returns BERTH_LOG_OFF.
inline uint32_t LowestLevel(const LogSink* sink) {
  for (const auto& [name, level] : kLogLevels) {
    if (sink != nullptr && sink->IsOn(level)) return level;
  }
  return BERTH_LOG_OFF;
}

// Passes on the records of a level and of all higher levels.
// Threading: as LogSink. SetLevel() any.
// Lifetime:  the sink must outlive it.
class LogFilter final : public LogSink {
 public:
  LogFilter(LogSink& sink, uint32_t level) : sink_(sink), level_(level) {}

  void SetLevel(uint32_t level) { level_.store(level, std::memory_order_relaxed); }
  bool IsOn(uint32_t level) const override {
    return level >= level_.load(std::memory_order_relaxed) && sink_.IsOn(level);
  }
  void Write(const LogRecord& record) override {
    if (IsOn(record.level)) sink_.Write(record);
  }

 private:
  LogSink& sink_;
  std::atomic<uint32_t> level_;
};

// A sink with the name of the part that logs.
// Lifetime: the sink and the name must outlive it.
class Log {
 public:
  // A log that writes nothing.
  Log() = default;
  Log(LogSink& sink, std::string_view logger) : sink_(&sink), logger_(logger) {}

  bool IsOn(uint32_t level) const { return sink_ != nullptr && sink_->IsOn(level); }
  void Debug(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    WriteList(BERTH_LOG_DEBUG, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    WriteList(BERTH_LOG_INFO, message, fields);
  }
  void Warning(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    WriteList(BERTH_LOG_WARN, message, fields);
  }
  void Error(std::string_view message, std::string_view error,
             std::initializer_list<LogField> fields = {}) const {
    WriteList(BERTH_LOG_ERROR, message, fields, error);
  }
  // `error`: the text of the key "err"; empty if there is none.
  void Write(uint32_t level, std::string_view message, std::span<const LogField> fields,
             std::string_view error) const {
    if (!IsOn(level)) return;
    sink_->Write(
        {.level = level, .logger = logger_, .message = message, .fields = fields, .error = error});
  }

 private:
  void WriteList(uint32_t level, std::string_view message, std::initializer_list<LogField> fields,
                 std::string_view error = {}) const {
    Write(level, message, {fields.begin(), fields.size()}, error);
  }

  LogSink* sink_ = nullptr;
  std::string_view logger_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_LOG_H_
