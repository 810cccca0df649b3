// Invoke(): the one way in which the host calls a function of a plugin, except a blocking call on
// the bind pool, which may be abandoned (runtime/points/async_call.cc). The overload for calls that
// receive a berth_cycle is in runtime/attempt/plugin_cycle.h.
#ifndef BERTH_HOST_PLAN_INVOKE_H_
#define BERTH_HOST_PLAN_INVOKE_H_

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include <berth/abi.h>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/guard/point.h"
#include "host/plan/instance_host.h"
#include "host/plan/plan.h"

namespace berth::host {

// The code that a function of a plugin returned, and the reasons that it added to its berth_status.
struct PluginAnswer {
  berth_code code = BERTH_SUCCESS;
  std::vector<std::string> reasons = {};

  bool ok() const { return code == BERTH_SUCCESS; }
  // The reasons, joined with ", " as kube-scheduler's Status.Message() does.
  std::string Message() const { return Join(reasons, ", "); }
};

// Returns `f()`. An exception of any language that leaves `f` calls std::terminate() here, while
// the PluginCall still names the plugin for the crash report.
template <std::invocable<> F>
auto CallOrTerminate(F&& f) noexcept {
#ifdef __OPTIMIZE__
  // Functions of plugins are declared noexcept. The call is inlined into a function with objects to
  // destroy, and std::terminate() is called for a call that the function's table does not list.
  return f();
#else
  // Without inlining, the exception would pass through functions that have no table.
  using Called = std::remove_reference_t<F>;
  using Result = std::invoke_result_t<Called&>;
  Result (*call)(Called&) = [](Called& called) -> Result { return called(); };
  asm("" : "+r"(call));
  return call(f);
#endif
}

// Calls `f(berth_status*)` and returns its answer: BERTH_BUG if it is not Success and a reason is
// NULL. Allocates only for reasons.
template <std::invocable<berth_status*> F>
PluginAnswer CallWithStatus(F&& f) {
  StatusSink sink;
  const berth_code code = CallOrTerminate([&] { return f(sink.raw()); });
  const bool is_bug = code != BERTH_SUCCESS && sink.has_null_reason();
  return {is_bug ? BERTH_BUG : code, sink.TakeReasons()};
}

// Calls `f()` inside a PluginCall and returns what it returns: for functions that belong to no
// extension point, such as callbacks.
template <std::invocable<> F>
auto Invoke(InstanceHost& host, Point point, F&& f, CallTerms terms = {}) {
  const PluginCall call(host, point, terms);
  return CallOrTerminate(f);
}

// Calls `f(instance)` inside a PluginCall and returns what it returns: for functions without a
// berth_status.
template <std::invocable<const PluginInstance&> F>
auto Invoke(const PlannedPlugin& plugin, Point point, F&& f, CallTerms terms = {}) {
  const PluginCall call(*plugin.host, point, terms);
  return CallOrTerminate([&] { return f(*plugin.instance); });
}

// Calls `f(instance, status)` inside a PluginCall and returns its answer.
template <std::invocable<const PluginInstance&, berth_status*> F>
PluginAnswer Invoke(const PlannedPlugin& plugin, Point point, F&& f, CallTerms terms = {}) {
  const PluginCall call(*plugin.host, point, terms);
  return CallWithStatus([&](berth_status* status) { return f(*plugin.instance, status); });
}

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_INVOKE_H_
