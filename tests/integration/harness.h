// What the integration tests share: the test plugins, a profile built of them, an embedded cluster,
// and the loop between the two.
#ifndef BERTH_TESTS_INTEGRATION_HARNESS_H_
#define BERTH_TESTS_INTEGRATION_HARNESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/test_objects.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "host/loader/plugin_catalog.h"
#include "host/runtime/plan.h"

namespace berth::host {

// The plugins of tests/integration/plugins, and those of the tree. Loaded once per process.
const PluginCatalog& TestCatalog();

// A profile in the making. Ends with "cpp.ByKey" for QueueSort and "cpp.ApiBinder" for Bind, unless
// others are named.
class Profile {
 public:
  // Adds the plugin at these points, behind what is there.
  Profile& Use(const std::string& name, std::initializer_list<Point> points,
               const char* args = nullptr, int64_t weight = 1);
  PlanSpec Spec() const;

 private:
  PlanSpec spec_;
};

class Harness {
 public:
  Harness();
  ~Harness();

  // --- the cluster ---
  void AddNode(const TestNode& node);
  void AddNodes(std::initializer_list<const char*> names);
  void RemoveNode(const std::string& name);
  void AddPod(const TestPod& pod);
  // An object of any kind.
  void AddObject(const std::string& json);

  // --- the scheduler ---
  // Errors: those of the plan.
  Status Start(const Profile& profile, uint64_t seed = 1);
  Status Start(const PlanSpec& spec, uint64_t seed = 1);
  // The next attempt, with everything delivered before and after. REQUIRES: a pod is pending.
  AttemptResult Next();
  // Adds a pod and takes it through its attempt.
  AttemptResult Schedule(const TestPod& pod);
  // "Error: text" and the like: the decision's code and message.
  static std::string Outcome(const AttemptResult& result);
  // The same for a pod "p" that asks for nothing, on a fresh loop with this profile.
  std::string OutcomeOf(const Profile& profile);
  void Stop() { loop_.reset(); }

  // The value of an I64 column at a node.
  int64_t Column(const char* column, std::string_view node);
  // The nodes of these rows.
  std::vector<std::string> Names(const std::vector<Row>& rows);

  SchedulingLoop& loop() { return *loop_; }
  EmbeddedCluster& cluster() { return cluster_; }
  TestObjects& objects() { return objects_; }
  // What plugins logged: "test.A: message key=value".
  std::vector<std::string>& lines() { return lines_; }

 private:
  TestObjects objects_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  std::vector<std::string> lines_;
  std::unique_ptr<SchedulingLoop> loop_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_HARNESS_H_
