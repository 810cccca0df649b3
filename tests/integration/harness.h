// What the integration tests share: the test plugins, a profile built of them, an embedded cluster,
// and the loop between the two.
#ifndef BERTH_TESTS_INTEGRATION_HARNESS_H_
#define BERTH_TESTS_INTEGRATION_HARNESS_H_

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
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/scheduling_loop.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/plan.h"
#include "tests/integration/line.h"

namespace berth::host {

// The plugins of tests/integration/plugins, and those of the tree. Loaded once per process.
const PluginCatalog& TestCatalog();

// A profile in the making. Ends with "cpp.ByKey" for QueueSort and "cpp.ApiBinder" for Bind, unless
// others are named.
class TestProfile {
 public:
  // Adds the plugin at these points, behind what is there.
  TestProfile& Use(const std::string& name, std::initializer_list<Point> points,
                   const char* args = nullptr, int64_t weight = 1);
  PlanSpec Spec() const;

 private:
  PlanSpec spec_;
};

// How a pod's last attempt ended, its binding included.
struct AttemptResult {
  PodRef pod;
  Failure failure;   // Success when the pod was bound, Wait while it waits on Permit.
  std::string node;  // Where it is bound; empty: it is not.
};

class Harness final : private DecisionSink {
 public:
  Harness();
  ~Harness() override;
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  // --- the cluster ---
  void AddNode(const TestNode& node);
  void AddNodes(std::initializer_list<const char*> names);
  void RemoveNode(const std::string& name);
  void AddPod(const TestPod& pod);
  // An object of any kind.
  void AddObject(const std::string& json);

  // --- the scheduler ---
  // Errors: those of the plan.
  Status Start(const TestProfile& profile, uint64_t seed = 1);
  Status Start(const PlanSpec& spec, uint64_t seed = 1);
  Status Start(const PlanSpec& spec, const PluginCatalog& catalog);
  Status Start(std::span<const PlanSpec> specs, const PluginCatalog& catalog, uint64_t seed);
  // The next attempt and its binding, with everything delivered before and after. Comes back when
  // the pod is bound, back in the queue, or waiting on Permit. REQUIRES: a pod is ready.
  AttemptResult Next();
  // Delivers and carries out all there is, without a new attempt.
  void Settle();
  // The same with attempts, until nothing is left to do at this time.
  void Run();
  // Lets time pass; with what is due in it, when it is due.
  void Advance(int64_t ns);
  // Adds a pod and takes it through its attempt.
  AttemptResult Schedule(const TestPod& pod);
  // "Error: text" and the like: the code and the message.
  static std::string Outcome(const AttemptResult& result);
  // The same for a pod "p" that asks for nothing, on a fresh loop with this profile.
  std::string OutcomeOf(const TestProfile& profile);
  // Of loops that are started from now on; what the harness sets itself is set again.
  SchedulingLoop::Options& options() { return options_; }
  // Drops the loop.
  void Stop() { loop_.reset(); }

  // The value of an I64 column at a node.
  int64_t Column(const char* column, std::string_view node);
  // The nodes of these rows.
  std::vector<std::string> Names(const std::vector<Row>& rows);

  SchedulingLoop& loop() { return *loop_; }
  EmbeddedCluster& cluster() { return cluster_; }
  Line& line() { return line_; }
  TestObjects& objects() { return objects_; }
  TestClock& clock() { return clock_; }
  // The last outcome of every pod that was tried, by name; in the order of the outcomes.
  const std::vector<AttemptResult>& results() const { return results_; }
  // Pods that are ready to be tried.
  size_t ready() const { return loop_->queue().CountIn(QueuePlace::kActive); }
  // Where the queue has the pod; none: nowhere.
  std::optional<QueuePlace> PlaceOf(const std::string& pod) const;
  // What plugins logged: "test.A: message key=value".
  std::vector<std::string>& lines() { return lines_; }

 private:
  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  // A pod is on its way to its node.
  bool IsBinding() const;
  void Note(const PodRef& pod, Failure failure, std::string_view node);

  TestClock clock_;
  ThreadWaker waker_;
  TestObjects objects_;
  std::vector<AttemptResult> results_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  EmbeddedApi api_{cluster_, decoder_};
  Line line_{cluster_};
  std::vector<std::string> lines_;
  SchedulingLoop::Options options_;
  std::unique_ptr<SchedulingLoop> loop_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_HARNESS_H_
