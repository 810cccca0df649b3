// The host side of one plugin instance: its berth_host, its calls, its promises, and the states of
// the services.
#ifndef BERTH_HOST_PLAN_INSTANCE_HOST_H_
#define BERTH_HOST_PLAN_INSTANCE_HOST_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/api/value.h"
#include "host/base/assert.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/guard/point.h"
#include "host/plan/instance_context.h"

namespace berth::host {

// --- promises ------------------------------------------------------------------------------------
//
// The host's side of berth_done: the promises that plugins get in PreBind and Bind.

// The promises of one plugin instance. A plugin may complete a promise twice, or after its answer
// has come, or after the host has stopped waiting, and none of this does harm: an id is never
// reused, and an id that is not open is ignored.
//
// Threading: any.
class Promises {
 public:
  // Identifies a promise: berth_done.id. Never 0.
  using Id = uint64_t;
  // Called at most once, on the thread that completes the promise.
  using Answer = std::function<void(berth_code code, std::vector<std::string> reasons)>;
  enum class Kind : uint8_t { kOther, kBind };

  // Returns a new promise, which is open until it is completed or closed. `answer` and what it
  // holds live as long. `kind`: kBind if the promise is for Bind.
  Id Open(Answer answer, Kind kind = Kind::kOther) {
    BERTH_ASSERT(answer != nullptr);
    const std::scoped_lock lock(mutex_);
    open_.emplace(++last_, Entry{std::move(answer), kind});
    return last_;
  }
  // Closes the promise: completing it has no effect any more. Returns false if it was completed or
  // closed before.
  bool Close(Id id) {
    // Destroyed after the lock is released: what it holds may take locks.
    Answer answer;
    const std::scoped_lock lock(mutex_);
    answer = Take(id);
    return answer != nullptr;
  }
  // Closes all promises, and waits for answers that are being called; none is called afterwards.
  // Returns the answers of the open promises, with what they keep alive.
  // Called: when the instance has been quiesced.
  std::vector<Answer> CloseAll() {
    std::vector<Answer> answers;
    const std::unique_lock answering(answering_);
    const std::scoped_lock lock(mutex_);
    answers.reserve(open_.size());
    for (auto& [id, entry] : open_) answers.push_back(std::move(entry.answer));
    open_.clear();
    return answers;
  }
  // Makes IsOpenForBind() false: the host has stopped waiting, so that the plugin must not bind the
  // pod any more. The promise stays open, so that what its answer holds lives until the plugin
  // completes it. Does nothing if it is over.
  void DisallowBind(Id id) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(id);
    if (found != open_.end()) found->second.kind = Kind::kOther;
  }

  // Completes an open promise. Does nothing if it is over. Returns false if Open() has never
  // returned this id.
  bool Complete(Id id, berth_code code, std::vector<std::string> reasons) {
    // The lock outlives the answer, so that nothing that the answer holds is destroyed after
    // CloseAll() has returned.
    const std::shared_lock answering(answering_);
    Answer answer;
    {
      const std::scoped_lock lock(mutex_);
      if (id == 0 || id > last_) return false;
      answer = Take(id);
    }
    if (answer) answer(code, std::move(reasons));
    return true;
  }
  // Returns whether it is an open promise of Bind for which binding is allowed.
  bool IsOpenForBind(Id id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(id);
    return found != open_.end() && found->second.kind == Kind::kBind;
  }

  size_t open_count() const {
    const std::scoped_lock lock(mutex_);
    return open_.size();
  }

 private:
  struct Entry {
    Answer answer;
    Kind kind;
  };

  // Removes and returns the answer; empty if the promise is over. REQUIRES: mutex_ is held.
  Answer Take(Id id) {
    auto node = open_.extract(id);
    return node.empty() ? nullptr : std::move(node.mapped().answer);
  }

  std::shared_mutex answering_;  // Held shared while an answer is called.
  mutable std::mutex mutex_;     // Guards what follows.
  std::unordered_map<Id, Entry> open_;
  Id last_ = 0;
};

// --- instance host -------------------------------------------------------------------------------

// One bit for each word with which <berth/abi.h> states where a function is called, such as [load].
enum ThreadWord : uint32_t {
  kLoadWord = 1,
  kEventWord = 2,
  kQueueWord = 4,
  kCycleWord = 8,
  kBlockWord = 16,
  kBindWord = 32,
};

// Which function of a plugin is called.
struct CalledFunction {
  Point point = kNoCall;
  const berth_cycle* cycle = nullptr;  // The cycle that is passed to the function; null: none.
  // The words (ThreadWord) under which the function is called; 0: those of the point.
  uint32_t words = 0;
};

