// The log of the process, through spdlog.
#ifndef BERTH_HOST_PROCESS_LOG_LOG_OUTPUT_H_
#define BERTH_HOST_PROCESS_LOG_LOG_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"

namespace berth::host {

// --- log format ----------------------------------------------------------------------------------
//
// The lines of the log: klog's text form, JSON, and plain lines for a person.

enum class LogFormat : uint8_t {
  // klog's text form, with the time in UTC:
  //   I1123 09:26:10.000000    1234 scheduling] "Bound" pod="default/web-0" node="node-a"
  // Where klog has the source file and line, Berth has the name of the part or of the plugin. An
  // error is the first pair, err="...". Values are quoted as Go's strconv.Quote() does. klog writes
  // a value with line ends on several lines; Berth quotes it, so that a record is one line.
  kKlog,
  // One object per line, with the keys of kube-scheduler's JSON log, and the key "level":
  //   {"ts":1763889970000.123,"level":"info","logger":"scheduling","msg":"Bound","v":0,
  //    "pod":{"name":"web-0","namespace":"default"},"node":{"name":"node-a"}}
  // An error is the last pair, "err". Records of warnings and errors have no "v".
  kJsonLines,
  // The lines of a command that a person runs: `berth: warning: acme.RackPower: message`. It is the
  // form without --log-format for every command but `berth run` on a cluster. An error follows the
  // message: `message: error`; pairs follow as in klog's form.
  kPlain,
};

// Returns the letter and the -v number of a level: BERTH_LOG_ERROR 'E', WARN 'W', INFO 'I' with
// v=0, DEBUG 'I' with v=4, TRACE 'I' with v=6.
struct KlogLevel {
  char letter = 'I';
  uint32_t v = 0;

  friend bool operator==(const KlogLevel&, const KlogLevel&) = default;
};
KlogLevel KlogLevelOf(uint32_t level);

// Reads the name of a level, such as "info", or a number as kube-scheduler's -v: 0 to 3 is info, 4
// and 5 debug, 6 and more trace.
// Errors: kInvalidArgument with what was expected and found.
Result<uint32_t> ReadLogLevel(std::string_view text);

// Formats one record as one line, without its end. The text of a record can neither begin a line of
// its own nor control a terminal: characters that are not printable are escaped. A pair whose key
// is one of the keys of the form itself, such as "msg", is written as "msg_", so that a plugin
// cannot forge them.
// Returns: in the form kJsonLines, a JSON object in UTF-8; invalid UTF-8 becomes U+FFFD.
std::string FormatRecord(const LogRecord& record, LogFormat format, int64_t wall_ns, int32_t pid);

// Returns `text` between double quotes, with the escapes of Go's strconv.Quote(): "\n", "\x1b",
// "\u202e". Invalid UTF-8 is written as "\xff".
std::string GoQuoted(std::string_view text);

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
