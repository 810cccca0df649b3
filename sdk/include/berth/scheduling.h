// Services that act on nodes, pods and time: node look-up, what-if, nominations, activation,
// waiting pods, timers, random numbers.
#ifndef BERTH_SCHEDULING_H_
#define BERTH_SCHEDULING_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/callback.h>
#include <berth/internal/handle.h>
#include <berth/internal/services.h>
#include <berth/internal/status_sink.h>
#include <berth/nodes.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {
// The row of a node by its name, and the place of a row in blocks.
class NodeLookup {
 public:
  // Where a row stands in a Nodes: BlockAt(block), index.
  struct Place {
    uint32_t block;
    uint32_t index;
  };

  explicit NodeLookup(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->nodes != nullptr; }

  // Returns the row of the node of this name. The row means nothing after the current call from the
  // host has returned, except within the same cycle. Threading: [event] [queue] [cycle].
  std::optional<uint32_t> Find(std::string_view name) const {
    uint32_t row = 0;
    const berth_code code = services_->nodes->find(services_->host, Str(name), &row);
    return code == BERTH_SUCCESS ? std::optional(row) : std::nullopt;
  }
  // Returns where a row stands in `in`, which the host passed to the current call; no value if the
  // row is not one of its nodes. Threading: [cycle].
  std::optional<Place> Find(const Nodes& in, uint32_t row) const {
    Place place{};
    const berth_code code =
        services_->nodes->place(services_->host, &in.abi(), row, &place.block, &place.index);
    return code == BERTH_SUCCESS ? std::optional(place) : std::nullopt;
  }

 private:
  const internal::Services* services_;
};

// Whether the rows of a what-if question are questions of their own, or one cluster.
enum class WhatIfMode : uint32_t {
  kApart = BERTH_WHATIF_APART,
  kTogether = BERTH_WHATIF_TOGETHER,
};

// A question about nodes with other pods added or removed. The destructor ends it.
//
//   berth::WhatIfQuestion question = host.what_if().Begin(cycle, rows, berth::WhatIfMode::kApart);
//   for (...) question.RemovePod(i, victim);
//   std::vector<uint8_t> codes(rows.size());
//   berth::Status status = question.RunFilters(codes);
//
// Threading: [cycle], within PostFilter.
// Lifetime:  no longer than the call of PostFilter.
class WhatIfQuestion {
 public:
  // `rows`: the number of rows of the question.
  WhatIfQuestion(const internal::Services& services, Status status, uint64_t id, std::size_t rows)
      : services_(&services), status_(std::move(status)), id_(id), rows_(rows) {}
  WhatIfQuestion(WhatIfQuestion&& other) noexcept
      : services_(other.services_),
        status_(std::move(other.status_)),
        id_(std::exchange(other.id_, 0)),
        rows_(other.rows_) {}
  WhatIfQuestion& operator=(WhatIfQuestion&&) = delete;
  ~WhatIfQuestion() {
    if (id_ != 0) services_->whatif->end(services_->host, id_);
  }