// The library of an instance.
struct InstanceLibrary {
  std::string path = {};
  const void* id = nullptr;  // Tells libraries apart, and the contents of one.
};

// Threading: created, begun, closed, retired and destroyed on the scheduling thread; other methods
//            as stated.
// Lifetime:  that of the instance's library, which is never unmapped: a thread of the plugin may
//            call services long after the instance was destroyed, and <berth/abi.h> promises that
//            such calls do nothing. A reload therefore leaves one InstanceHost of about 1,250 bytes
//            behind for every instance that it replaces, with the states whose lifetime is
//            StateLifetime::kHost. The context may be destroyed earlier, and must not be used once
//            it is retired: see HostUse.
class InstanceHost : private HostBase {
 public:
  // `kinds`: those that the plugin declared; `deadline_ns`: see PlanSpec::Plugin.
  InstanceHost(InstanceContext& context, std::string plugin, std::vector<std::string> kinds,
               std::string profile = {}, InstanceLibrary library = {}, int64_t deadline_ns = 0);
  ~InstanceHost();

  // Activates the instance: activates its metric definitions and replays the existing objects to
  // its watchers. Calls the plugin under [event].
  void Begin();
  // Ends timers and watches, and calls what the instance posted, and the answers of its open
  // requests, with CANCELLED. Services take no new callbacks from then on, also not within these
  // calls; everything else is served until Retire(). No callback is called afterwards.
  // Called: before the instance is quiesced, also if it never began.
  void Close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  // Releases everything that the services keep for the instance. Service calls do nothing from now
  // on, and return CANCELLED, 0 or NULL, or CONFLICT under a wrong word. If the host was not
  // closed, its timers, posts and requests are dropped without a call. `is_busy`: the instance is
  // never destroyed, because a thread of the pool was inside it when it was closed. What the
  // instance may read (ids, objects, values and selectors) is kept for ever then: that thread, and
  // threads of the plugin, may still use it.
  // Called: when the instance was destroyed, or is never destroyed, or create() failed.
  void Retire(bool is_busy = false);
  bool is_retired() const { return retired_.load(std::memory_order_acquire); }
  // Returns whether threads of the pool are inside the instance, so that it cannot be destroyed. No
  // thread enters a closed one, but one that is inside may leave at any time: the caller asks once,
  // and treats the instance as busy until its end if it was busy then.
  bool is_busy() const { return calls_.load(std::memory_order_acquire) > 0; }

  // --- any thread ---

  const berth_host* abi() const { return &abi_; }
  InstanceContext& context() const { return context_; }
  // REQUIRES for plugin(), profile() and Declared(): the host is not retired.
  const std::string& plugin() const { return live_->plugin; }
  const std::string& profile() const { return live_->profile; }
  // Identifies the plugin of this profile to the queue.
  PluginId id() const { return id_; }
  // Returns InstanceLibrary::id.
  const void* library_id() const { return library_id_; }
  // Returns the id of the instance in the call monitor; 0 if it has none.
  CallMonitor::CalleeId callee() const { return callee_; }
  // Returns the deadline of the plugin's calls; 0 if it has none of its own.
  int64_t deadline_ns() const { return deadline_ns_; }
  // Returns the account that counts the instance's faults; null if faults are not counted.
  PluginFaults::Account* faults() const { return faults_; }
  // Callbacks that may outlive this host keep a weak reference.
  const std::shared_ptr<Promises>& promises() const { return promises_; }
  // Returns a state, by the index of its service among those of InstanceContext::services that have
  // one. REQUIRES: the host is not retired or the lifetime of the state is
  // StateLifetime::kHost.
  ServiceState& state(size_t index) const { return *states_[index]; }
  // Sets the functions of a service: see berth_host.get_service. Returns SUCCESS, NOT_FOUND or
  // UNSUPPORTED. REQUIRES: the host is not retired.
  berth_code FindService(std::string_view id, const void** functions) const;
  bool Declared(std::string_view kind) const;
  // Returns whether the plugin may read this column: of objects, only those of declared kinds.
  bool MayUseColumn(std::string_view name) const;
  bool IsOnSchedulingThread() const { return std::this_thread::get_id() == scheduling_thread_; }
  // Returns whether the plugin is being called under one of these words (ThreadWord). Always false
  // on other threads than the scheduling thread, and when the host is retired.
  bool IsCalledUnder(uint32_t words) const;
  // Counts calls on threads of the pool. REQUIRES: the caller holds a HostUse of this host and, for
  // BeginCall(), the host is not closed.
  void BeginCall() { calls_.fetch_add(1, std::memory_order_relaxed); }
  void EndCall() { calls_.fetch_sub(1, std::memory_order_release); }
  // Keeps `kept` alive as long as this host. Used for objects of a call on the pool that outlasted
  // its instance.
  void Retain(std::shared_ptr<const void> kept);
  // Writes a record of the plugin, if there is a log. REQUIRES: the host is not retired.
  void Log(uint32_t level, std::string_view message, std::span<const LogField> fields = {}) const;
  // Counts a fault of the plugin, if faults are counted.
  void NoteFault(Point point, FaultKind kind, std::string_view what) const;
  // Counts an exception that the plugin itself reports, at the point at which it is being called.
  void NoteFaultAtCurrentPoint(std::string_view what) const;

