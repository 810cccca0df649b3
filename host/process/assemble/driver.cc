#include "host/process/assemble/driver.h"

#include <utility>

namespace berth::host {

void Driver::RequestStop(int signal) {
  int running = 0;
  if (stop_.compare_exchange_strong(running, signal)) waker_.Wake();
}

void Driver::StopOnce() {
  if (!std::exchange(is_stopping_, true)) OnStop();
}

void Driver::RunRounds() {
  while (true) {
    if (is_stop_requested()) StopOnce();
    if (IsDone()) break;
    if (RunRound()) continue;
    const bool was_stopping = is_stopping_;
    Flush();
    // The flush may have failed, which is a request to stop.
    if (was_stopping || !(is_stopping_ || is_stop_requested())) Wait();
  }
  Flush();
}

void Driver::Flush() {
  if (flush_ && !flush_()) OnOutputFailed();
}

}  // namespace berth::host
