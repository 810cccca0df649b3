// A scheduler and a cluster in one process, to decide without binding anything anywhere.
#ifndef BERTH_HOST_PROCESS_SIMULATION_H_
#define BERTH_HOST_PROCESS_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/base/virtual_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "host/event/inbox.h"
#include "host/process/embedded_scheduler.h"
#include "host/process/plugin_set.h"

namespace berth::host {

// What became of a pod that was pending.
struct PodOutcome {
  PodRef pod;
  // Success: it is on `node`. Skip: it is being deleted. Otherwise why not: of its last attempt, or
  // of the plugin that holds it back.
  berth_code code = BERTH_ERROR;
  std::string message;
  std::string node;
};

// Create, Add.., Start, then schedule or explain. Objects may be added after Start() too: a pod
// then stands in the queue behind those that were there. Time stands still but for what pods wait
// for.
//
// Threading: one thread.
class Simulation final : private DecisionSink {
 public:
  struct Options {
    // What can be chosen from; shared by any number of simulations. Must be set.
    std::shared_ptr<const PluginSet> plugins;
    // Which of it is used. At least one.
    std::vector<PlanSpec> profiles;
    // Equal seeds and inputs give equal decisions.
    uint64_t seed = 1;
    // The wall clock, asked once, in nanoseconds since 1970-01-01T00:00:00Z. Must be set.
    std::function<int64_t()> now_ns;
    // See EmbeddedScheduler.
    std::function<void(const CallMonitor* monitor)> report_crashes;
    // Where plugins' log lines go. May be empty. Threading: any.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    uint32_t log_level = BERTH_LOG_WARN;
  };

  static std::unique_ptr<Simulation> Create(Options options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Adds the objects of one manifest, YAML or JSON. `name` is what messages call it.
  // Errors: those of LoadManifest. Objects before the place of the error have been added.
  Status AddText(std::string_view name, std::string text) {
    return scheduler_->AddText(name, std::move(text));
  }
  // The same from a file, or from `in` for "-".
  Status AddFile(const std::string& path, std::istream& in) {
    return scheduler_->AddFile(path, in);
  }

  // Creates the plugins and shows them the cluster. Once.
  // Errors: those of SchedulingLoop::Create.
  Status Start() { return scheduler_->Start(); }

  // REQUIRES, of all below: Start() succeeded.
  SchedulingLoop& loop() { return scheduler_->loop(); }
  // Schedules until the queue rests: nobody is ready, and nobody is on the way to a node. Calls
  // `progress` after each attempt, if set. A pod that failed with an error is not tried again.
  void Run(const std::function<void()>& progress);
  // In the order of the first attempts; after them what plugins hold back, by namespace and name.
  std::vector<PodOutcome> TakeOutcomes();
  size_t outcome_count() const { return outcomes_.size(); }
  const EmbeddedCluster& cluster() const { return scheduler_->cluster(); }

 private:
  explicit Simulation(int64_t now_ns) : clock_(now_ns) {}

  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  void Note(const PodRef& pod, berth_code code, std::string_view message, std::string_view node);

  VirtualClock clock_;
  ThreadWaker waker_;
  std::vector<PodOutcome> outcomes_;
  StringMap<size_t> outcome_of_;                  // By uid.
  std::unique_ptr<EmbeddedScheduler> scheduler_;  // Goes before what it uses.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SIMULATION_H_
