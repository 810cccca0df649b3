// Requests to a running process from outside: to stop, and to read its files again.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_SIGNALS_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_SIGNALS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/base/file_descriptor.h"

namespace berth::host {

// A subscription to requests. No callback is running or follows once it has been destroyed.
class ProcessRequests {
 public:
  virtual ~ProcessRequests() = default;

  // Sets the callback for the first request to stop, which receives the signal's number. Before
  // OnStop(), a request to stop ends the process.
  // Called:    once.
  // Threading: `stop` is called on any thread.
  virtual void OnStop(std::function<void(int signal)> stop) = 0;
};

// Subscribes to requests: `reload` is called, on any thread, for each request to read the files
// again.
using SubscribeToRequests =
    std::function<std::unique_ptr<ProcessRequests>(std::function<void()> reload)>;

// The requests that users send with signals. Each SIGHUP calls `reload` until a request to stop
// comes; several SIGHUPs that come together may be one call. After OnStop(), the first SIGINT or
// SIGTERM calls `stop`; then both signals get the action back that they had before OnStop(), so
// that a second one ends the process at once. A signal that the process ignores stays ignored.
//
// Unless `reload` is empty, SIGHUP is ignored after the destructor, because it must not end a
// process that still prints its summary.
//
// Threading: both callbacks run on one thread of the object.
// Called:    one object at a time per process.
class ProcessSignals final : public ProcessRequests {
 public:
  // An empty `reload` leaves SIGHUP with its action.
  explicit ProcessSignals(std::function<void()> reload);
  ~ProcessSignals() override;

  void OnStop(std::function<void(int signal)> stop) override;

 private:
  void Run();

  const std::function<void()> reload_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::mutex mutex_;
  std::function<void(int signal)> stop_;  // Guarded by mutex_.
  std::thread thread_;                    // Last: it uses the others.
};

// Lets SIGINT, SIGTERM and SIGHUP call `cleanup` on any thread before they end the process, unless
// the process ignores them. `cleanup` must be async-signal-safe, and do nothing in a process that
// was forked without exec.
// Called: by main(), before a ProcessSignals is created, which replaces these actions for its life.
void InstallSignalCleanup(void (*cleanup)());

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_SIGNALS_H_
