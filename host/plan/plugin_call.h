// One call into a plugin instance.
#ifndef BERTH_HOST_PLAN_PLUGIN_CALL_H_
#define BERTH_HOST_PLAN_PLUGIN_CALL_H_

#include <cstdint>

#include <berth/abi.h>

#include "host/guard/monitored_call.h"
#include "host/guard/point.h"

namespace berth::host {

class InstanceHost;

// Which function of a plugin is called.
struct CalledFunction {
  Point point = kNoCall;
  const berth_cycle* cycle = nullptr;  // The cycle that is passed to the function; null: none.
  // The words (ThreadWord) under which the function is called; 0: those of the point.
  uint32_t words = 0;
};

// Records the call, from construction to destruction, in the instance's host, which checks service
// calls against it, and in the call monitor. Every call of a plugin runs inside one; Invoke() opens
// it, and AsyncCall does so for a call on the bind pool. Costs a few relaxed stores.
// Threading: the thread that calls the plugin. Calls may be nested (a plugin that uses what-if).
class PluginCall {
 public:
  // A call at kLoad has no deadline, whatever `terms` contains.
  PluginCall(InstanceHost& host, const CalledFunction& function, CallTerms terms = {});
  PluginCall(InstanceHost& host, Point point, CallTerms terms = {})
      : PluginCall(host, CalledFunction{.point = point}, terms) {}
  ~PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  // Ends the record of the call without the services of its host; the destructor does nothing then.
  // Called: when the call has outlived these services. REQUIRES: see MonitoredCall::Detach().
  void Detach();

 private:
  InstanceHost* host_;  // Null after Detach().
  const CalledFunction outer_;
  MonitoredCall call_;
};

// Returns the time from which a call that begins now is late, in the clock of berth_timer.now_ns,
// or 0 if it has no deadline. Threading: any.
int64_t DeadlineNs(const InstanceHost& host, Point point);

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PLUGIN_CALL_H_