  // False when the question could not begin, and status() states why. Every other method then
  // returns an error.
  explicit operator bool() const { return id_ != 0; }
  const Status& status() const { return status_; }
  // Returns the number of rows.
  std::size_t size() const { return rows_; }
  // Remove a pod from, and add a pod to, row `i` of the question. A pod that is added must live as
  // long as the question.
  // Returns: Success; NOT_FOUND if the pod to remove is not on the row: nothing changes, and the
  // row keeps its verdict; an error if a plugin failed: from then on the row (with kTogether: every
  // row) has no verdict but ERROR.
  Status RemovePod(uint32_t i, const berth_pod& pod) {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->remove_pod(services_->host, id_, i, &pod, sink.abi()));
  }
  Status AddPod(uint32_t i, const berth_pod& pod) {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->add_pod(services_->host, id_, i, &pod, sink.abi()));
  }
  // Runs all Filters of the profile on all rows, with nominated pods of equal or higher priority
  // added, and writes the verdict of row i to codes[i].
  // Returns: Success with the reasons of the rejections, each once; BadArgument if `codes` has
  //          fewer elements than the question has rows; or another error.
  Status RunFilters(std::span<uint8_t> codes) { return Run(nullptr, 0, codes); }
  // Runs them on some rows only, and writes no other code. `selected`: ascending. `codes` has an
  // element for every row of the question here too.
  Status RunFilters(std::span<const uint32_t> selected, std::span<uint8_t> codes) {
    static constexpr uint32_t kNothing = 0;
    return Run(selected.empty() ? &kNothing : selected.data(), selected.size(), codes);
  }
  // Returns Success with the reasons for which the last run that selected row `i` rejected it; with
  // none if the row passed. A plugin that counts the reasons of many rows reads them here, because
  // RunFilters() returns each text once.
  // Returns: Conflict if no run has selected the row.
  Status ReasonsOf(uint32_t i) const {
    internal::StatusSink sink;
    return sink.Take(services_->whatif->reasons(services_->host, id_, i, sink.abi()));
  }

 private:
  Status Run(const uint32_t* selected, uint64_t n, std::span<uint8_t> codes) {
    if (id_ != 0 && codes.size() < rows_) {
      return Status(BERTH_BAD_ARGUMENT, "RunFilters expects a code for each of the " +
                                            std::to_string(rows_) + " rows, but found " +
                                            std::to_string(codes.size()));
    }
    internal::StatusSink sink;
    const berth_whatif_run run = {sizeof(run), 0, selected, n, codes.data()};
    return sink.Take(services_->whatif->run_filters(services_->host, id_, &run, sink.abi()));
  }

  const internal::Services* services_;
  Status status_;
  uint64_t id_;  // 0: there is no question.
  std::size_t rows_;
};

class WhatIf {
 public:
  explicit WhatIf(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->whatif); }

  // Begins a question about rows. The question has no value if a row has no node (NotFound), if
  // rows that are together repeat (BadArgument), outside PostFilter, and if PreFilters were left
  // out, because one returned Unresolvable or no node was left to consider (Conflict).
  WhatIfQuestion Begin(const Cycle& cycle, std::span<const uint32_t> rows, WhatIfMode mode) const {
    uint64_t question = 0;
    const berth_code code = services_->whatif->begin(services_->host, &cycle.abi(), rows.data(),
                                                     static_cast<uint32_t>(rows.size()),
                                                     static_cast<uint32_t>(mode), &question);
    return {*services_, Status(code), code == BERTH_SUCCESS ? question : 0, rows.size()};
  }
  // Returns the names of the plugins whose Filter takes part in questions of this cycle and may
  // answer differently for other pods on the row; see berth_whatif.pod_filters. No value where
  // Begin() fails.
  std::optional<std::vector<std::string>> PodFilters(const Cycle& cycle) const {
    std::vector<std::string> plugins;
    const auto add = [](void* to, berth_str plugin) noexcept {
      static_cast<std::vector<std::string>*>(to)->emplace_back(Str(plugin));
      return int32_t{1};
    };
    const berth_code code =
        services_->whatif->pod_filters(services_->host, &cycle.abi(), add, &plugins);
    return code == BERTH_SUCCESS ? std::optional(std::move(plugins)) : std::nullopt;
  }

 private:
  const internal::Services* services_;
};

// Pods that are nominated to a node and not yet on it. Clear takes effect before the next entry of
// the queue is tried: what the current call reads still has the nomination.
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
  // Calls `each(const berth_pod&, std::string_view node)` for the pods of all nodes, ordered by
  // node, in the same way.
  template <class F>
  Status ForEach(F&& each) const {
    internal::EachNamedCall<F, berth_pod> call(each);
    const Status status(services_->nominator->each(services_->host, &decltype(call)::Call, &call));
    call.Rethrow();
    return status;
  }
  Status Clear(std::string_view pod_uid) const {
    return Status(services_->nominator->clear(services_->host, Str(pod_uid)));
  }

 private:
  const internal::Services* services_;
};

// Moves pods to the active queue, before the next entry of the queue is tried; PreEnqueue still
// applies.
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

