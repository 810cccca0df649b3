#include "host/cli/progress_log.h"

#include "host/process/log/log_format.h"

namespace berth::host {

void ProgressLog::Write(const LogRecord& record) {
  if (!IsOn(record.level)) return;
  std::string line = time_ ? time_() : std::string();
  line.append(FormatRecord(record, LogFormat::kPlain, 0, 0)).append(1, '\n');
  progress_.Print(line);
}

}  // namespace berth::host
