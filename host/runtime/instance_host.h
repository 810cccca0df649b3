// The host side of one plugin instance: its berth_host, and what the services keep for it.
#ifndef BERTH_HOST_RUNTIME_INSTANCE_HOST_H_
#define BERTH_HOST_RUNTIME_INSTANCE_HOST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include <berth/abi.h>

#include "host/base/interner.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/guard/point.h"
#include "host/runtime/done.h"
#include "host/runtime/host_services.h"
#include "host/runtime/service_api.h"
#include "host/runtime/service_metrics.h"
#include "host/runtime/service_objects.h"
#include "host/runtime/service_timer.h"
#include "host/runtime/service_whatif.h"

namespace berth::host {

// One bit for each word with which <berth/abi.h> states where a function is called, such as [load].
enum ThreadWord : uint32_t {
  kLoadWord = 1,
  kEventWord = 2,
  kQueueWord = 4,
  kCycleWord = 8,
  kBlockWord = 16,
  kBindWord = 32,
};

// Threading: created, begun, closed, retired and destroyed on the scheduling thread; other methods
//            as stated.
// Lifetime:  that of the instance's library, which is never unmapped: a thread of the plugin may
//            call services long after the instance was destroyed, and <berth/abi.h> promises that
//            such calls do nothing. A reload therefore leaves one InstanceHost of about 600 bytes
//            behind for every instance. The services may be destroyed earlier, and must not be used
//            once it is retired: see HostUse.
class InstanceHost {
 public:
  // `kinds`: those that the plugin declared; `library`: the path of its library; `deadline_ns`: see
  // PlanSpec::Plugin.
  InstanceHost(HostServices& services, std::string plugin, std::vector<std::string> kinds,
               std::string profile = {}, std::string library = {}, int64_t deadline_ns = 0);
  ~InstanceHost();
  InstanceHost(const InstanceHost&) = delete;
  InstanceHost& operator=(const InstanceHost&) = delete;

  // Activates the instance: activates its metric definitions and replays the existing objects to
  // its watchers. Calls the plugin under [event].
  void Begin();
  // Ends timers and watches, and answers open and later requests with CANCELLED. No callback is
  // called afterwards.
  // Called: before the instance is quiesced.
  void Close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  // Releases everything that the services keep for the instance. Service calls do nothing from now
  // on.
  // Called: when the instance is destroyed or could not be created.
  void Retire();
  bool is_retired() const { return retired_.load(std::memory_order_acquire); }
  // Returns whether threads of the pool are inside the instance, so that it cannot be destroyed. No
  // thread enters a closed one.
  bool is_busy() const { return calls_.load(std::memory_order_acquire) > 0; }

  // --- any thread ---

  const berth_host* abi() const { return &abi_; }
  HostServices& services() const { return services_; }
  // REQUIRES for plugin() and profile(): the host is not retired.
  const std::string& plugin() const { return work_->plugin; }
  const std::string& profile() const { return work_->profile; }
  // Identifies the plugin of this profile to the queue.
  PluginId id() const { return id_; }
  // Returns the id of the instance in the call monitor; 0 if it has none.
  CallMonitor::CalleeId callee() const { return callee_; }
  // Returns the deadline of the plugin's calls; 0 if it has none of its own.
  int64_t deadline_ns() const { return deadline_ns_; }
  // Returns the account that counts the instance's faults; null if faults are not counted.
  PluginFaults::Account* faults() const { return faults_.get(); }
  // The promises of the instance. The first call, which creates the table, must be on the
  // scheduling thread.
  Promises& promises();
  size_t open_promises() const { return promises_ != nullptr ? promises_->open_count() : 0; }
  // Closes all promises: see Promises::CloseAll.
  std::vector<Promises::Answer> ClosePromises();
  const berth_log* log_service() const { return &log_; }
  bool Declared(std::string_view kind) const;
  // Interns a text; the id is valid until this host is retired.
  Id Intern(std::string_view text);
  // Returns whether the plugin is being called under one of these words (ThreadWord). Always false
  // on other threads than the scheduling thread.
  bool IsCalledUnder(uint32_t words) const;
  // Counts calls on threads of the pool. REQUIRES: the caller holds a HostUse of this host and, for
  // BeginCall(), the host is not closed.
  void BeginCall() { calls_.fetch_add(1, std::memory_order_relaxed); }
  void EndCall() { calls_.fetch_sub(1, std::memory_order_release); }
  // Keeps `kept` alive as long as this host. Used for objects of a call on the pool that outlasted
  // its instance.
  void Retain(std::shared_ptr<const void> kept);
  // Logs a line of the plugin, if there is a log. REQUIRES: the host is not retired.
  void Log(uint32_t level, std::string_view text) const;
  // Counts a fault of the plugin, if faults are counted.
  void NoteFault(Point point, FaultKind kind, std::string_view what) const;

