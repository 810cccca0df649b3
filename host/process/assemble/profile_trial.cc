#include "host/process/assemble/profile_trial.h"

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/assemble/cluster_files.h"
#include "host/process/assemble/scheduler_host.h"

namespace berth::host {
namespace {

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
  SchedulingCycle& cycle = *loop.CycleFor(*pod);
  const CycleResult result = cycle.Decide(pod);
  return result.code() == BERTH_ERROR ? result.failure->message : "";
}

// A scheduler over a cluster in memory, whose time stands still.
class Trial {
 public:
  Trial(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
        const std::function<void(const CallMonitor* monitor)>& report_crashes)
      : decoder_(interner_, DecodeOptionsFor(*plugins)),
        host_(interner_, cluster_, OptionsFor(std::move(plugins), specs, report_crashes)) {}

  // Adds two empty nodes and a pod for each profile.
  Status AddObjects(std::span<const PlanSpec> specs) {
    return LoadManifest(TrialCluster(specs), "trial", decoder_, cluster_);
  }
  // Errors: those of SchedulerHost::Start.
  Status Start() {
    Status status = host_.Start();
    if (status.ok()) cluster_.Deliver();
    return status;
  }
  SchedulerHost& host() { return host_; }
  // Returns the error of the attempt to place the pod of this profile; "" if there is none.
  std::string ErrorOf(const PlanSpec& spec) {
    return TrialError(host_.loop(), cluster_.FindPod(kTrialNamespace, spec.scheduler_name));
  }

 private:
  SchedulerOptions OptionsFor(
      std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
      const std::function<void(const CallMonitor* monitor)>& report_crashes) const {
    SchedulerOptions options;
    options.plugins = std::move(plugins);
    options.profiles.assign(specs.begin(), specs.end());
    options.loop.clock = &clock_;
    options.report_crashes = report_crashes;
    return options;
  }

  // Each member outlives those after it, which use it.
  const VirtualClock clock_{0};
  Interner interner_{Interner::kFixedKey};
  Decoder decoder_;
  EmbeddedCluster cluster_{
      {.clock = clock_, .max_events = 0, .serve = [this](const ApiRequest& request) {
         return api_.Serve(request);
       }}};
  EmbeddedApi api_{cluster_, decoder_};
  SchedulerHost host_;
};

}  // namespace

Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  return Trial(std::move(plugins), specs, report_crashes).Start();
}

Result<std::vector<std::string>> TryProfiles(
    std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
    std::function<int64_t()> steady_ns,
    const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  Trial trial(std::move(plugins), specs, report_crashes);
  Status status = trial.AddObjects(specs);
  if (status.ok()) status = trial.Start();
  if (!status.ok()) return status;
  trial.host().StartWatchdog(CallDeadlines(), std::move(steady_ns));
  std::vector<std::string> errors;
  for (const PlanSpec& spec : specs) errors.push_back(trial.ErrorOf(spec));
  return errors;
}

}  // namespace berth::host
