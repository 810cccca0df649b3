#include "host/process/run/cluster_serving.h"

#include <utility>

#include "host/base/metrics.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/run/cluster_driver.h"

namespace berth::host {
namespace {

constexpr const char* kStarting = "the scheduler has not started";
constexpr int64_t kRenewalToleranceNs = 20 * kSecond;

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

Status Findings(const std::vector<std::string>& findings) {
  return findings.empty() ? Status() : Status::Unavailable(Join(findings, "; "));
}

}  // namespace

Status CheckWatch(const WatchState& watch) {
  if (watch.state == Reflector::State::kNotServed) return {};
  if (!watch.error.ok()) return watch.error.Annotate(watch.kind);
  if (watch.is_synced) return {};
  return Status::Unavailable(watch.kind + ": " + WhyNotSynced(watch));
}

ServedState ServedStateOf(ClusterSession& session, const SchedulerHost& scheduler,
                          const ClusterDriver& driver, const Leadership* leadership,
                          ClientMetrics& metrics) {
  ServedState state;
  state.watches = [&session] { return session.client().Watches(); };
  if (leadership != nullptr) state.leadership = [leadership] { return leadership->view(); };
  state.quarantined = [&scheduler] { return scheduler.loop().faults().InQuarantine(); };
  state.plugin_faults = [&scheduler] { return scheduler.loop().faults().Counts(); };
  state.has_stuck_call = [&scheduler] { return scheduler.HasStuckCall(); };
  state.last_progress_ns = [&driver] { return driver.last_progress_ns(); };
  state.is_stopping = [&driver] { return driver.is_ending(); };
  state.plugin_metrics = [&scheduler] { return ToText(scheduler.loop().metrics().Read()); };
  state.refresh_metrics = [&session, &metrics] {
    const KubernetesClient& client = session.client();
    metrics.Update({.watches = client.Watches(),
                    .pods = client.pod_counts(),
                    .events = client.event_counts(),
                    .fence_refusals = session.fence().refusals()});
  };
  state.set_log_level = [&session](std::string_view level) { return session.SetLogLevel(level); };
  return state;
}

ClusterServing::ClusterServing(MetricTable& metrics, Options options)
    : options_(std::move(options)),
      health_(metrics),
      endpoints_({.health = &health_,
                  .metrics = &metrics,
                  .plugin_metrics =
                      [this] {
                        const std::lock_guard lock(mutex_);
                        return state_.has_value() ? state_->plugin_metrics() : std::string();
                      },
                  .set_log_level =
                      [this](std::string_view level) {
                        const std::lock_guard lock(mutex_);
                        return state_.has_value() ? state_->set_log_level(level)
                                                  : Status::Unavailable(kStarting);
                      }}),
      plugin_faults_(metrics.AddCounter("berth_plugin_faults_total",
                                        "The number of calls of a plugin that were late, threw an "
                                        "exception or gave a wrong answer.",
                                        {"profile", "plugin", "point", "kind"})),
      quarantined_(metrics.AddGauge(
          "berth_plugin_quarantined",
          "1 while a plugin is not called, because it failed for many pods, otherwise 0.",
          {"profile", "plugin"})) {
  AddCheck("leaderElection", {.readyz = true, .healthz = true}, &ClusterServing::CheckElection);
  AddCheck("lease", {.readyz = true}, &ClusterServing::CheckLease);
  AddCheck("sched-handler-sync", {.readyz = true}, &ClusterServing::CheckSync, true);
  AddCheck("plugins", {.readyz = true}, &ClusterServing::CheckPlugins);
  AddCheck("shutdown", {.readyz = true}, &ClusterServing::CheckShutdown, true);
  AddCheck("schedulingLoop", {.livez = true}, &ClusterServing::CheckLoop);
  metrics.AddGauge("berth_build_info", "The version of Berth; always 1.", {"version"})
      .With({options_.version})
      .Set(1);
  metrics.AddRefresh([this] {
    const std::lock_guard lock(mutex_);
    if (!state_.has_value()) return;
    state_->refresh_metrics();
    CountFaults();
  });
}

void ClusterServing::CountFaults() {
  for (const PluginFaults::Count& count : state_->plugin_faults()) {
    Counter& counter = plugin_faults_.With(
        {count.profile, count.plugin, NameOf(count.point), FaultName(count.kind)});
    if (count.count > counter.value()) counter.Add(count.count - counter.value());
    quarantined_.With({count.profile, count.plugin}).Set(0);
  }
  for (const PluginFaults::Quarantined& plugin : state_->quarantined()) {
    quarantined_.With({plugin.profile, plugin.plugin}).Set(1);
  }
}

Status ClusterServing::Listen(std::string_view address, Log log) {
  auto server = HttpServer::Listen(
      address, HttpLimits(), [this](const ServedRequest& request) { return Answer(request); },
      options_.steady_ns, log);
  if (!server.ok()) return std::move(server).status();
  server_ = std::move(server).value();
  return {};
}

void ClusterServing::SetState(std::optional<ServedState> state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

void ClusterServing::SetStartProblem(Status problem) {
  const std::lock_guard lock(mutex_);
  start_problem_ = std::move(problem);
}

void ClusterServing::AddCheck(std::string name, HealthPaths paths, Check check, bool at_start) {
  health_.Add(std::move(name), paths, [this, check, at_start]() -> Status {
    const std::lock_guard lock(mutex_);
    if (state_.has_value()) return (this->*check)();
    if (!at_start) return {};
    return start_problem_.ok() ? Status::Unavailable(kStarting)
                               : start_problem_.Annotate(kStarting);
  });
}

// ---- The checks ---------------------------------------------------------------------------------

Status ClusterServing::CheckSync() const {
  std::vector<std::string> findings;
  for (const WatchState& watch : state_->watches()) {
    const Status status = CheckWatch(watch);
    if (!status.ok()) findings.emplace_back(status.message());
  }
  return Findings(findings);
}

Status ClusterServing::CheckElection() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  const int64_t age_ns = options_.boot_ns() - view.renewed_ns;
  if (!view.leads || age_ns <= options_.lease_ns + kRenewalToleranceNs) return {};
  return Status::Unavailable("this process leads, but has not renewed its lease for " +
                             FormatDuration(age_ns / kSecond * kSecond));
}

Status ClusterServing::CheckLease() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  if (view.leads || view.error.ok()) return {};
  return view.error.Annotate("cannot acquire the lease");
}

Status ClusterServing::CheckLoop() const {
  const int64_t age_ns = options_.boot_ns() - state_->last_progress_ns();
  if (age_ns <= options_.stall_limit_ns) return {};
  return Status::Unavailable("the scheduling loop has made no progress for " +
                             FormatDuration(age_ns / kSecond * kSecond) +
                             "; the log names a plugin whose call is late");
}

Status ClusterServing::CheckPlugins() const {
  std::vector<std::string> findings;
  if (state_->has_stuck_call()) {
    findings.emplace_back(
        "a call has not ended, although it was cancelled; the log names its plugin");
  }
  for (const PluginFaults::Quarantined& plugin : state_->quarantined()) {
    findings.push_back(plugin.plugin + " of the profile " + plugin.profile +
                       " is in quarantine for " + FormatDuration(plugin.pause_ns) + ": " +
                       plugin.why);
  }
  return Findings(findings);
}

Status ClusterServing::CheckShutdown() const {
  return state_->is_stopping() ? Status::Unavailable("the process ends") : Status();
}

}  // namespace berth::host
