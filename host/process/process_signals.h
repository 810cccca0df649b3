// Ctrl-C and `kill`: how a process is asked to end, or to read its files anew.
#ifndef BERTH_HOST_PROCESS_PROCESS_SIGNALS_H_
#define BERTH_HOST_PROCESS_PROCESS_SIGNALS_H_

#include <functional>
#include <mutex>
#include <thread>

#include "host/base/file_descriptor.h"

namespace berth::host {

// As long as it lives, each SIGHUP calls `reload`, until somebody asks to stop; several at once may
// be one. From TakeStops() on, the first SIGINT or SIGTERM calls `stop` with its number;
// then both do again what they do by default, so that a second one ends the process at once. A
// signal that is ignored stays so. Afterwards a SIGHUP is ignored: what it asked for is over, and
// it must not end a process that still says how it went.
//
// Threading: both are called on one thread of their own.
// Called:    one at a time per process.
class ProcessSignals {
 public:
  // `reload` may be empty: SIGHUP does what it does by default.
  explicit ProcessSignals(std::function<void()> reload);
  // No call is running or follows.
  ~ProcessSignals();
  ProcessSignals(const ProcessSignals&) = delete;
  ProcessSignals& operator=(const ProcessSignals&) = delete;

  // Called: once.
  void TakeStops(std::function<void(int signal)> stop);

 private:
  void Run();

  const std::function<void()> reload_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::mutex mutex_;
  std::function<void(int signal)> stop_;  // Guarded by mutex_.
  std::thread thread_;                    // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_PROCESS_SIGNALS_H_
