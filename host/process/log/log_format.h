// The lines of the log: klog's text form, JSON, and plain lines for a person.
#ifndef BERTH_HOST_PROCESS_LOG_LOG_FORMAT_H_
#define BERTH_HOST_PROCESS_LOG_LOG_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_LOG_LOG_FORMAT_H_
