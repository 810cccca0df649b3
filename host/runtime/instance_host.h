// The host as one plugin instance sees it: berth_host, and what its services keep for it.
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

// The thread words of <berth/abi.h>, for those who ask under which one they are called.
enum ThreadWord : uint32_t {
  kLoadWord = 1,
  kEventWord = 2,
  kQueueWord = 4,
  kCycleWord = 8,
  kBlockWord = 16,
  kBindWord = 32,
};

// Threading: made, begun, closed, buried and destroyed on the scheduling thread; the rest as it
// says.
// Lifetime:  that of the instance's library, which is never unmapped: what a plugin's thread asks
// for when the instance is long gone is asked of this, and <berth/abi.h> promises that it does
// nothing. So a reload leaves one behind for every instance; but no more than it takes to answer,
// some 600 bytes. The services, which go earlier, are out of bounds once it is buried: see HostUse.
class InstanceHost {
 public:
  // `kinds` are those that the plugin declared; `library` is where it came from.
  InstanceHost(HostServices& services, std::string plugin, std::vector<std::string> kinds,
               std::string profile = {}, std::string library = {});
  ~InstanceHost();
  InstanceHost(const InstanceHost&) = delete;
  InstanceHost& operator=(const InstanceHost&) = delete;

  // The instance is there and will be used: its metrics mean what it says, its watchers are shown
  // what there is. Under [event].
  void Begin();
  // The instance is about to be quiesced. Its timers and watches end; what it still waits for is
  // answered CANCELLED; no callback goes to it any more, and what it asks for later is CANCELLED.
  void Close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  // The instance is gone, or never was: everything is given back, and from now on nothing is done
  // for anybody.
  void Bury();
  bool is_buried() const { return buried_.load(std::memory_order_acquire); }
  // Threads of the pool are in the middle of the instance: it cannot be destroyed. Of a closed one,
  // they only become fewer.
  bool is_busy() const { return calls_.load(std::memory_order_acquire) > 0; }

  // --- any thread ---

  const berth_host* abi() const { return &abi_; }
  HostServices& services() const { return services_; }
  // REQUIRES, of both: it is not buried.
  const std::string& plugin() const { return work_->plugin; }
  const std::string& profile() const { return work_->profile; }
  // How the monitor calls it; 0: nobody watches.
  CallMonitor::CalleeId callee() const { return callee_; }
  // Null: nobody counts.
  PluginFaults::Account* faults() const { return faults_.get(); }
  // Those that the instance was given; made when it is first asked for, on the scheduling thread.
  Promises& promises();
  size_t open_promises() const { return promises_ != nullptr ? promises_->open_count() : 0; }
  // Closes all of them: see Promises::CloseAll.
  std::vector<Promises::Answer> ClosePromises();
  const berth_log* log_service() const { return &log_; }
  bool Declared(std::string_view kind) const;
  // An id that lives as long as this host.
  Id Intern(std::string_view text);
  // Whether the caller is under one of these words (ThreadWord), as far as can be told at no cost:
  // another thread than the scheduling thread is under none of them, nor is who is not called.
  bool Under(uint32_t words) const;
  // A call on a thread of the pool, from before it to after it. REQUIRES: a HostUse of this one,
  // which is not closed at the beginning.
  void BeginCall() { calls_.fetch_add(1, std::memory_order_relaxed); }
  void EndCall() { calls_.fetch_sub(1, std::memory_order_release); }
  // Keeps what such a call held when its host was gone, for as long as this is there.
  void LeaveBehind(std::shared_ptr<const void> kept);
  // Counts a fault of the plugin, if anybody does.
  void NoteFault(Point point, FaultKind kind, std::string_view what) const;

  // The same for what the plugin itself says, at the point where it is called.
  void NoteFaultHere(std::string_view what) const;

  // --- the scheduling thread ---

  // The instance is called at `point`, or the call is over. Returns where it was before; nothing is
  // kept for other threads.
  Point Enter(Point point);
  // The point at which the instance is called; kNowhere: at none.
  Point point() const { return point_; }

  WhatIfRows& what_if() { return what_if_; }
  // REQUIRES, of all below: it is not buried.
  ObjectWatches& watches() { return work_->watches; }
  PluginTimers& timers() { return work_->timers; }
  PluginMetrics& metrics() { return work_->metrics; }
  ApiCalls& api_calls() { return *work_->api_calls; }

  static InstanceHost& FromAbi(const berth_host* host) {
    return *static_cast<InstanceHost*>(host->impl);
  }

 private:
  friend class HostUse;

  // What an instance works with, until it is buried.
  struct Work {
    Work(InstanceHost& host, std::string the_plugin, std::string the_profile,
         const std::string& library);

    const std::string plugin;
    const std::string profile;
    const std::string owner;  // Of promises: the plugin of this library.
    ObjectWatches watches;
    PluginTimers timers;
    PluginMetrics metrics;
    std::shared_ptr<ApiCalls> api_calls;
    IdRefs ids;  // Guarded by mutex_, as what follows: plugins intern on any thread.
    std::unordered_set<Id> interned;
  };

  HostServices& services_;
  const std::vector<std::string> kinds_;
  const std::thread::id home_ = std::this_thread::get_id();
  std::shared_ptr<PluginFaults::Account> faults_;
  CallMonitor::CalleeId callee_ = 0;
  Point point_ = kNowhere;
  bool creating_ = true;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> buried_ = false;
  std::atomic<uint32_t> calls_ = 0;
  mutable std::shared_mutex uses_;      // Shared while another thread uses it.
  std::shared_ptr<Promises> promises_;  // Null: none was given.
  std::mutex mutex_;                    // Guards what follows.
  std::vector<std::shared_ptr<const void>> left_behind_;
  WhatIfRows what_if_;
  std::unique_ptr<Work> work_;  // Null: it is buried.
  const SharedLogLevel log_level_;
  berth_log log_;
  berth_host abi_;
};

// What a service does for a plugin, from any thread: while it lasts the host and its services stay,
// unless they were gone already.
// Must not: be held while a plugin is called.
class HostUse {
 public:
  explicit HostUse(const berth_host* host) : HostUse(InstanceHost::FromAbi(host)) {}
  explicit HostUse(InstanceHost& host) : host_(host) {
    // Nobody else buries it.
    if (std::this_thread::get_id() != host.home_) lock_ = std::shared_lock(host.uses_);
  }
  // False: it is buried.
  explicit operator bool() const { return !host_.is_buried(); }
  InstanceHost& operator*() const { return host_; }
  InstanceHost* operator->() const { return &host_; }

 private:
  InstanceHost& host_;
  std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_INSTANCE_HOST_H_
