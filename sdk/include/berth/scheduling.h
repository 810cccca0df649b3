// Services that act on pods and time: what-if, nominations, activation, waiting pods, timers.
#ifndef BERTH_SCHEDULING_H_
#define BERTH_SCHEDULING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/callback.h>
#include <berth/internal/services.h>
#include <berth/internal/status_sink.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {
// A private copy of one node on which pods can be added and removed, with clones of the state that
// AddPod and RemovePod change.
//
// Threading: [cycle].
class WhatIfRow {
 public:
  WhatIfRow(const internal::Services& services, berth_whatif_row* row)
      : services_(&services), row_(row) {}
  WhatIfRow(WhatIfRow&& other) noexcept
      : services_(other.services_), row_(std::exchange(other.row_, nullptr)) {}
  WhatIfRow& operator=(WhatIfRow&&) = delete;
  ~WhatIfRow() {
    if (row_ != nullptr) services_->whatif->end(row_);
  }

  // False when the host returned no row. No other method may then be called.
  explicit operator bool() const { return row_ != nullptr; }
  Status RemovePod(const berth_pod& pod) {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->remove_pod(row_, &pod, sink.abi()));
  }
  Status AddPod(const berth_pod& pod) {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->add_pod(row_, &pod, sink.abi()));
  }
  // Runs all Filters of the profile, with nominated pods of equal or higher priority added.
  Status RunFilters() {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->run_filters(row_, sink.abi()));
  }

 private:
  const internal::Services* services_;
  berth_whatif_row* row_;
};

class WhatIf {
 public:
  explicit WhatIf(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->whatif != nullptr; }

  WhatIfRow Begin(const Cycle& cycle, uint32_t row) const {
    berth_whatif_row* out = nullptr;
    const berth_code code = services_->whatif->begin(services_->host, &cycle.abi(), row, &out);
    return {*services_, code == BERTH_SUCCESS ? out : nullptr};
  }

 private:
  const internal::Services* services_;
};

// Pods that are nominated to a node and not yet on it.
class Nominator {
 public:
  explicit Nominator(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->nominator != nullptr; }

  // Calls `each(const berth_pod&)` for each pod. If `each` returns a bool, false stops the
  // iteration.
  template <class F>
  Status ForEach(std::string_view node, F&& each) const {
    internal::EachCall<F, berth_pod> call(each);
    const Status status(
        services_->nominator->list(services_->host, Str(node), &decltype(call)::Call, &call));
    call.Rethrow();
    return status;
  }
  Status Clear(std::string_view pod_uid) const {
    return Status(services_->nominator->clear(services_->host, Str(pod_uid)));
  }

 private:
  const internal::Services* services_;
};

// Moves pods to the active queue; PreEnqueue still applies.
class Activate {
 public:
  explicit Activate(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->activate != nullptr; }

  Status Pods(std::span<const std::string_view> uids) const {
    std::vector<berth_str> texts;
    texts.reserve(uids.size());
    for (const std::string_view uid : uids) texts.push_back(Str(uid));
    return Status(services_->activate->activate(services_->host, texts.data(), texts.size()));
  }
  Status Pod(std::string_view uid) const { return Pods({&uid, 1}); }

 private:
  const internal::Services* services_;
};

// Pods that wait on Permit.
class Waiting {
 public:
  explicit Waiting(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->waiting != nullptr; }

  // Calls `each(const berth_pod&)` for each pod. If `each` returns a bool, false stops the
  // iteration.
  template <class F>
  Status ForEach(F&& each) const {
    internal::EachCall<F, berth_pod> call(each);
    const Status status(services_->waiting->each(services_->host, &decltype(call)::Call, &call));
    call.Rethrow();
    return status;
  }
  // Withdraws this plugin's Wait for the pod.
  Status Allow(std::string_view pod_uid) const {
    return Status(services_->waiting->allow(services_->host, Str(pod_uid)));
  }
  Status Reject(std::string_view pod_uid, std::string_view reason) const {
    return Status(services_->waiting->reject(services_->host, Str(pod_uid), Str(reason)));
  }

 private:
  const internal::Services* services_;
};

class Timers {
 public:
  explicit Timers(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->timer != nullptr; }

  // Returns the monotonic time. Threading: [any].
  std::chrono::nanoseconds Now() const {
    return std::chrono::nanoseconds(services_->timer->now_ns(services_->host));
  }
  // Returns the time since 1970, on the clock of object times. Threading: [any].
  std::chrono::nanoseconds WallNow() const {
    return std::chrono::nanoseconds(services_->timer->wall_ns(services_->host));
  }
  const internal::Services& services() const { return *services_; }

 private:
  const internal::Services* services_;
};

// One timer, usually a member of the plugin. `fire` is called on the scheduling thread once per
// Start. The destructor cancels the timer.
class Timer {
 public:
  Timer(Timers timers, std::function<void()> fire)
      : services_(timers.services()), fire_(std::move(fire)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { Cancel(); }

  bool running() const { return running_; }
  // Starts the timer, or restarts it if it is running.
  Status Start(std::chrono::nanoseconds after) {
    Cancel();
    const Status status(services_.timer->start(services_.host, after.count(), &Fire, this, &id_));
    running_ = status.ok();
    return status;
  }
  void Cancel() {
    if (running_) services_.timer->cancel(services_.host, id_);
    running_ = false;
  }

 private:
  static void Fire(void* to) noexcept {
    Timer& self = *static_cast<Timer*>(to);
    self.running_ = false;
    internal::GuardVoid(self.services_, "a timer", [&] { self.fire_(); });
  }

  const internal::Services& services_;
  std::function<void()> fire_;
  uint64_t id_ = 0;
  bool running_ = false;
};

}  // namespace berth

#endif  // BERTH_SCHEDULING_H_
