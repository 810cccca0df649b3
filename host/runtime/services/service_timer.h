// The state of the service berth.timer/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_TIMER_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_TIMER_H_

#include <cstdint>
#include <unordered_set>

#include <berth/abi.h>

#include "host/event/timer_queue.h"

namespace berth::host {

class InstanceHost;

// Threading: the scheduling thread.
class PluginTimers {
 public:
  using Fire = void (*)(void* to) BERTH_NOEXCEPT;

  explicit PluginTimers(InstanceHost& host) : host_(host) {}
  ~PluginTimers() { Close(); }
  PluginTimers(const PluginTimers&) = delete;
  PluginTimers& operator=(const PluginTimers&) = delete;

  // Returns the code of the service: SUCCESS, which sets `*timer`; CONFLICT if kMaxWaitingWork
  // timers of the instance have not ended.
  berth_code Start(int64_t after_ns, Fire fire, void* to, TimerQueue::Id* timer);
  // Returns false if it is no open timer of this instance.
  bool Cancel(TimerQueue::Id timer);
  void Close();

 private:
  InstanceHost& host_;
  std::unordered_set<TimerQueue::Id> open_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_TIMER_H_
