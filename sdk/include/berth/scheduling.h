// Services that act on pods and time: what-if, nominations, activation, waiting pods, timers,
// random numbers.
#ifndef BERTH_SCHEDULING_H_
#define BERTH_SCHEDULING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/callback.h>
#include <berth/internal/services.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {
namespace internal {

// Collects the reasons that the host adds to a berth_status into a Status.
class StatusSink {
 public:
  StatusSink() : status_{sizeof(berth_status), 0, this, &AddOne, &AddArgument} {}
  StatusSink(const StatusSink&) = delete;
  StatusSink& operator=(const StatusSink&) = delete;

  berth_status* abi() { return &status_; }
  Status Take(berth_code code) {
    Status out(code);
    for (const std::string& reason : reasons_) out.Add(reason);
    reasons_.clear();
    return out;
  }

 private:
  static void AddOne(berth_status* self, berth_str text) noexcept {
    static_cast<StatusSink*>(self->impl)->reasons_.emplace_back(Str(text));
  }
  static void AddArgument(berth_status* self, berth_str path, berth_str text) noexcept {
    std::string reason(Str(path));
    reason.append(": ").append(Str(text));
    static_cast<StatusSink*>(self->impl)->reasons_.push_back(std::move(reason));
  }

  berth_status status_;
  std::vector<std::string> reasons_;
};

}  // namespace internal

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
  explicit operator bool() const { return bool(services_->whatif); }

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
  explicit operator bool() const { return bool(services_->nominator); }

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
  explicit operator bool() const { return bool(services_->activate); }

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
  explicit operator bool() const { return bool(services_->waiting); }

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
  explicit operator bool() const { return bool(services_->timer); }

  // Returns the monotonic time. Threading: [any].
  std::chrono::nanoseconds Now() const {
    return std::chrono::nanoseconds(services_->timer->now_ns(services_->host));
  }
  // Returns the time since 1970, on the clock of object times. Threading: [any].
  std::chrono::nanoseconds WallNow() const {
    return std::chrono::nanoseconds(services_->timer->wall_ns(services_->host));
  }
  // Calls `run` once, later, on the scheduling thread, in the order of the calls. Threading: [any].
  //   void run(berth_code code)   code: Success, or Cancelled when the instance ends first; or
  //   void run()                  called unless the instance ends first.
  // Returns Success; Cancelled when the instance has ended: `run` is not called.
  template <class F>
  Status Post(F run) const {
    using Call = internal::OnceCall<F>;
    auto kept = std::make_unique<Call>(*services_, std::move(run));
    const Status status(services_->timer->post(services_->host, &Call::Run, kept.get()));
    if (status.ok()) static_cast<void>(kept.release());
    return status;
  }
  const internal::Services& services() const { return *services_; }

 private:
  const internal::Services* services_;
};

// Random numbers that a replay of the run repeats. Threading: [cycle].
class Random {
 public:
  explicit Random(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->random); }

  // Returns the next of 2^64 equally likely numbers of this attempt: see berth_random.next.
  uint64_t Next(const Cycle& cycle) const {
    return services_->random->next(services_->host, &cycle.abi());
  }
  // Returns a number in [0, n). REQUIRES: n > 0.
  uint64_t Below(const Cycle& cycle, uint64_t n) const { return Next(cycle) % n; }

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
