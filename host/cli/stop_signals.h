// Ctrl-C and `kill`: how a process is asked to end.
#ifndef BERTH_HOST_CLI_STOP_SIGNALS_H_
#define BERTH_HOST_CLI_STOP_SIGNALS_H_

#include <functional>
#include <thread>

#include "host/loader/file_descriptor.h"

namespace berth::host {

// As long as it lives, the first SIGINT or SIGTERM calls `stop` with its number. From then on both
// do what they do by default, so that a second one ends the process at once. One that is ignored
// stays so.
//
// Threading: `stop` is called on a thread of its own.
// Called:    one at a time per process.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(int signal)> stop);
  // No call to `stop` is running or follows.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void Run() const;

  const std::function<void(int signal)> stop_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_STOP_SIGNALS_H_
