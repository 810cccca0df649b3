// What the services of every plugin instance work on.
#ifndef BERTH_HOST_RUNTIME_HOST_SERVICES_H_
#define BERTH_HOST_RUNTIME_HOST_SERVICES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <berth/abi.h>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/event/timer_queue.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/runtime/done.h"
#include "host/runtime/metric_store.h"
#include "host/runtime/plugin_ids.h"
#include "host/runtime/scheduler_requests.h"

namespace berth::host {

// The least that is logged, as plugins read it: shared, so that a thread that a plugin forgot may
// still do so when the services are gone. Threading: any.
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

// Owned by the process, shared by its instances. A pointer that is null means that the services
// which need it are not served.
// Lifetime: longer than every instance; what it points at too.
struct HostServices {
  Interner& interner;
  ObjectStore& objects;
  // Writes a line of a plugin. Threading: [any].
  std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
  SharedLogLevel log_level = BERTH_LOG_INFO;
  // Carries a task to the scheduling thread, from any. Null where plugins have no threads. What it
  // takes along lives as long as a copy of it.
  std::function<void(std::function<void()> task)> post = nullptr;
  // Who is told of every call and of every fault. Null: nobody.
  CallMonitor* monitor = nullptr;
  PluginFaults* faults = nullptr;
  // berth.nominator/1, berth.activate/1, berth.waiting/1, berth.whatif/1; evictions.
  SchedulerRequests* scheduler = nullptr;
  // berth.api/1.
  Client* client = nullptr;
  // berth.timer/1; the time limits of requests. Both or none.
  TimerQueue* timers = nullptr;
  const Clock* clock = nullptr;
  // How the queue numbers plugins: for berth.waiting/1.
  PluginIds* plugin_ids = nullptr;
  // berth.metrics/1.
  MetricStore* metrics = nullptr;
  // Of plugins that bind.
  PromiseTables promise_tables = {};
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_HOST_SERVICES_H_
