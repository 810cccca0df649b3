// The service berth.timer/1.
#include "host/runtime/services/service_timer.h"

#include <algorithm>

#include "host/runtime/instance_host.h"
#include "host/runtime/invoke.h"
#include "host/runtime/services/services.h"
#include "host/runtime/work_limits.h"

namespace berth::host {
namespace {

constexpr uint32_t kTimerWords = kLoadWord | kEventWord | kQueueWord | kCycleWord | kBindWord;

int64_t NowNs(const berth_host* host) noexcept {
  const HostUse instance(host);
  return instance ? instance->services().clock->NowNs() : 0;
}

berth_code StartTimer(const berth_host* host, int64_t after_ns, PluginTimers::Fire fire, void* to,
                      uint64_t* timer) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!instance.IsCalledUnder(kTimerWords)) return BERTH_CONFLICT;
  if (fire == nullptr) return BERTH_BAD_ARGUMENT;
  return instance.timers().Start(after_ns, fire, to, timer);
}

berth_code CancelTimer(const berth_host* host, uint64_t timer) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kTimerWords)) return BERTH_CONFLICT;
  return instance.timers().Cancel(timer) ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code Post(const berth_host* host, Posts::Run run, void* to) noexcept {
  const HostUse instance(host);
  return instance ? instance->posts().Add(run, to) : BERTH_CANCELLED;
}

// One clock serves now_ns and wall_ns. It starts with the wall clock at the start of the process
// and never goes back.
constexpr berth_timer kTimer{sizeof(berth_timer), 0, NowNs, NowNs, StartTimer, CancelTimer, Post};

}  // namespace

const berth_timer* TimerService() { return &kTimer; }

// ---- PluginTimers -------------------------------------------------------------------------------

berth_code PluginTimers::Start(int64_t after_ns, Fire fire, void* to, TimerQueue::Id* timer) {
  if (open_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
  const int64_t now = host_.services().clock->NowNs();
  const int64_t after = std::clamp<int64_t>(after_ns, 0, INT64_MAX - now);
  // The callback needs the timer's id, which is known only after Start().
  auto self = std::make_shared<TimerQueue::Id>(0);
  *self = host_.services().timers->Start(now + after, [this, self, fire, to] {
    open_.erase(*self);
    Invoke(host_, kCallback, [&] { fire(to); });
  });
  open_.insert(*self);
  *timer = *self;
  return BERTH_SUCCESS;
}

bool PluginTimers::Cancel(TimerQueue::Id timer) {
  return open_.erase(timer) != 0 && host_.services().timers->Cancel(timer);
}

void PluginTimers::Close() {
  for (const TimerQueue::Id timer : open_) host_.services().timers->Cancel(timer);
  open_.clear();
}

}  // namespace berth::host