  // --- the scheduling thread ---

  // The point at which the plugin is being called; kNoCall if it is not.
  Point point() const { return called_.point; }
  // The cycle that was passed to the call in progress; null if there is none.
  const berth_cycle* cycle() const { return called_.cycle; }
  // Returns whether the plugin was ever called with a cycle: whether it took part in a decision.
  bool has_decided() const { return has_decided_; }
  // Why the host does not use a plugin: "expected <expected>, found <found>".
  struct Rejection {
    std::string expected;
    std::string found;
  };
  // Rejects the plugin that is being created, because of a service call that it must not make.
  // Keeps the first rejection.
  void Reject(Rejection rejection);
  // Why the plugin was rejected; null if it was not. REQUIRES: the host is not retired.
  const Rejection* rejection() const { return live_->rejection.get(); }

  static InstanceHost& FromAbi(const berth_host* host) {
    return *static_cast<InstanceHost*>(static_cast<HostBase*>(host->impl));
  }

 private:
  friend class FaultLimit;
  friend class HostUse;
  friend class PluginCall;

  // The members that are released when the host is retired.
  struct Live {
    std::string plugin;
    std::string profile;
    std::vector<std::string> kinds;
    std::shared_ptr<PluginFaults::Account> faults = nullptr;
    std::unique_ptr<const Rejection> rejection = nullptr;
  };

  // Records which function of the plugin is being called, and returns what Leave() restores. Both
  // do nothing on other threads.
  CalledFunction Enter(const CalledFunction& function);
  // Records that the call has ended.
  void Leave(const CalledFunction& outer);
  // From now on counts one fault at most at each point: none at those in `*counted`, to which it
  // adds the others. Null: counts every fault. Returns the previous value. See FaultLimit.
  std::set<Point>* LimitFaults(std::set<Point>* counted) {
    return std::exchange(counted_faults_, counted);
  }
  // Calls a function of every state, in the order of the services.
  void ForEachState(void (ServiceState::*function)());

  InstanceContext& context_;
  const PluginId id_;
  const int64_t deadline_ns_;
  const void* const library_id_;
  const std::thread::id scheduling_thread_ = std::this_thread::get_id();
  PluginFaults::Account* faults_ = nullptr;  // Live::faults.
  CallMonitor::CalleeId callee_ = 0;
  CalledFunction called_;
  std::set<Point>* counted_faults_ = nullptr;  // See LimitFaults().
  bool creating_ = true;
  bool has_decided_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> retired_ = false;
  std::atomic<uint32_t> calls_ = 0;
  mutable std::shared_mutex uses_;  // Held shared by a HostUse on another thread.
  const std::shared_ptr<Promises> promises_ = std::make_shared<Promises>();
  std::mutex mutex_;  // Guards retained_.
  std::vector<std::shared_ptr<const void>> retained_;
  std::unique_ptr<Live> live_;  // Null: retired.
  // The states in the order of their services. Null: the host is retired.
  std::vector<std::shared_ptr<ServiceState>> states_;
  berth_host abi_;
};

// Limits the faults that the scheduling thread counts for an instance, while the object lives.
class FaultLimit {
 public:
  // `counted`: the points at which a fault was counted; must outlive the object.
  FaultLimit(InstanceHost& host, std::set<Point>& counted)
      : host_(host), outer_(host.LimitFaults(&counted)) {}
  ~FaultLimit() { host_.LimitFaults(outer_); }
  FaultLimit(const FaultLimit&) = delete;
  FaultLimit& operator=(const FaultLimit&) = delete;

 private:
  InstanceHost& host_;
  std::set<Point>* const outer_;
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

#endif  // BERTH_HOST_PLAN_INSTANCE_HOST_H_
