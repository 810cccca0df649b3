// One call into a plugin: who is called is on record while it lasts, so that a crash, a call that
// does not end, and what a plugin does wrong are laid at the right door.
#ifndef BERTH_HOST_RUNTIME_PLUGIN_CALL_H_
#define BERTH_HOST_RUNTIME_PLUGIN_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/base/status_sink.h"
#include "host/guard/plugin_faults.h"
#include "host/guard/point.h"

namespace berth::host {

struct CallSlot;
struct PlannedPlugin;
class CallMonitor;
class InstanceHost;

// On what terms a plugin is called. By default it must return within the deadline of its point.
struct CallTerms {
  // It may take its time: on a thread of the pool, or while it is made or destroyed.
  bool may_block = false;
  // Becomes 1 when the call is late, and what it was when it ends. Null: there is no such word, or
  // the attempt's is.
  uint32_t* cancel = nullptr;
};

// Called:    around every call of a function of an extension point; a few relaxed stores.
// Threading: the thread that calls the plugin. May be nested (a plugin that asks what-if).
class PluginCall {
 public:
  // `pod` is whom the call is about, for the report of a crash; null: the pod of the attempt, if
  // the point belongs to one.
  PluginCall(const PlannedPlugin& plugin, Point point, const berth_pod* pod = nullptr,
             CallTerms terms = {});
  // For what a plugin gave to a service: kCallback. For its instance: kLoad.
  PluginCall(InstanceHost& host, Point point);
  ~PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  // The call has outlived its host: nothing is taken off the record, which is gone too.
  void Forget();

 private:
  void Begin(InstanceHost& host, Point point, const berth_pod* pod, CallTerms terms);

  InstanceHost* host_ = nullptr;
  Point outer_point_{};
  CallMonitor* monitor_ = nullptr;
  CallSlot* slot_ = nullptr;  // Null: nobody watches.
  bool cancellable_ = false;
  uint64_t call_ = 0;
  uint64_t outer_ = 0;
  const berth_pod* outer_pod_ = nullptr;
};

// When a call that begins now is late, as berth_timer.now_ns; 0: never. Threading: any.
int64_t DeadlineNs(const PlannedPlugin& plugin, Point point);

// Counts the fault, logs it with the plugin's name (the first of a kind at once, repetitions
// rarely), and quarantines the plugin where the policy says so.
// Threading: any.
void NoteFault(const PlannedPlugin& plugin, Point point, FaultKind kind, std::string_view what);

// The fault that lies in a code which the point has no use for: an exception for BERTH_BUG, none
// for BERTH_ERROR and BERTH_CANCELLED, a bad code otherwise. Threading: any.
void NoteCode(const PlannedPlugin& plugin, Point point, berth_code code, std::string_view why);
// Why a call failed, in words, the fault that lies in it noted.
std::string WhyFailed(const PlannedPlugin& plugin, Point point, berth_code code,
                      const StatusSink& sink);

// True while the plugin is in quarantine. Then it is not asked any more: Score, PreScore,
// PostFilter are passed over; PreEnqueue holds the pod back; PreFilter, Filter, Reserve, Permit,
// PreBind and Bind fail with `why`; a hint says yes. What cannot be left out goes on: QueueSort,
// and what ends or follows what was begun (Unreserve, PostBind, Changes).
// Lifetime of `why`: the plugin's.
bool IsQuarantined(const PlannedPlugin& plugin, std::string_view* why);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLUGIN_CALL_H_
