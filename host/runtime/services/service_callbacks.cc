// berth.objects/1 and berth.timer/1, which call the plugin back.
#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/plan/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// --- berth.objects/1 -----------------------------------------------------------------------------

// The watches of one instance.
// Threading: the scheduling thread.
class ObjectWatches final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kObjects;
  using Change = void (*)(void* to, const berth_object_change* change) noexcept;

  explicit ObjectWatches(InstanceHost& host) : host_(host) {}
  ~ObjectWatches() override { Unwatch(); }

  // Adds a watcher. `change` is called from Begin() on.
  void Add(std::string_view kind, Change change, void* to) {
    ids_.push_back(ServicesOf(host_).objects.Watch(
        kind, [this, change, to](const ObjectChange& what) { Show(change, to, what); }));
  }
  void Begin() override {
    for (const ObjectStore::WatcherId id : ids_) ServicesOf(host_).objects.Replay(id);
  }
  void Stop() override { Unwatch(); }
  void Drop() override { Unwatch(); }

 private:
  void Unwatch() {
    for (const ObjectStore::WatcherId id : ids_) ServicesOf(host_).objects.Unwatch(id);
    ids_.clear();
  }
  void Show(Change change, void* to, const ObjectChange& what) {
    const berth_object* const old = what.old != nullptr ? &what.old->view() : nullptr;
    const berth_object* const now = what.now != nullptr ? &what.now->view() : nullptr;
    const berth_object_change view{.struct_size = sizeof(view),
                                   .flags = what.existed ? uint32_t{BERTH_OBJECT_FLAG_REPLAY} : 0,
                                   .kind = (now != nullptr ? now : old)->kind,
                                   .reserved = 0,
                                   .old = old,
                                   .now = now};
    Invoke(host_, kCallback, [&] { change(to, &view); });
  }

  InstanceHost& host_;
  std::vector<ObjectStore::WatcherId> ids_;
};

// Objects may be looked up wherever the scheduling thread calls a plugin, except in a block.
constexpr uint32_t kLookWords = kEventWord | kQueueWord | kCycleWord | kBindWord;

// Returns SUCCESS if the plugin may read objects of the kind in the call in progress.
berth_code MayLook(const InstanceHost& instance, berth_str kind) {
  if (!instance.IsCalledUnder(kLookWords)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) return BERTH_BAD_ARGUMENT;
  return ServicesOf(instance).objects.IsAvailable(Text(kind)) ? BERTH_SUCCESS : BERTH_UNSUPPORTED;
}

// Reports a look-up of the plugin to the owner of the services. `is_need`: the plugin needs what it
// looks up.
void NoteLookUp(const InstanceHost& instance, berth_str kind, bool is_need) {
  HostServices& services = ServicesOf(instance);
  if (services.needs == nullptr) return;
  ObjectNeeds::Use& use = services.needs->OnLookUp(Text(kind), instance.plugin(), is_need);
  const berth_cycle* const cycle = instance.cycle();
  if (!is_need || !use.pod.empty() || cycle == nullptr) return;
  const berth_meta& meta = *cycle->pod->meta;
  use.pod.append(services.interner.Text(meta.ns)).append(1, '/').append(Text(meta.name));
}

berth_code GetObject(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                     const berth_object** object) noexcept {
  *object = nullptr;
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (const berth_code code = MayLook(instance, kind); code != BERTH_SUCCESS) return code;
  // No object has an empty name.
  NoteLookUp(instance, kind, name.len > 0);
  const ObjectRef found = ServicesOf(instance).objects.Get(Text(kind), Text(ns), Text(name));
  if (found == nullptr) return BERTH_NOT_FOUND;
  *object = &found->view();
  return BERTH_SUCCESS;
}

berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                       int32_t (*each)(void*, const berth_object*) noexcept, void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (const berth_code code = MayLook(instance, kind); code != BERTH_SUCCESS) return code;
  NoteLookUp(instance, kind, true);
  ServicesOf(instance).objects.List(Text(kind), Text(ns), [&](const ObjectRef& object) {
    return each(to, &object->view()) != 0;
  });
  return BERTH_SUCCESS;
}

berth_code IsServed(const berth_host* host, berth_str kind) noexcept {
  return MayLook(InstanceHost::FromAbi(host), kind);
}

