// The context that all plugin instances have in common: ids, services and objects.
#ifndef BERTH_HOST_PLAN_INSTANCE_CONTEXT_H_
#define BERTH_HOST_PLAN_INSTANCE_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/kube_version.h>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/string_map.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// --- plugin ids ----------------------------------------------------------------------------------
//
// Numbers for the plugins of all profiles, stable for the life of the process.

// Threading: the scheduling thread.
class PluginIds {
 public:
  // Returns the id of a plugin of a profile; the first call for the pair assigns it. Ids are small
  // and have no gaps.
  PluginId IdOf(std::string_view scheduler_name, std::string_view plugin) {
    // schedulerName is a DNS name: it has no slash.
    std::string key = std::string(scheduler_name) + "/" + std::string(plugin);
    const auto [found, is_new] = ids_.try_emplace(std::move(key), PluginId(names_.size()));
    if (is_new) names_.emplace_back(plugin);
    return found->second;
  }
  // Returns the plugin's name, without its profile.
  // REQUIRES: IdOf() returned `id`.
  const std::string& NameOf(PluginId id) const { return names_[id]; }

 private:
  StringMap<PluginId> ids_;
  std::vector<std::string> names_;
};

// --- service -------------------------------------------------------------------------------------
//
// The services of a plugin instance as its host uses them: functions, and opaque states.

class InstanceHost;

// The state that one service keeps for one plugin instance. Only the service knows its type.
// Threading: all methods are called on the scheduling thread.
class ServiceState {
 public:
  ServiceState() = default;
  virtual ~ServiceState() = default;
  ServiceState(const ServiceState&) = delete;
  ServiceState& operator=(const ServiceState&) = delete;

  // Returns the functions of a service whose instances have functions of their own: see
  // ServiceInfo::functions.
  virtual const void* functions() const { return nullptr; }
  // Activates the instance. May call the plugin. See InstanceHost::Begin().
  virtual void Begin() {}
  // Ends everything that needs no answer, and refuses new callbacks from now on.
  // Called: when the host of the instance is closed. Must not: call the plugin.
  virtual void Stop() {}
  // Calls the remaining callbacks with CANCELLED.
  // Called: after Stop() of all services.
  virtual void Cancel() {}
  // Gives back what the plugin gave to the service, by calling functions of the plugin.
  // Called: when the instance was destroyed, before Drop(). Other threads may still use services.
  virtual void GiveBack() {}
  // Drops the remaining callbacks without a call, and refuses new ones.
  // Called: when the host is retired, also if it was not closed.
  virtual void Drop() {}
  // Ends what the plugin may only do within a call of PostFilter.
  // Called: when such a call has returned.
  virtual void EndPostFilter() {}
};

// How long the state of a service lives.
enum class StateLifetime : uint8_t {
  kInstance,  // Until the instance is retired.
  // Until the instance is retired, but for ever if threads may still be inside the instance then:
  // the plugin reads what the state holds without a call of the service.
  kReadByPlugin,
  kHost,  // As long as the InstanceHost: the functions use the state without a lock.
};

// One service of <berth/abi.h>.
struct ServiceInfo {
  std::string_view id;  // "berth.log/1"
  // The struct of functions. Null: ServiceState::functions() returns it.
  const void* functions = nullptr;
  // Returns whether the host has what the service needs; otherwise the service is UNSUPPORTED. Null
  // if the service is always served.
  bool (*is_served)(const InstanceHost& host) = nullptr;
  // Creates the state for an instance, whose host outlives it unless it is kept for ever. Null if
  // the service has no state.
  std::shared_ptr<ServiceState> (*create_state)(InstanceHost& host) = nullptr;
  StateLifetime lifetime = StateLifetime::kInstance;
};

// --- instance context ----------------------------------------------------------------------------

// The lowest level that is logged. Plugins read the word directly, also on threads that outlive the
// services; it is therefore shared. Threading: any.
class SharedLogLevel {
 public:
  SharedLogLevel(uint32_t level) : level_(std::make_shared<uint32_t>(level)) {}  // NOLINT: a value
  SharedLogLevel& operator=(uint32_t level) {
    __atomic_store_n(level_.get(), level, __ATOMIC_RELAXED);
    return *this;
  }
  uint32_t get() const { return __atomic_load_n(level_.get(), __ATOMIC_RELAXED); }
  const uint32_t* word() const { return level_.get(); }

 private:
  std::shared_ptr<uint32_t> level_;
};

// Lifetime: must outlive every instance, and so must everything that it points at.
struct InstanceContext {
  Interner& interner;
  // Every service of the host.
  // Lifetime: that of the process.
  std::span<const ServiceInfo> services;
  // The version of Kubernetes whose decisions plugins make.
  KubeVersion emulated_version = kNewestKubeVersion;
  // Receives what plugins log, with the plugin as the logger. May be null.
  LogSink* log = nullptr;
  // The level below which plugins format nothing.
  SharedLogLevel log_level = BERTH_LOG_INFO;
  // Record every call and every fault. May be null.
  CallMonitor* monitor = nullptr;
  PluginFaults* faults = nullptr;
  // If null, no call has a deadline.
  const Clock* clock = nullptr;
  // Assigns the ids of plugin instances.
  PluginIds plugin_ids = {};
  // The seed of the random numbers that plugins ask for.
  uint64_t seed = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_INSTANCE_CONTEXT_H_
