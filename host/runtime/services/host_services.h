// The objects that the services of all plugin instances use.
#ifndef BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_
#define BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_

#include <cstdint>
#include <memory>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/runtime/plugin_ids.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/scheduler_requests.h"

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

// Owned by the process and shared by all instances. The services that need a null pointer are not
// served.
// Lifetime: must outlive every instance, and so must everything that it points at.
struct HostServices {
  Interner& interner;
  ObjectStore& objects;
  // Receives what plugins log, with the plugin as the logger. May be null.
  LogSink* log = nullptr;
  // The level below which plugins format nothing.
  SharedLogLevel log_level = BERTH_LOG_INFO;
  // Passes requests that plugins make on their own threads, and the client's answers, to the
  // scheduling thread. If null, both are processed on the thread on which they arrive.
  Inbox* inbox = nullptr;
  // Record every call and every fault. May be null.
  CallMonitor* monitor = nullptr;
  PluginFaults* faults = nullptr;
  // berth.nodes/1, berth.nominator/1, berth.activate/1, berth.waiting/1, berth.whatif/1; evictions.
  SchedulerRequests* scheduler = nullptr;
  // berth.api/1.
  DecisionWriter* client = nullptr;
  // berth.timer/1, which also needs the inbox, and the time limits of requests. Both or neither.
  TimerQueue* timers = nullptr;
  const Clock* clock = nullptr;
  // Assigns the ids of plugin instances.
  PluginIds plugin_ids = {};
  // berth.metrics/1.
  MetricStore* metrics = nullptr;
  // berth.random/1.
  uint64_t seed = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_HOST_SERVICES_H_