berth_code WatchObjects(const berth_host* host, berth_str kind, ObjectWatches::Change change,
                        void* to) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
  if (!instance.Declared(Text(kind))) {
    const std::string expected = WhyNotDeclarable(Text(kind));
    // A plugin that watches pods or nodes would otherwise wait for them without an error.
    if (!expected.empty()) instance.Reject({"a watch of " + expected, Quoted(Text(kind))});
    return BERTH_BAD_ARGUMENT;
  }
  if (change == nullptr) return BERTH_BAD_ARGUMENT;
  StateOf<ObjectWatches>(instance).Add(Text(kind), change, to);
  if (ObjectNeeds* const needs = ServicesOf(instance).needs) {
    needs->OnWatch(Text(kind), instance.plugin());
  }
  return BERTH_SUCCESS;
}

constexpr berth_objects kObjects{sizeof(berth_objects), 0,        GetObject,
                                 ListObjects,           IsServed, WatchObjects};

// --- berth.timer/1 -------------------------------------------------------------------------------

// The timers of one instance, the functions that it has posted (berth_timer.post), and its holds.
// Threading: the scheduling thread, except Post(), Hold() and Release().
// Lifetime:  owned by its InstanceHost; others hold it only while a task runs.
class PluginTimers final : public ServiceState, public std::enable_shared_from_this<PluginTimers> {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kTimer;
  using Fire = void (*)(void* to) BERTH_NOEXCEPT;
  using Run = void (*)(void* to, berth_code code) BERTH_NOEXCEPT;

  explicit PluginTimers(InstanceHost& host) : host_(host) {}

  // Returns the code of the service: SUCCESS, which sets `*timer`; CONFLICT if kMaxWaitingWork
  // timers of the instance have not ended.
  berth_code StartTimer(int64_t after_ns, Fire fire, void* to, TimerQueue::Id* timer) {
    if (open_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
    const int64_t now = ServicesOf(host_).clock->NowNs();
    const int64_t after = std::clamp<int64_t>(after_ns, 0, INT64_MAX - now);
    // The callback needs the timer's id, which is known only after Start().
    auto self = std::make_shared<TimerQueue::Id>(0);
    *self = ServicesOf(host_).timers->Start(now + after, [this, self, fire, to] {
      Forget(open_.find(*self));
      work().OnCalledByItself();
      Invoke(host_, kCallback, [&] { fire(to); });
    });
    open_.emplace(*self, now + after);
    work().OnTimerStarted(host_.id(), now + after);
    *timer = *self;
    return BERTH_SUCCESS;
  }
  // Returns false if it is no open timer of this instance.
  bool CancelTimer(TimerQueue::Id timer) {
    const auto open = open_.find(timer);
    if (open == open_.end()) return false;
    Forget(open);
    return ServicesOf(host_).timers->Cancel(timer);
  }
  // Lets the scheduling thread call `run` later, in the order of the calls. Returns the code of the
  // service: SUCCESS; BAD_ARGUMENT without `run`; CANCELLED after Stop(); CONFLICT if
  // kMaxWaitingWork functions wait. Threading: any.
  berth_code Post(Run run, void* to) {
    if (run == nullptr) return BERTH_BAD_ARGUMENT;
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return BERTH_CANCELLED;
      if (posted_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
      posted_.push_back({run, to, PosterHere()});
    }
    // Each task calls the oldest function, so that the order of the tasks does not matter.
    ServicesOf(host_).inbox->Push([weak = weak_from_this()] {
      if (const auto timers = weak.lock()) timers->RunNext();
    });
    return BERTH_SUCCESS;
  }

  // Returns the code of the service: SUCCESS, which sets `*hold`; CANCELLED after Stop(); CONFLICT
  // if there are kMaxWaitingWork holds. Threading: any.
  berth_code Hold(uint64_t* hold) {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return BERTH_CANCELLED;
    if (holds_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
    *hold = work().Hold(host_.id());
    holds_.insert(*hold);
    return BERTH_SUCCESS;
  }
  // Returns false if it is no hold of this instance, and Stop() was not called. Threading: any.
  bool Release(uint64_t hold) {
    const std::scoped_lock lock(mutex_);
    if (holds_.erase(hold) == 0) return stopped_;
    work().Release(hold);
    return true;
  }

  void Stop() override {
    while (!open_.empty()) CancelTimer(open_.begin()->first);
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const uint64_t hold : holds_) work().Release(hold);
    holds_.clear();
  }
  void Cancel() override {
    std::deque<Posted> rest;
    {
      const std::scoped_lock lock(mutex_);
      rest.swap(posted_);
    }
    for (const Posted& posted : rest) Call(posted, BERTH_CANCELLED);
  }
  void Drop() override {
    Stop();
    const std::scoped_lock lock(mutex_);
    posted_.clear();
  }

 private:
  enum class Poster : uint8_t { kItself, kAnnouncedThread, kOtherThread };
  struct Posted {
    Run run;
    void* to;
    Poster poster;
  };
  using OpenTimers = std::unordered_map<TimerQueue::Id, int64_t>;  // When they are due.

  PluginWork& work() const { return *ServicesOf(host_).work; }
  // REQUIRES: the caller holds mutex_.
  Poster PosterHere() const {
    if (host_.IsOnSchedulingThread()) return Poster::kItself;
    return holds_.empty() ? Poster::kOtherThread : Poster::kAnnouncedThread;
  }
  // The timer has ended. `open` must be in open_.
  void Forget(OpenTimers::iterator open) {
    work().OnTimerEnded(host_.id(), open->second);
    open_.erase(open);
  }

  void RunNext() {
    Posted next{};
    {
      const std::scoped_lock lock(mutex_);
      if (posted_.empty()) return;
      next = posted_.front();
      posted_.pop_front();
    }
    if (next.poster == Poster::kItself) work().OnCalledByItself();
    if (next.poster == Poster::kAnnouncedThread) work().OnCalledByThread();
    Call(next, BERTH_SUCCESS);
  }
  void Call(const Posted& posted, berth_code code) {
    Invoke(host_, kCallback, [&] { posted.run(posted.to, code); });
  }

  InstanceHost& host_;
  OpenTimers open_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<Posted> posted_;
  std::unordered_set<uint64_t> holds_;
  bool stopped_ = false;
};

constexpr uint32_t kTimerWords = kLoadWord | kEventWord | kQueueWord | kCycleWord | kBindWord;

int64_t NowNs(const berth_host* host) noexcept {
  const HostUse instance(host);
  return instance ? instance->context().clock->NowNs() : 0;
}

berth_code StartTimer(const berth_host* host, int64_t after_ns, PluginTimers::Fire fire, void* to,
                      uint64_t* timer) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!instance.IsCalledUnder(kTimerWords)) return BERTH_CONFLICT;
  if (fire == nullptr) return BERTH_BAD_ARGUMENT;
  return StateOf<PluginTimers>(instance).StartTimer(after_ns, fire, to, timer);
}

