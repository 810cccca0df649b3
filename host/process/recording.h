// A run on file: the events as they came and what was decided, in order, so that it can be run
// again.
#ifndef BERTH_HOST_PROCESS_RECORDING_H_
#define BERTH_HOST_PROCESS_RECORDING_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/process/decision_line.h"
#include "host/process/stream_event.h"

namespace berth::host {

// Lines that ReadStreamEvent() takes: events with the time since the event before, and
// {"type":"DECISION","object":{...}}, which changes nothing when it is read.
class Recording {
 public:
  // Replaces the file.
  // Errors: NotFound, PermissionDenied, InvalidArgument; each begins with the path.
  static Result<std::unique_ptr<Recording>> Create(const std::string& path);

  // `object_json` is valid JSON; spaces and line ends in it are left out.
  void AddEvent(StreamType type, int64_t after_ns, std::string_view object_json);
  void AddDecision(const DecisionLine& line);
  // Hands over what was written. Errors: as status().
  Status Flush();
  // Whether all that was handed over could be written. Errors: Unavailable, with the path.
  Status status() const;

 private:
  Recording(std::string path, std::ofstream file);

  const std::string path_;
  std::ofstream file_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RECORDING_H_
