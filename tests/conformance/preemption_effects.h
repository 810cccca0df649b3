// Finds the effects of a preemption in a conformance case: its candidates, and how it changes the
// cluster.
#ifndef BERTH_TESTS_CONFORMANCE_PREEMPTION_EFFECTS_H_
#define BERTH_TESTS_CONFORMANCE_PREEMPTION_EFFECTS_H_

#include <map>
#include <mutex>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "host/base/log.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/schedule_one.h"
#include "host/cycle/scheduling_loop.h"

namespace berth::host {

// Keeps the candidates that DefaultPreemption logs, in the form of the recorded outcomes.
// Threading: any.
class CandidateLog final : public LogSink {
 public:
  bool IsOn(uint32_t level) const override { return level >= BERTH_LOG_DEBUG; }
  void Write(const LogRecord& record) override;

  // Returns the candidates since the last call, by node.
  nlohmann::json Take();

 private:
  std::mutex mutex_;
  nlohmann::json candidates_ = nlohmann::json::object();
};

// The pods of a cluster that matter for a preemption.
struct PodStates {
  std::set<std::string> terminating;
  std::map<std::string, std::string> nominations;  // By pod.
  std::set<std::string> all;
};
PodStates ReadPodStates(const EmbeddedCluster& cluster);

// Carries out what the plugins requested in the last attempt, and delivers what follows from it.
void CarryOut(SchedulingLoop& loop, EmbeddedCluster& cluster);

// Adds `preemption` and `nominationCleared` to the report of an attempt, as the recorded outcomes
// have them. `before`: the pods before the attempt. Called: after CarryOut().
void AddPreemption(const PodRef& pod, const Failure& failure, const PodStates& before,
                   const EmbeddedCluster& cluster, nlohmann::json candidates,
                   nlohmann::json& report);

// Compares `preemption` and `nominationCleared` of an outcome with a recorded one. With several
// equal nodes, any of them is right.
void ComparePreemption(const nlohmann::json& want, const nlohmann::json& got);

// Returns the recorded message of an outcome. Where it names one of several equal nodes, the result
// names the node of `got`, with the number of the victims there.
std::string MessageFor(const nlohmann::json& want, const nlohmann::json& got);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_PREEMPTION_EFFECTS_H_
