// Records a run in a file, so that it can be repeated: the events and the decisions, in order.
#ifndef BERTH_HOST_PROCESS_REPLAY_RECORDING_H_
#define BERTH_HOST_PROCESS_REPLAY_RECORDING_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/process/assemble/decision_line.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {

// Writes lines that ReadStreamEvent() reads: events and attempts, with the time since the event or
// attempt before, and decisions as {"type":"DECISION","object":{...}}, which change nothing when
// they are read.
class Recording {
 public:
  // Creates the file, or empties the one that exists.
  // Errors: NotFound, PermissionDenied, InvalidArgument. Each message begins with the path.
  static Result<std::unique_ptr<Recording>> Create(const std::string& path);

  // `after_ns`: the time since the event or attempt before. `object_json` must be valid JSON; its
  // white space is removed.
  void AddEvent(StreamType type, int64_t after_ns, std::string_view object_json);
  void AddDecision(const DecisionLine& line);
  // Records that a pod or group was tried. `after_ns`: the time since the event or attempt before.
  void AddAttempt(int64_t after_ns);
  // Flushes the file. Errors: as status().
  Status Flush();
  // Returns an error if anything that was flushed could not be written. Errors: Unavailable, with
  // the path.
  Status status() const;

 private:
  Recording(std::string path, std::ofstream file);

  const std::string path_;
  std::ofstream file_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_RECORDING_H_
