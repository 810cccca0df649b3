#include "host/process/run/leadership.h"

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "host/base/time_units.h"
#include "host/process/run/lease_event.h"

namespace berth::host {
// Used by the thread of the channel alone, except view().
class Leadership::Runner {
 public:
  explicit Runner(Options options)
      : options_(std::move(options)),
        requests_(*options_.leases.transport, options_.election.ns, options_.election.name),
        refresh_(*options_.leases.executor) {}

  Executor& executor() const { return *options_.leases.executor; }

  void Start() {
    elector_.emplace(requests_, executor(), *options_.wall, *options_.fence, options_.election,
                     Callbacks(), options_.log);
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
    options_.leases.transport->Close();
  }

  View view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  LeaderElector::Callbacks Callbacks() {
    return {.on_started = [this](int64_t) { OnStarted(); },
            .on_lost = [this](std::string_view why) { OnLost(why); },
            .on_new_leader = {},
            .last_progress_ns = options_.last_progress_ns,
            .on_slow_path = [this] { options_.metrics->slow_path.With({Lease()}).Add(); }};
  }
  const std::string& Lease() const { return options_.election.name; }

  void OnStarted() {
    Publish();
    options_.metrics->leader.With({Lease()}).Set(1);
    options_.write_event(
        LeadingEvent(options_.election, options_.scheduler, options_.wall->NowNs()));
    options_.on_started();
  }
  void OnLost(std::string_view why) {
    Publish();
    options_.metrics->leader.With({Lease()}).Set(0);
    options_.on_lost(why);
  }

  void Publish() {
    View view;
    if (elector_.has_value()) {
      view.leads = elector_->leads();
      if (!view.leads) view.error = elector_->error();
      if (elector_->observed().has_value()) view.holder = elector_->observed()->holder_identity;
      if (const auto since_ns = elector_->SinceRenewalNs()) {
        view.renewed_ns = options_.boot_ns() - *since_ns;
      }
    }
    {
      const std::lock_guard lock(mutex_);
      view_ = std::move(view);
    }
    refresh_.StartAfter(kSecond, [this] { Publish(); });
  }

  const Options options_;
  LeaseRequests requests_;
  OwnedTimer refresh_;
  std::optional<LeaderElector> elector_;
  mutable std::mutex mutex_;
  View view_;  // Guarded by mutex_.
};

Leadership::Leadership(Options options) : runner_(std::make_shared<Runner>(std::move(options))) {}

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
