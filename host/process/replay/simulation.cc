#include "host/process/replay/simulation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/control_plane/admission.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"

namespace berth::host {
namespace {

// How long a plugin may take to complete a binding that it completes later.
constexpr int64_t kBindDeadlineNs = kMinute;

PodOutcome WithoutResult(const QueuedEntity& entity, const PodRef& pod) {
  if (entity.gate != nullptr) {
    return {pod, entity.gate->code, Join(entity.gate->reasons, ", "), ""};
  }
  return {pod, BERTH_WAIT, entity.attempts == 0 ? "not tried yet" : "not bound yet", ""};
}

constexpr std::string_view kTrialNamespace = "default";

// Returns two empty nodes, so that nodes are scored, and a pod for each profile.
std::string TrialCluster(std::span<const PlanSpec> specs) {
  nlohmann::json items;
  for (const char* name : {"a", "b"}) {
    items.push_back(
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", name}}},
         {"status", {{"allocatable", {{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}}}}}});
  }
  for (const PlanSpec& spec : specs) {
    items.push_back({{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", {{"name", spec.scheduler_name}, {"namespace", kTrialNamespace}}},
                     {"spec",
                      {{"schedulerName", spec.scheduler_name},
                       {"containers", nlohmann::json::array({{{"name", "c"}}})}}}});
  }
  const nlohmann::json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  return DumpJson(list);
}

// Returns the error of the attempt to place the pod; "" if there is none.
std::string TrialError(SchedulingLoop& loop, const PodRef& pod) {
  const QueuedEntity* queued = loop.queue().Find(pod->uid());
  if (queued != nullptr && queued->place == QueuePlace::kGated) {
    return queued->gate->code == BERTH_ERROR ? Join(queued->gate->reasons, ", ") : "";
  }
  const CycleResult result = loop.CycleFor(*pod)->Decide(pod);
  return result.code() == BERTH_ERROR ? result.failure->message : "";
}

// Puts the server in front of an error that does not name it.
Status WithServer(const Status& error, const std::string& server) {
  return error.message().find(server) == std::string::npos ? error.Annotate(server) : error;
}

}  // namespace

Simulation::Simulation(SchedulerOptions options, int64_t now_ns, std::function<int64_t()> steady_ns,
                       const HostConfig& host)
    : clock_(now_ns),
      steady_ns_(std::move(steady_ns)),
      deadlines_(DeadlinesOf(host)),
      scheduler_(Complete(std::move(options), host)) {
  SetWaitLimits({});
}

SchedulerOptions Simulation::Complete(SchedulerOptions options, const HostConfig& host) {
  options.loop.clock = &clock_;
  options.loop.sink = this;
  options.loop.waker = &waker_;
  ApplyHostFile(host, options.loop);
  options.loop.bind_deadline_ns = host.bind_deadline_ns.value_or(kBindDeadlineNs);
  return options;
}

Status Simulation::Start() {
  Status status = scheduler_.Start();
  if (status.ok()) scheduler_.host().StartWatchdog(deadlines_, steady_ns_);
  return status;
}

void Simulation::SetWaitLimits(WaitLimits limits) {
  limits.steady_ns = steady_ns_;
  scheduler_.SetWaitLimits(limits);
}

Simulation::End Simulation::Run(const std::function<void()>& progress,
                                const std::atomic<int>& stop) {
  while (true) {
    const bool is_at_rest = scheduler_.AtRest();
    if (is_at_rest) {
      if (const auto end = EndUnlessAwaited(End::kAtRest)) {
        if (TryParkedAgain(stop)) continue;
        return *end;
      }
    }
    if (stop.load(std::memory_order_relaxed) != 0) return End::kStopped;
    if (scheduler_.IsRunaway()) return End::kLimitReached;
    const bool is_stalled = !is_at_rest && scheduler_.IsStalled();
    if (is_stalled) {
      if (const auto end = EndUnlessAwaited(End::kNoProgress)) {
        if (TryParkedAgain(stop)) continue;
        return *end;
      }
    }
    // While it is stalled, only plugins can change anything: no pod is tried.
    if (is_stalled ? scheduler_.Settle() : scheduler_.Step()) {
      if (progress) progress();
      if (scheduler_.BusyAdvanceNs() == 0) continue;
    }
    if (scheduler_.WaitForAnnouncedWork(waker_) || scheduler_.WaitForThreads(waker_)) continue;
    std::optional<int64_t> next = is_stalled ? scheduler_.NextTimerNs() : scheduler_.NextStepNs();
    const int64_t now_ns = clock_.NowNs();
    const int64_t busy_ns = scheduler_.BusyAdvanceNs();
    if (busy_ns > 0) next = now_ns + busy_ns;
    if (next.has_value()) {
      clock_.AdvanceTo(std::max(*next, now_ns));
    } else if (!is_at_rest) {
      return End::kAtRest;
    }
  }
}

std::optional<Simulation::End> Simulation::EndUnlessAwaited(End end) const {
  switch (scheduler_.Awaited()) {
    case PluginWait::Awaited::kNothing: return end;
    case PluginWait::Awaited::kPlugins: return std::nullopt;
    case PluginWait::Awaited::kLimitReached: return End::kLimitReached;
  }
  return end;
}

bool Simulation::TryParkedAgain(const std::atomic<int>& stop) {
  if (stop.load(std::memory_order_relaxed) != 0 || scheduler_.IsRunaway()) return false;
  return scheduler_.TryParkedAgain();
}

void Simulation::OnBound(const PodRef& pod, std::string_view node) {
  Record(pod, BERTH_SUCCESS, "", node);
}

void Simulation::OnFailed(const PodRef& pod, std::string_view, const Failure& failure) {
  Record(pod, failure.code, failure.message, "");
}

void Simulation::OnSkipped(const PodRef& pod, std::string_view message) {
  Record(pod, BERTH_SKIP, message, "");
}

void Simulation::Record(const PodRef& pod, berth_code code, std::string_view message,
                        std::string_view node) {
  const auto [place, is_new] = outcome_of_.try_emplace(std::string(pod->uid()), outcomes_.size());
  if (is_new) outcomes_.emplace_back();
  PodOutcome& outcome = outcomes_[place->second];
  outcome = {pod, code, std::string(message), std::string(node)};
}

std::vector<PodOutcome> Simulation::TakeOutcomes() {
  std::vector<PodOutcome> others;
  loop().queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      if (!outcome_of_.contains(pod->uid())) others.push_back(WithoutResult(entity, pod));
    });
  });
  std::ranges::sort(others, {}, [](const PodOutcome& outcome) { return outcome.pod->Key(); });
  std::ranges::move(others, std::back_inserter(outcomes_));
  outcome_of_.clear();
  return std::exchange(outcomes_, {});
}