berth_code CancelTimer(const berth_host* host, uint64_t timer) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kTimerWords)) return BERTH_CONFLICT;
  const bool was_open = StateOf<PluginTimers>(instance).CancelTimer(timer);
  return was_open ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code Post(const berth_host* host, PluginTimers::Run run, void* to) noexcept {
  const HostUse instance(host);
  return instance ? StateOf<PluginTimers>(*instance).Post(run, to) : BERTH_CANCELLED;
}

berth_code Hold(const berth_host* host, uint64_t* hold) noexcept {
  const HostUse instance(host);
  return instance ? StateOf<PluginTimers>(*instance).Hold(hold) : BERTH_CANCELLED;
}

void Release(const berth_host* host, uint64_t hold) noexcept {
  const HostUse instance(host);
  if (!instance || StateOf<PluginTimers>(*instance).Release(hold)) return;
  instance->NoteFaultAtCurrentPoint("released hold " + std::to_string(hold) +
                                    ", which it does not have");
}

// One clock serves now_ns and wall_ns. It starts with the wall clock at the start of the process
// and never goes back.
constexpr berth_timer kTimer{sizeof(berth_timer), 0,    NowNs, NowNs,  StartTimer,
                             CancelTimer,         Post, Hold,  Release};

bool HasTimers(const InstanceHost& host) {
  const HostServices& services = ServicesOf(host);
  return services.timers != nullptr && services.clock != nullptr && services.inbox != nullptr &&
         services.work != nullptr;
}

}  // namespace

std::span<const ServiceInfo> CallbackServices() {
  static const std::array services{ServiceInfo{.id = BERTH_SERVICE_OBJECTS,
                                               .functions = &kObjects,
                                               .create_state = CreateState<ObjectWatches>},
                                   ServiceInfo{.id = BERTH_SERVICE_TIMER,
                                               .functions = &kTimer,
                                               .is_served = HasTimers,
                                               .create_state = CreateState<PluginTimers>}};
  return services;
}

}  // namespace berth::host