// Pods that wait on Permit. What Allow and Reject decide takes effect before the next entry of the
// queue is tried. `each` may call both.
class Waiting {
 public:
  explicit Waiting(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->waiting); }

  // Calls `each(const berth_pod&)` for each pod that waits for this plugin when ForEach() is
  // called, so that `each` may allow and reject pods. If `each` returns a bool, false stops the
  // iteration.
  template <class F>
  Status ForEach(F&& each) const {
    internal::EachCall<F, berth_pod> call(each);
    const Status status(services_->waiting->each(services_->host, &decltype(call)::Call, &call));
    call.Rethrow();
    return status;
  }
  // Withdraws this plugin's Wait for the pod. NotFound: the pod does not wait for this plugin.
  Status Allow(std::string_view pod_uid) const {
    return Status(services_->waiting->allow(services_->host, Str(pod_uid)));
  }
  Status Reject(std::string_view pod_uid, std::string_view reason) const {
    const berth_rejection rejection = {sizeof(rejection), 0, Str(pod_uid), Str(reason)};
    return Status(services_->waiting->reject(services_->host, &rejection));
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
  // Returns Success; Cancelled when the instance ends, and Conflict when 65,536 functions of the
  // instance wait already: `run` is not called.
  template <class F>
  Status Post(F run) const {
    using Call = internal::OnceCall<F>;
    const berth_timer& timer = *services_->timer;
    return Call::Pass(*services_, std::move(run),
                      [&](void* to) { return timer.post(services_->host, &Call::Run, to); });
  }
  const internal::Services& services() const { return *services_; }

 private:
  const internal::Services* services_;
};

// Work of a thread of the plugin that will post a function or make a request. While it exists, a
// simulation or a replay does not end and its virtual time stands still, up to a limit in real
// time; see berth_timer.hold. Movable only. Threading: [any], one thread at a time.
//
// Announce the work before the thread begins it, and post before the object is destroyed:
//   thread_ = std::thread([this, work = berth::PendingWork(host_.timers())] {
//     auto quotas = FetchQuotas();
//     (void)host_.timers().Post([this, quotas] { Use(quotas); });
//   });
class [[nodiscard]] PendingWork {
 public:
  // An empty object, for which nothing waits.
  PendingWork() = default;
  // The object is empty if the instance ends, or if it has 65,536 of them already.
  explicit PendingWork(Timers timers) {
    const internal::Services& services = timers.services();
    const berth_timer& timer = *services.timer;
    uint64_t hold = 0;
    if (timer.hold(services.host, &hold) == BERTH_SUCCESS) {
      hold_ = {services.host, timer.release, hold};
    }
  }

  // False if it is empty: default-constructed, moved away, or refused by the host.
  explicit operator bool() const { return bool(hold_); }

 private:
  internal::Handle<uint64_t> hold_;
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

// One timer, usually a member of the plugin. `fire` is called under [event], once per Start. It may
// start the timer again, and may destroy it.
//
// Threading: all methods use the timer without a lock, so that they are for the scheduling thread
//            alone: never for a thread of the plugin's own, nor for a [bind] on a pool thread.
class Timer {
 public:
  // Threading: as for Start.
  Timer(Timers timers, std::function<void()> fire)
      : services_(timers.services()),
        fire_(std::make_shared<const std::function<void()>>(std::move(fire))) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  // Cancels the timer. Threading: as for Cancel.
  ~Timer() { Cancel(); }

  // Returns whether the timer will fire. Threading: [load] [event] [queue] [cycle] [block] [bind].
  bool running() const { return running_; }
  // Starts the timer, or restarts it if it is running. Threading: [load] [event] [queue] [cycle]
  // [bind].
  Status Start(std::chrono::nanoseconds after) {
    Cancel();
    const Status status(services_.timer->start(services_.host, after.count(), &Fire, this, &id_));
    running_ = status.ok();
    return status;
  }
  // Stops the timer if it is running: `fire` is not called any more. Threading: [load] [event]
  // [queue] [cycle] [bind].
  void Cancel() {
    if (running_) services_.timer->cancel(services_.host, id_);
    running_ = false;
  }

 private:
  static void Fire(void* to) noexcept {
    Timer& self = *static_cast<Timer*>(to);
    self.running_ = false;
    // Copied, because the function may destroy the timer.
    const auto fire = self.fire_;
    internal::GuardVoid(self.services_, "a timer", [&] { (*fire)(); });
  }

  const internal::Services& services_;
  std::shared_ptr<const std::function<void()>> fire_;
  uint64_t id_ = 0;
  bool running_ = false;
};

}  // namespace berth

#endif  // BERTH_SCHEDULING_H_
