// The service berth.timer/1.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

#include <berth/abi.h>

#include "host/event/timer_queue.h"
#include "host/plan/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// The timers of one instance, and the functions that it has posted: berth_timer.post.
// Threading: the scheduling thread, except Post().
// Lifetime:  owned by its InstanceHost; others hold it only while a task runs.
class PluginTimers final : public ServiceState, public std::enable_shared_from_this<PluginTimers> {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kTimer;
  using Fire = void (*)(void* to) BERTH_NOEXCEPT;
  using Run = void (*)(void* to, berth_code code) BERTH_NOEXCEPT;

  explicit PluginTimers(InstanceHost& host) : host_(host) {}

  // Returns the code of the service: SUCCESS, which sets `*timer`; CONFLICT if kMaxWaitingWork
  // timers of the instance have not ended.
  berth_code StartTimer(int64_t after_ns, Fire fire, void* to, TimerQueue::Id* timer);
  // Returns false if it is no open timer of this instance.
  bool CancelTimer(TimerQueue::Id timer);
  // Lets the scheduling thread call `run` later, in the order of the calls. Returns the code of the
  // service: SUCCESS; BAD_ARGUMENT without `run`; CANCELLED after Stop(); CONFLICT if
  // kMaxWaitingWork functions wait. Threading: any.
  berth_code Post(Run run, void* to);

  void Stop() override;
  void Cancel() override;
  void Drop() override;

 private:
  struct Posted {
    Run run;
    void* to;
  };

  void RunNext();
  void Call(const Posted& posted, berth_code code);

  InstanceHost& host_;
  std::unordered_set<TimerQueue::Id> open_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<Posted> posted_;
  bool stopped_ = false;
};

berth_code PluginTimers::StartTimer(int64_t after_ns, Fire fire, void* to, TimerQueue::Id* timer) {
  if (open_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
  const int64_t now = ServicesOf(host_).clock->NowNs();
  const int64_t after = std::clamp<int64_t>(after_ns, 0, INT64_MAX - now);
  // The callback needs the timer's id, which is known only after Start().
  auto self = std::make_shared<TimerQueue::Id>(0);
  *self = ServicesOf(host_).timers->Start(now + after, [this, self, fire, to] {
    open_.erase(*self);
    Invoke(host_, kCallback, [&] { fire(to); });
  });
  open_.insert(*self);
  *timer = *self;
  return BERTH_SUCCESS;
}

bool PluginTimers::CancelTimer(TimerQueue::Id timer) {
  return open_.erase(timer) != 0 && ServicesOf(host_).timers->Cancel(timer);
}

berth_code PluginTimers::Post(Run run, void* to) {
  if (run == nullptr) return BERTH_BAD_ARGUMENT;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return BERTH_CANCELLED;
    if (posted_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
    posted_.push_back({run, to});
  }
  // Each task calls the oldest function, so that the order of the tasks does not matter.
  ServicesOf(host_).inbox->Push([weak = weak_from_this()] {
    if (const auto timers = weak.lock()) timers->RunNext();
  });
  return BERTH_SUCCESS;
}

void PluginTimers::RunNext() {
  Posted next{};
  {
    const std::scoped_lock lock(mutex_);
    if (posted_.empty()) return;
    next = posted_.front();
    posted_.pop_front();
  }
  Call(next, BERTH_SUCCESS);
}

void PluginTimers::Call(const Posted& posted, berth_code code) {
  Invoke(host_, kCallback, [&] { posted.run(posted.to, code); });
}

void PluginTimers::Stop() {
  for (const TimerQueue::Id timer : open_) ServicesOf(host_).timers->Cancel(timer);
  open_.clear();
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
}

void PluginTimers::Cancel() {
  std::deque<Posted> rest;
  {
    const std::scoped_lock lock(mutex_);
    rest.swap(posted_);
  }
  for (const Posted& posted : rest) Call(posted, BERTH_CANCELLED);
}

void PluginTimers::Drop() {
  Stop();
  const std::scoped_lock lock(mutex_);
  posted_.clear();
}

// ---- The functions ------------------------------------------------------------------------------

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

// One clock serves now_ns and wall_ns. It starts with the wall clock at the start of the process
// and never goes back.
constexpr berth_timer kTimer{sizeof(berth_timer), 0, NowNs, NowNs, StartTimer, CancelTimer, Post};

bool HasTimers(const InstanceHost& host) {
  const HostServices& services = ServicesOf(host);
  return services.timers != nullptr && services.clock != nullptr && services.inbox != nullptr;
}

}  // namespace

ServiceInfo TimerService() {
  return {.id = BERTH_SERVICE_TIMER,
          .functions = &kTimer,
          .is_served = HasTimers,
          .create_state = CreateState<PluginTimers>};
}

}  // namespace berth::host
