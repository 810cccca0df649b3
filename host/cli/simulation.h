// A scheduler and a cluster in one process, to decide without binding anything anywhere.
#ifndef BERTH_HOST_CLI_SIMULATION_H_
#define BERTH_HOST_CLI_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/interner.h"
#include "host/api/status.h"
#include "host/cli/plugin_set.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"

namespace berth::host {

// Create, Add.., Start, then schedule or explain. Objects may be added after Start() too: a pod
// then stands in the queue behind those that were there.
//
// Threading: one thread.
class Simulation {
 public:
  struct Options {
    // What can be chosen from; shared by any number of simulations. Must be set.
    std::shared_ptr<const PluginSet> plugins;
    // Which of it is used. Empty: DefaultPlanSpec.
    std::function<Result<PlanSpec>(const PluginCatalog& catalog)> plan;
    // Equal seeds and inputs give equal decisions.
    uint64_t seed = 1;
    // The wall clock, in nanoseconds since 1970-01-01T00:00:00Z. Must be set.
    std::function<int64_t()> now_ns;
    // Where plugins' log lines go. May be empty.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    uint32_t log_level = BERTH_LOG_WARN;
  };

  // Errors: those of `plan`.
  static Result<std::unique_ptr<Simulation>> Create(Options options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Adds the objects of one manifest, YAML or JSON. `name` is what messages call it.
  // Errors: those of LoadManifest. Objects before the place of the error have been added.
  Status AddText(std::string_view name, std::string text);
  // The same from a file, or from `in` for "-".
  Status AddFile(const std::string& path, std::istream& in);

  // Creates the plugins and shows them the cluster. Once.
  // Errors: those of Plan::Build.
  Status Start();

  // REQUIRES, of all below: Start() succeeded.
  SchedulingLoop& loop() { return *loop_; }
  // Takes the next pod through the queue; none: nothing is pending.
  std::optional<AttemptResult> ScheduleNext();
  // Decides for one pod, placing none. Those that wait stay where they are.
  Decision Decide(const PodRef& pod) { return loop_->scheduler().Decide(pod); }

  const EmbeddedCluster& cluster() const { return cluster_; }

 private:
  Simulation(Options options, PlanSpec spec);

  Options options_;
  PlanSpec spec_;
  Interner interner_;
  EmbeddedCluster cluster_;
  Decoder decoder_;
  std::unique_ptr<SchedulingLoop> loop_;  // Goes before what it uses.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_SIMULATION_H_
