// The loop of the scheduling thread of a process.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_DRIVER_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_DRIVER_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "host/event/inbox.h"

namespace berth::host {

// Repeats rounds until the process is done, and waits between rounds that had nothing to do. The
// class that derives from it, one for each process, decides what a round does and when the process
// is done.
//
// A stop is requested by a signal, or by an output that cannot be written. BeginStop() follows at
// the beginning of the next round, and the rounds continue until IsDone() returns true.
//
// Threading: the scheduling thread, except the requests, which are any.
class Driver {
 public:
  // Writes out the output that is buffered. Returns false if it could not be written. May be empty.
  using FlushOutput = std::function<bool()>;

  explicit Driver(FlushOutput flush) : flush_(std::move(flush)) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // ---- Any thread -------------------------------------------------------------------------------

  // `signal` is positive. Only the first request counts, and wakes the scheduling thread.
  void RequestStop(int signal);
  // The output has failed: requests a stop without a signal.
  void OnOutputFailed() { RequestStop(kOutputFailed); }
  bool is_stop_requested() const { return stop_.load() != 0; }
  // Returns the waker that Wait() waits for.
  ThreadWaker& waker() { return waker_; }

  // ---- The scheduling thread --------------------------------------------------------------------

  // Returns the signal that requested the stop; 0 if there was none.
  int signal() const { return std::max(stop_.load(), 0); }
  bool output_failed() const { return stop_.load() == kOutputFailed; }

 protected:
  // Called once, by the owner's Run().
  void RunRounds();
  // Begins to stop, unless it has begun: calls OnStop().
  void StopOnce();
  bool is_stopping() const { return is_stopping_; }

  // Returns whether no further round is needed.
  virtual bool IsDone() = 0;
  // Does what can be done now. Returns false if there was nothing to do.
  virtual bool RunRound() = 0;
  // Waits until a round may have something to do. The waker keeps the wake-up of a request for the
  // next wait, so that no request is lost.
  virtual void Wait() = 0;
  // The process begins to stop: no further pod may be tried.
  virtual void OnStop() {}
  // Called when there is nothing else to do, and at the end.
  virtual void Flush();

 private:
  // A value of stop_ that is no signal.
  static constexpr int kOutputFailed = -1;

  ThreadWaker waker_;
  const FlushOutput flush_;
  // The signal that requested the stop, kOutputFailed, or 0 while no stop is requested.
  std::atomic<int> stop_ = 0;
  bool is_stopping_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_DRIVER_H_
