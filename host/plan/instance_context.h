// The objects that the hosts of all plugin instances share.
#ifndef BERTH_HOST_PLAN_INSTANCE_CONTEXT_H_
#define BERTH_HOST_PLAN_INSTANCE_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <span>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/plan/plugin_ids.h"
#include "host/plan/service.h"

namespace berth::host {

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
