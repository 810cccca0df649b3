// For tests of a whole scheduler: the test plugins, profiles of them, an embedded cluster, and a
// scheduling loop.
#ifndef BERTH_TESTS_HARNESS_HARNESS_H_
#define BERTH_TESTS_HARNESS_HARNESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"
#include "tests/harness/intercepting_client.h"

namespace berth::host {

// Returns the plugins of tests/harness/plugins and the default plugins. They are loaded once
// per process.
const PluginCatalog& TestCatalog();

// Builds a profile. It uses "cpp.ByKey" for QueueSort and "cpp.ApiBinder" for Bind, unless Use()
// adds other plugins at these points.
class TestProfile {
 public:
  // Adds the plugin at these points, after the plugins that were added before.
  TestProfile& Use(const std::string& name, std::initializer_list<Point> points,
                   const char* args = nullptr, int64_t weight = 1);
  PlanSpec Spec() const;

 private:
  PlanSpec spec_;
};

// The result of a pod's last attempt, binding included.
struct AttemptResult {
  PodRef pod;
  Failure failure;   // Code Success if the pod was bound, Wait while it waits on Permit.
  std::string node;  // The node that the pod is bound to; empty: none.
};

class Harness final : private DecisionSink {
 public:
  Harness();
  ~Harness() override;
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  // --- The cluster ---
  void AddNode(const TestNode& node);
  void AddNodes(std::initializer_list<const char*> names);
  void RemoveNode(const std::string& name);
  void AddPod(const TestPod& pod);
  // Adds an object of any kind.
  void AddObject(const std::string& json);

  // --- The scheduler ---
  // Starts a loop. Errors: those of SchedulingLoop::Create.
  Status Start(const TestProfile& profile, uint64_t seed = 1);
  Status Start(const PlanSpec& spec, uint64_t seed = 1);
  Status Start(const PlanSpec& spec, const PluginCatalog& catalog);
  Status Start(std::span<const PlanSpec> specs, const PluginCatalog& catalog, uint64_t seed);
  // Runs the next attempt and its binding, and delivers all events before and after it. Returns
  // when the pod is bound, back in the queue, or waiting on Permit. REQUIRES: a pod is ready.
  AttemptResult Next();
  // Delivers all events and settles the loop, without a new attempt.
  void Settle();
  // Delivers events and runs attempts until there is nothing left to do at the present time.
  void Run();
  // Advances the clock, and runs what becomes due at the time when it is due.
  void Advance(int64_t ns);
  // Adds a pod and runs its attempt.
  AttemptResult Schedule(const TestPod& pod);
  // Returns code and message: "Error: text".
  static std::string Outcome(const AttemptResult& result);
  // Starts a new loop with this profile, and returns the outcome of a pod "p" without requests.
  std::string OutcomeOf(const TestProfile& profile);
  // The options of loops that are started later. The harness overwrites some of them.
  SchedulingLoop::Options& options() { return options_; }
  // Destroys the loop.
  void Stop() { loop_.reset(); }

  // Returns the value of an I64 column for the node.
  int64_t Column(const char* column, std::string_view node);
  // Returns the names of the nodes of these rows.
  std::vector<std::string> Names(const std::vector<Row>& rows);

  SchedulingLoop& loop() { return *loop_; }
  EmbeddedCluster& cluster() { return cluster_; }
  InterceptingClient& client() { return client_; }
  TestObjects& objects() { return objects_; }
  TestClock& clock() { return clock_; }
  // The last result of every pod that was tried, in the order of the results.
  const std::vector<AttemptResult>& results() const { return results_; }
  // Returns the number of pods that are ready.
  size_t ready() const { return loop_->queue().CountIn(QueuePlace::kActive); }
  // Returns where the pod is in the queue; empty: nowhere.
  std::optional<QueuePlace> PlaceOf(const std::string& pod) const;
  // The log from the level Info on: "test.A: message: error key=value". It has the decisions if the
  // options say so. Must not: be used while a thread of a plugin may log.
  std::vector<std::string>& lines() { return log_.lines(); }

 private:
  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  // Returns true if a pod is being bound.
  bool IsBinding() const;
  void Note(const PodRef& pod, Failure failure, std::string_view node);

  TestClock clock_;
  ThreadWaker waker_;
  TestObjects objects_;
  std::vector<AttemptResult> results_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  EmbeddedApi api_{cluster_, decoder_};
  InterceptingClient client_{cluster_};
  TestLog log_{BERTH_LOG_INFO};
  SchedulingLoop::Options options_;
  std::unique_ptr<SchedulingLoop> loop_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_HARNESS_H_
