// One call into a plugin: who is called is on record while it lasts, so that a crash, a call that
// does not end, and what a plugin does wrong are laid at the right door.
#ifndef BERTH_HOST_RUNTIME_PLUGIN_CALL_H_
#define BERTH_HOST_RUNTIME_PLUGIN_CALL_H_

#include <cstdint>
#include <string_view>

#include <berth/abi.h>

#include "host/runtime/plugin_faults.h"
#include "host/runtime/point.h"

namespace berth::host {

struct CallSlot;
struct PlannedPlugin;
class CallMonitor;
class InstanceHost;

// Called:    around every call of a function of an extension point; a few relaxed stores.
// Threading: the thread that calls the plugin. May be nested (a plugin that asks what-if).
class PluginCall {
 public:
  // `pod` is whom the call is about, for the report of a crash; null: the pod of the attempt, if
  // the point belongs to one.
  PluginCall(const PlannedPlugin& plugin, Point point, const berth_pod* pod = nullptr);
  // For what a plugin gave to a service: kCallback.
  PluginCall(InstanceHost& host, Point point);
  ~PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

 private:
  void Begin(InstanceHost& host, Point point, const berth_pod* pod, bool may_block);

  InstanceHost* host_ = nullptr;
  Point outer_point_{};
  CallMonitor* monitor_ = nullptr;
  CallSlot* slot_ = nullptr;  // Null: nobody watches.
  uint64_t call_ = 0;
  uint64_t outer_ = 0;
  const berth_pod* outer_pod_ = nullptr;
};

// Counts the fault, logs it with the plugin's name (the first of a kind at once, repetitions
// rarely), and quarantines the plugin where the policy says so.
// Threading: any.
void NoteFault(const PlannedPlugin& plugin, Point point, FaultKind kind, std::string_view what);

// The fault that lies in a code which the point has no use for: an exception for BERTH_BUG, none
// for BERTH_ERROR and BERTH_CANCELLED, a bad code otherwise. Threading: any.
void NoteCode(const PlannedPlugin& plugin, Point point, berth_code code, std::string_view why);

// True while the plugin is in quarantine. Then it is not asked any more: Score, PreScore, PostFilter
// are passed over; PreEnqueue holds the pod back; PreFilter, Filter, Reserve, Permit, PreBind and
// Bind fail with `why`; a hint says yes. What cannot be left out goes on: QueueSort, and what ends
// or follows what was begun (Unreserve, PostBind, Changes).
// Lifetime of `why`: the plugin's.
bool IsQuarantined(const PlannedPlugin& plugin, std::string_view* why);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLUGIN_CALL_H_
