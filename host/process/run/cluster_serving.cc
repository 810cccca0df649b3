#include "host/process/run/cluster_serving.h"

#include <set>
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
constexpr int64_t kForbiddenLimitNs = kMinute;
// The pods that a note names.
constexpr size_t kMaxNamedPods = 3;

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

Health::Finding Failing(std::string why) {
  return {.status = Status::Unavailable(std::move(why)), .notes = {}};
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
  state.bindings_forbidden_ns = [&session] { return session.client().bindings_forbidden_ns(); };
  state.slow_pods = [&scheduler] {
    return scheduler.loop().queue().slow_pods().Read(kMaxNamedPods);
  };
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
                  .config =
                      [this] {
                        const std::lock_guard lock(mutex_);
                        return config_;
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
          {"profile", "plugin"})),
      slow_pods_(metrics
                     .AddGauge("berth_slow_pods",
                               "The number of pods, and of groups, that are not bound, and for "
                               "which a plugin missed its deadline in the last attempt.",
                               {})
                     .With({})) {
  AddCheck("leaderElection", {.readyz = true, .healthz = true}, &ClusterServing::CheckElection);
  AddCheck("lease", {.readyz = true}, &ClusterServing::CheckLease);
  AddCheck("sched-handler-sync", {.readyz = true}, &ClusterServing::CheckSync, true);
  AddCheck("bindings", {.readyz = true}, &ClusterServing::CheckBindings, false, 503);
  AddCheck("objects", {.readyz = true}, &ClusterServing::CheckObjects);
  AddCheck("plugins", {.readyz = true}, &ClusterServing::CheckPlugins);
  AddCheck("shutdown", {.readyz = true}, &ClusterServing::CheckShutdown, true);
  AddCheck("schedulingLoop", {.livez = true}, &ClusterServing::CheckLoop);
  metrics
      .AddGauge(
          "berth_build_info",
          "The version of Berth, and the version of Kubernetes whose kube-scheduler it decides "
          "as; always 1.",
          {"version", "emulated_version"})
      .With({options_.version, options_.emulated_version})
      .Set(1);
  metrics.AddRefresh([this] {
    const std::lock_guard lock(mutex_);
    if (!state_.has_value()) return;
    state_->refresh_metrics();
    CountFaults();
  });
}

void ClusterServing::CountFaults() {
  const std::vector<PluginFaults::Count> faults = state_->plugin_faults();
  for (const PluginFaults::Count& count : faults) {
    Counter& counter = plugin_faults_.With(
        {count.profile, count.plugin, NameOf(count.point), FaultName(count.kind)});
    if (count.count > counter.value()) counter.Add(count.count - counter.value());
  }
  using Plugin = std::pair<std::string, std::string>;  // Profile and name.
  std::set<Plugin> in_quarantine;
  for (const PluginFaults::Quarantined& plugin : state_->quarantined()) {
    in_quarantine.emplace(plugin.profile, plugin.plugin);
  }
  // A plugin that was in quarantine has faults, so that it is set to 0 again. Each is set once: a
  // read of the metrics at the same time sees no value that never was.
  std::set<Plugin> known = in_quarantine;
  for (const PluginFaults::Count& count : faults) known.emplace(count.profile, count.plugin);
  for (const Plugin& plugin : known) {
    quarantined_.With({plugin.first, plugin.second}).Set(in_quarantine.contains(plugin) ? 1 : 0);
  }
  slow_pods_.Set(static_cast<int64_t>(state_->slow_pods().count));
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

void ClusterServing::SetConfig(std::string page) {
  const std::lock_guard lock(mutex_);
  config_ = std::move(page);
}

void ClusterServing::SetStartProblem(Status problem) {
  const std::lock_guard lock(mutex_);
  start_problem_ = std::move(problem);
}

void ClusterServing::AddCheck(std::string name, HealthPaths paths, Check check, bool at_start,
                              uint32_t failure) {
  const auto run = [this, check, at_start]() -> Health::Finding {
    const std::lock_guard lock(mutex_);
    if (state_.has_value()) return (this->*check)();
    if (!at_start) return {};
    return {start_problem_.ok() ? Status::Unavailable(kStarting)
                                : start_problem_.Annotate(kStarting)};
  };
  health_.Add(std::move(name), paths, run, failure);
}

// ---- The checks ---------------------------------------------------------------------------------

Health::Finding ClusterServing::CheckSync() const {
  std::vector<std::string> findings;
  for (const WatchState& watch : state_->watches()) {
    const Status status = CheckWatch(watch);
    if (!status.ok()) findings.emplace_back(status.message());
  }
  if (findings.empty()) return {};
  return Failing(Join(findings, "; "));
}

Health::Finding ClusterServing::CheckElection() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  const int64_t age_ns = options_.boot_ns() - view.renewed_ns;
  if (!view.leads || age_ns <= options_.lease_ns + kRenewalToleranceNs) return {};
  return Failing("this process leads, but has not renewed its lease for " +
                 FormatDuration(age_ns / kSecond * kSecond));
}

Health::Finding ClusterServing::CheckLease() const {
  if (!state_->leadership) return {};
  const Leadership::View view = state_->leadership();
  if (view.leads || view.error.ok()) return {};
  return {view.error.Annotate("cannot acquire the lease")};
}

Health::Finding ClusterServing::CheckLoop() const {
  const int64_t age_ns = options_.boot_ns() - state_->last_progress_ns();
  if (age_ns <= options_.stall_limit_ns) return {};
  return Failing("the scheduling loop has made no progress for " +
                 FormatDuration(age_ns / kSecond * kSecond) +
                 "; the log names a plugin whose call is late");
}

Health::Finding ClusterServing::CheckBindings() const {
  const int64_t forbidden_ns = state_->bindings_forbidden_ns();
  if (forbidden_ns == 0) return {};
  const std::string text = "the API server has forbidden every binding for " +
                           FormatDuration(forbidden_ns / kSecond * kSecond) +
                           "; berth doctor names the missing rule";
  if (forbidden_ns < kForbiddenLimitNs) return {.status = {}, .notes = {text}};
  return Failing(text);
}

Health::Finding ClusterServing::CheckObjects() const {
  Health::Finding result;
  for (const WatchState& watch : state_->watches()) {
    const auto& [count, examples] = watch.unreadable;
    if (count == 0) continue;
    result.notes.push_back(watch.kind + ": " + CountOf(count, "object") +
                           " cannot be read as a whole, such as " + Join(examples, "; "));
  }
  return result;
}

Health::Finding ClusterServing::CheckPlugins() const {
  Health::Finding result;
  if (state_->has_stuck_call()) {
    result.notes.emplace_back(
        "a call has not ended, although it was cancelled; the log names its plugin");
  }
  for (const PluginFaults::Quarantined& plugin : state_->quarantined()) {
    result.notes.push_back(plugin.ToString());
  }
  const Sample slow = state_->slow_pods();
  if (slow.count > 0) {
    result.notes.push_back(CountOf(slow.count, "pod") +
                           " made a plugin miss its deadline at the last attempt (a group counts "
                           "as one): " +
                           Join(slow.examples, ", ") +
                           (slow.examples.size() < slow.count ? ", ..." : ""));
  }
  return result;
}

Health::Finding ClusterServing::CheckShutdown() const {
  if (!state_->is_stopping()) return {};
  return Failing("the process ends");
}

}  // namespace berth::host