LiveRequest LiveRequestFor(const KindUsers& users, bool reads_policies) {
  LiveRequest request;
  request.kinds.assign(users.declared().begin(), users.declared().end());
  request.needed_by = [&users](std::string_view kind) {
    const std::string users_of_kind = users.Of(KindsOf(std::string(kind)).front());
    return users_of_kind.empty() ? "the admission of new pods" : users_of_kind;
  };
  if (!reads_policies) return request;
  for (const std::string_view kind : Admission::Kinds()) {
    const bool is_read = std::ranges::any_of(request.kinds, [kind](const std::string& declared) {
      const auto versions = KindsOf(declared);
      return std::ranges::find(versions, kind) != versions.end();
    });
    if (!is_read) request.kinds.emplace_back(kind);
  }
  return request;
}

std::vector<std::string> AddLiveObjects(LiveObjects live, LocalCluster& cluster) {
  std::vector<std::string> warnings = std::move(live.warnings);
  for (AnyObject& object : live.objects) {
    const Status status = cluster.Add(std::move(object));
    if (!status.ok()) warnings.emplace_back(status.message());
  }
  return warnings;
}

Result<std::vector<std::string>> LoadLiveCluster(const LiveClusterRequest& request,
                                                 const KindUsers& users, LocalCluster& cluster) {
  const Result<ClusterAccess> access = FindClusterAccess(request.target, {});
  if (!access.ok()) return access.status();
  TransportObserver observer;
  const auto connection = OpenConnection(request.target, *access, {}, observer, *request.log);
  if (!connection.ok()) return connection.status();
  const Channel reads = (*connection)->reads();
  LiveRequest lists = LiveRequestFor(users, request.reads_policies);
  lists.progress = request.progress;
  const Decoder& decoder = cluster.decoder();
  Result<LiveObjects> live = ReadLiveObjects(decoder.interner(), decoder.options(),
                                             *reads.transport, *reads.executor, std::move(lists));
  if (!live.ok()) return WithServer(live.status(), access->endpoint.server.ToString());
  std::vector<std::string> warnings = access->warnings;
  for (std::string& warning : AddLiveObjects(std::move(live).value(), cluster)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

// ---- TryProfiles --------------------------------------------------------------------------------

Result<std::vector<std::string>> TryProfiles(std::shared_ptr<const PluginSet> plugins,
                                             std::span<const PlanSpec> specs,
                                             KubeVersion emulated_version,
                                             std::function<int64_t()> steady_ns,
                                             const ReportCrashes& report_crashes) {
  SchedulerOptions options;
  options.loop.emulated_version = emulated_version;
  options.plugins = std::move(plugins);
  options.profiles.assign(specs.begin(), specs.end());
  options.report_crashes = report_crashes;
  Simulation trial(std::move(options), 0, std::move(steady_ns));
  Status status = trial.cluster().AddManifest("trial", TrialCluster(specs));
  if (status.ok()) status = trial.Start();
  if (!status.ok()) return status;
  std::vector<std::string> errors;
  for (const PlanSpec& spec : specs) {
    const EmbeddedCluster& cluster = trial.cluster().objects();
    errors.push_back(
        TrialError(trial.loop(), cluster.FindPod(kTrialNamespace, spec.scheduler_name)));
  }
  return errors;
}

}  // namespace berth::host
