#include "host/process/run/leadership.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "host/base/time_units.h"
#include "host/cluster/kubernetes/lease/lease_requests.h"

namespace berth::host {

// Used by the thread of the channel alone, except view().
class Leadership::Runner {
 public:
  explicit Runner(Parts parts)
      : parts_(std::move(parts)),
        requests_(*parts_.leases.transport, parts_.election.ns, parts_.election.name),
        refresh_(*parts_.leases.executor) {}

  Executor& executor() const { return *parts_.leases.executor; }

  void Start() {
    elector_.emplace(requests_, executor(), *parts_.wall, *parts_.fence, parts_.election,
                     Callbacks(), parts_.log);
    elector_->Start();
    Publish();
  }
  void Release(int64_t limit_ns, std::function<void()> done) {
    if (!elector_.has_value()) return done();
    elector_->Release(limit_ns, std::move(done));
  }
  // The lease requests refer to this object until the transport is closed.
  void End() {
    refresh_.Stop();
    elector_.reset();
    parts_.leases.transport->Close();
  }

  View view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  // Returns the callbacks of the owner, each after the state was published.
  LeaderElector::Callbacks Callbacks() {
    return {.on_started =
                [this](int64_t waited_ns) {
                  Publish();
                  if (parts_.callbacks.on_started) parts_.callbacks.on_started(waited_ns);
                },
            .on_lost =
                [this](std::string_view why) {
                  Publish();
                  if (parts_.callbacks.on_lost) parts_.callbacks.on_lost(why);
                },
            .on_new_leader = parts_.callbacks.on_new_leader,
            .last_progress_ns = parts_.callbacks.last_progress_ns,
            .on_slow_path = parts_.callbacks.on_slow_path};
  }

  void Publish() {
    View view;
    if (elector_.has_value()) {
      view.leads = elector_->leads();
      if (!view.leads) view.error = elector_->error();
      if (elector_->observed().has_value()) view.holder = elector_->observed()->holder_identity;
      if (const auto since_ns = elector_->SinceRenewalNs()) {
        view.renewed_ns = parts_.boot_ns() - *since_ns;
      }
    }
    {
      const std::lock_guard lock(mutex_);
      view_ = std::move(view);
    }
    refresh_.StartAfter(kSecond, [this] { Publish(); });
  }

  const Parts parts_;
  LeaseRequests requests_;
  OwnedTimer refresh_;
  std::optional<LeaderElector> elector_;
  mutable std::mutex mutex_;
  View view_;  // Guarded by mutex_.
};

Leadership::Leadership(Parts parts) : runner_(std::make_shared<Runner>(std::move(parts))) {}

Leadership::~Leadership() {
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> has_ended = ended->get_future();
  runner_->executor().Post([runner = runner_, ended] {
    runner->End();
    ended->set_value();
  });
  has_ended.wait();
}

void Leadership::Start() {
  runner_->executor().Post([runner = runner_] { runner->Start(); });
}

void Leadership::Release(int64_t limit_ns) {
  auto released = std::make_shared<std::promise<void>>();
  std::future<void> is_released = released->get_future();
  runner_->executor().Post([runner = runner_, released, limit_ns] {
    runner->Release(limit_ns, [released] { released->set_value(); });
  });
  is_released.wait_for(std::chrono::nanoseconds(limit_ns + kSecond));
}

Leadership::View Leadership::view() const { return runner_->view(); }

}  // namespace berth::host
