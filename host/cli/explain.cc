#include <utility>

#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/cli/explain_report.h"
#include "host/cli/explain_table.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDefaultNamespace = "default";

struct PodKey {
  std::string ns;
  std::string name;

  std::string ToString() const { return ns + "/" + name; }
};

Result<PodKey> ParsePodKey(const std::string& text) {
  const size_t slash = text.find('/');
  PodKey key = slash == std::string::npos ? PodKey{std::string(kDefaultNamespace), text}
                                          : PodKey{text.substr(0, slash), text.substr(slash + 1)};
  if (key.ns.empty() || key.name.empty() || key.name.find('/') != std::string::npos) {
    return Status::InvalidArgument("--pod: expected NAMESPACE/NAME or NAME, found \"" + text +
                                   "\"");
  }
  return key;
}

bool HasEnded(const Pod& pod) {
  return pod.view().phase == BERTH_PHASE_SUCCEEDED || pod.view().phase == BERTH_PHASE_FAILED;
}

// Suggests pods with the same name in other namespaces first, because this is the most likely
// mistake. `where`: where the pods come from.
Status NoSuchPod(const EmbeddedCluster& cluster, const PodKey& wanted, std::string_view where) {
  std::vector<std::string> pending;
  std::vector<std::string> namesakes;
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    if (!pod.node_name().empty() || HasEnded(pod)) continue;
    pending.push_back(pod.Key());
    if (pod.name() == wanted.name) namesakes.push_back(pod.Key());
  }
  const std::string text =
      "expected a pending pod, found no pod " + wanted.ToString() + " in " + std::string(where);
  if (pending.empty()) return Status::NotFound(text + ", and no other pending pod");
  if (!namesakes.empty()) return Status::NotFound(text + DidYouMean(wanted.name, namesakes));
  return Status::NotFound(text + DidYouMean(wanted.ToString(), pending));
}

// Returns the pending pod with this name.
Result<PodRef> FindPendingPod(const EmbeddedCluster& cluster, const std::string& text,
                              std::string_view where) {
  const Result<PodKey> key = ParsePodKey(text);
  if (!key.ok()) return key.status();
  PodRef pod = cluster.FindPod(key->ns, key->name);
  if (pod == nullptr) return NoSuchPod(cluster, *key, where);
  if (!pod->node_name().empty()) {
    return Status::InvalidArgument("pod " + key->ToString() + " is on node " +
                                   std::string(pod->node_name()) +
                                   ": expected a pod without a node");
  }
  if (HasEnded(*pod)) {
    return Status::InvalidArgument("pod " + key->ToString() +
                                   " has ended: expected a pod that waits for a node");
  }
  return pod;
}

Json Explain(Simulation& simulation, const PodRef& pod, uint64_t seed) {
  SchedulingLoop& loop = simulation.loop();
  SchedulingCycle* own = loop.CycleFor(*pod);
  SchedulingCycle& cycle = own == nullptr ? loop.cycle() : *own;
  const QueuedEntity* queued = loop.queue().Find(pod->uid());
  Json report;
  if (queued != nullptr && queued->place == QueuePlace::kGated) {
    report = ExplainGate(*queued->gate, loop.plugin_ids());
  } else {
    const CycleResult result = cycle.Decide(pod);
    report = ExplainReport(cycle, result);
  }
  report["pod"] = pod->Key();
  report["nodeCount"] = loop.cache().table().node_count();
  report["seed"] = seed;
  if (own == nullptr) {
    report["note"] = "The pod belongs to the scheduler " + std::string(pod->scheduler_name()) +
                     "; this is the decision of " + cycle.plan().scheduler_name() + ".";
  }
  return report;
}

}  // namespace

int ExecuteExplain(const ExplainFlags& flags, CommandEnvironment& env) {
  Status status = CheckSource("explain", flags);
  if (status.ok()) status = CheckStandardInput("explain", flags.cluster_files);
  if (!status.ok()) return Fail(env, status);
  Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  ProgressLog log(progress, LogLevelOf(flags).value_or(BERTH_LOG_WARN));
  const auto simulation = OpenSimulation(flags, env, progress, log);
  progress.Clear();
  if (!simulation.ok()) return Fail(env, simulation.status());
  const std::string_view where = flags.cluster_files.empty() ? "the cluster" : "the input";
  const Result<PodRef> pod = FindPendingPod((*simulation)->cluster().objects(), flags.pod, where);
  if (!pod.ok()) return Fail(env, pod.status());

  const Json report = Explain(**simulation, *pod, flags.seed);
  std::string out;
  if (flags.output == OutputFormat::kTable) {
    AppendExplanation(report, env.out_width, out);
  } else {
    AppendDocument(report, flags.output, out);
  }
  const std::string code = report["code"];
  return Print(env, out, code == "Success" || code == "Skipped" ? kExitDone : kExitNotAllScheduled);
}

}  // namespace berth::host
