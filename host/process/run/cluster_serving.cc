#include "host/process/run/cluster_serving.h"

#include <utility>

#include "host/base/text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

constexpr std::string_view kStarting = "the scheduler has not started";

std::string WhyNotSynced(const WatchState& watch) {
  switch (watch.state) {
    case Reflector::State::kDiscovering:
      return "the API server has not answered yet whether it serves the kind";
    case Reflector::State::kWaiting: return "the first list failed and will be tried again";
    case Reflector::State::kListing:
    case Reflector::State::kWatching:
    case Reflector::State::kNotServed: break;
  }
  return "the first list is under way (" + std::to_string(watch.objects) + " objects so far)";
}

// Joins the messages of the errors, one per line.
class Findings {
 public:
  void Add(const Status& status) {
    if (!status.ok()) lines_.emplace_back(status.message());
  }
  Status ToStatus() const {
    return lines_.empty() ? Status() : Status::Unavailable(Join(lines_, "; "));
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

Status CheckWatch(const WatchState& watch) {
  if (watch.state == Reflector::State::kNotServed) return {};
  if (!watch.error.ok()) return watch.error.Annotate(watch.kind);
  if (watch.is_synced) return {};
  return Status::Unavailable(watch.kind + ": " + WhyNotSynced(watch));
}

ClusterServing::ClusterServing(MetricTable& metrics, Options options)
    : options_(std::move(options)),
      health_(metrics),
      endpoints_({.health = &health_,
                  .metrics = &metrics,
                  .plugin_metrics =
                      [this] {
                        const std::lock_guard lock(mutex_);
                        return state_.plugin_metrics ? state_.plugin_metrics() : std::string();
                      },
                  .set_log_level = [this](std::string_view level) { return SetLogLevel(level); }}) {
  AddCheck("leaderElection", {.readyz = true, .healthz = true}, &ClusterServing::CheckElection);
  AddCheck("lease", {.readyz = true}, &ClusterServing::CheckLease);
  AddCheck("sched-handler-sync", {.readyz = true}, &ClusterServing::CheckSync);
  AddCheck("plugins", {.readyz = true}, &ClusterServing::CheckPlugins);
  AddCheck("shutdown", {.readyz = true}, &ClusterServing::CheckShutdown);
  AddCheck("schedulingLoop", {.livez = true}, &ClusterServing::CheckLoop);
  metrics.AddRefresh([this] {
    const std::lock_guard lock(mutex_);
    if (state_.refresh_metrics) state_.refresh_metrics();
  });
}

Status ClusterServing::Listen(std::string_view address, Log log) {
  auto server = HttpServer::Listen(
      address, HttpLimits(),
      [this](const ServedRequest& request) { return Answer(request); }, options_.steady_ns, log);
  if (!server.ok()) return std::move(server).status();
  server_ = std::move(server).value();
  return {};
}

void ClusterServing::SetState(ServedState state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

void ClusterServing::AddCheck(std::string name, HealthPaths paths, Check check) {
  health_.Add(std::move(name), paths, [this, check] {
    const std::lock_guard lock(mutex_);
    return (this->*check)();
  });
}

// ---- The checks ---------------------------------------------------------------------------------

Status ClusterServing::CheckSync() const {
  if (!state_.watches) return Status::Unavailable(std::string(kStarting));
  Findings findings;
  for (const WatchState& watch : state_.watches()) {
    findings.Add(CheckWatch(watch));
  }
  return findings.ToStatus();
}

Status ClusterServing::CheckElection() const {
  if (!state_.leadership || options_.renewal_limit_ns == 0) return {};
  const Leadership::View view = state_.leadership();
  if (!view.leads) return {};
  const int64_t age_ns = options_.boot_ns() - view.renewed_ns;
  if (age_ns <= options_.renewal_limit_ns) return {};
  return Status::Unavailable("this process leads, but has not renewed its lease for " +
                             FormatDuration(age_ns / kSecond * kSecond));
}

Status ClusterServing::CheckLease() const {
  if (!state_.leadership || options_.renewal_limit_ns == 0) return {};
  const Leadership::View view = state_.leadership();
  if (view.leads || view.error.ok()) return {};
  return view.error.Annotate("cannot acquire the lease");
}

Status ClusterServing::CheckLoop() const {
  if (!state_.last_progress_ns) return {};
  const int64_t age_ns = options_.boot_ns() - state_.last_progress_ns();
  if (age_ns <= options_.stall_limit_ns) return {};
  return Status::Unavailable("the scheduling loop has made no progress for " +
                             FormatDuration(age_ns / kSecond * kSecond) +
                             "; the log names a plugin whose call is late");
}

Status ClusterServing::CheckPlugins() const {
  Findings findings;
  if (state_.has_stuck_call && state_.has_stuck_call()) {
    findings.Add(Status::Unavailable(
        "a call has not ended, although it was cancelled; the log names its plugin"));
  }
  if (!state_.quarantined) return findings.ToStatus();
  for (const PluginFaults::Quarantined& plugin : state_.quarantined()) {
    findings.Add(Status::Unavailable(plugin.plugin + " of the profile " + plugin.profile +
                                     " is in quarantine: " + plugin.why));
  }
  return findings.ToStatus();
}

Status ClusterServing::SetLogLevel(std::string_view level) const {
  const std::lock_guard lock(mutex_);
  if (!state_.set_log_level) return Status::Unavailable(std::string(kStarting));
  return state_.set_log_level(level);
}

Status ClusterServing::CheckShutdown() const {
  if (!state_.is_stopping) return Status::Unavailable(std::string(kStarting));
  return state_.is_stopping() ? Status::Unavailable("the process ends") : Status();
}

}  // namespace berth::host