  // Counts an exception that the plugin itself reports, at the point at which it is being called.
  void NoteFaultAtCurrentPoint(std::string_view what) const;

  // --- the scheduling thread ---

  // Records that the plugin is being called at `point`, or kNoCall, and returns the previous value.
  // Does nothing on other threads.
  Point Enter(Point point);
  // The point at which the plugin is being called; kNoCall if it is not.
  Point point() const { return point_; }

  WhatIfRows& what_if() { return what_if_; }
  // REQUIRES for the methods below: it is not retired.
  ObjectWatches& watches() { return work_->watches; }
  PluginTimers& timers() { return work_->timers; }
  PluginMetrics& metrics() { return work_->metrics; }
  ApiCalls& api_calls() { return *work_->api_calls; }

  static InstanceHost& FromAbi(const berth_host* host) {
    return *static_cast<InstanceHost*>(host->impl);
  }

 private:
  friend class HostUse;

  // The objects of the services that live until the instance is retired.
  struct Work {
    Work(InstanceHost& host, std::string the_plugin, std::string the_profile,
         const std::string& library);

    const std::string plugin;
    const std::string profile;
    const std::string owner;  // The owner of its promises: library and plugin.
    ObjectWatches watches;
    PluginTimers timers;
    PluginMetrics metrics;
    std::shared_ptr<ApiCalls> api_calls;
    IdRefs ids;  // Guarded by mutex_, like `interned`: plugins intern on any thread.
    std::unordered_set<Id> interned;
  };

  HostServices& services_;
  const std::vector<std::string> kinds_;
  const PluginId id_;
  const int64_t deadline_ns_;
  const std::thread::id scheduling_thread_ = std::this_thread::get_id();
  std::shared_ptr<PluginFaults::Account> faults_;
  CallMonitor::CalleeId callee_ = 0;
  Point point_ = kNoCall;
  bool creating_ = true;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> retired_ = false;
  std::atomic<uint32_t> calls_ = 0;
  mutable std::shared_mutex uses_;      // Held shared by a HostUse on another thread.
  std::shared_ptr<Promises> promises_;  // Null: not needed yet.
  std::mutex mutex_;                    // Guards what follows.
  std::vector<std::shared_ptr<const void>> retained_;
  WhatIfRows what_if_;
  std::unique_ptr<Work> work_;  // Null: retired.
  const SharedLogLevel log_level_;
  berth_log log_;
  berth_host abi_;
};

// Access to an InstanceHost from any thread: unless the host was retired before, it is not retired,
// and its services exist, while the object lives.
// Must not: be held while a plugin is called.
class HostUse {
 public:
  explicit HostUse(const berth_host* host) : HostUse(InstanceHost::FromAbi(host)) {}
  explicit HostUse(InstanceHost& host) : host_(host) {
    // The scheduling thread needs no lock, because only this thread retires a host.
    if (std::this_thread::get_id() != host.scheduling_thread_) lock_ = std::shared_lock(host.uses_);
  }
  // Returns false if the host is retired.
  explicit operator bool() const { return !host_.is_retired(); }
  InstanceHost& operator*() const { return host_; }
  InstanceHost* operator->() const { return &host_; }

 private:
  InstanceHost& host_;
  std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_INSTANCE_HOST_H_
