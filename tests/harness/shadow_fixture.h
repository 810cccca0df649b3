// Shared by the tests of shadow mode: an embedded cluster on which the test is the other scheduler.
#ifndef BERTH_TESTS_HARNESS_SHADOW_FIXTURE_H_
#define BERTH_TESTS_HARNESS_SHADOW_FIXTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/shadow/shadow_run.h"
#include "tests/harness/paths.h"

namespace berth::host {

// The profile has NodeResourcesFit, so that an emptier node is better. Nodes have 4 CPUs.
class ShadowTest : public ::testing::Test {
 protected:
  ShadowTest() {
    Use("PrioritySort", {Point::kQueueSort});
    Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter, Point::kPreScore, Point::kScore});
    Use("DefaultBinder", {Point::kBind});
  }

  static std::shared_ptr<const PluginSet> Plugins() {
    static const std::shared_ptr<const PluginSet> plugins = [] {
      auto set = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
      const Status status = set->AddDirectory(DefaultPluginDirectory());
      BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
      return set;
    }();
    return plugins;
  }
  void Use(const std::string& name, std::initializer_list<Point> points) {
    spec_.plugins.push_back({name, nullptr, ""});
    for (const Point point : points) {
      spec_.points[static_cast<size_t>(point)].push_back({name, 1});
    }
  }

  // Starts the scheduler and delivers what exists.
  void Start() {
    SchedulerOptions options;
    options.plugins = Plugins();
    options.profiles = {spec_};
    options.loop.clock = &clock_;
    scheduler_ = std::make_unique<ShadowScheduler>(
        objects_.interner(), cluster_, std::move(options), observing_,
        [this](const ShadowDecision& decision) { decisions_.push_back(decision); });
    const Status status = scheduler_->Start();
    ASSERT_TRUE(status.ok()) << status.ToString();
    Deliver();
    ASSERT_TRUE(scheduler_->has_begun());
  }
  // Delivers what waits in the cluster, and judges what is due.
  void Deliver() {
    cluster_.Deliver();
    while (scheduler_->Step()) {
    }
  }
  void Advance(int64_t ns) {
    Deliver();
    clock_.Advance(ns);
    Deliver();
  }
  // Lets the delay of all events end.
  void AdvancePastWindow() { Advance(observing_.window_ns); }

  // ---- Changes of the cluster -------------------------------------------------------------------

  void AddNode(const std::string& name) { Create(objects_.Node({.name = name})); }
  void AddPod(const TestPod& pod) { Create(objects_.Pod(pod)); }
  // Adds a pod that requests one CPU.
  void AddSmallPod(const std::string& name, const std::string& node = "") {
    AddPod({.name = name, .node = node, .requests = R"("cpu":"1")"});
  }
  void Create(AnyObject object) {
    const auto created = cluster_.Create(std::move(object));
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  void Remove(std::string_view kind, const std::string& name) {
    const std::string_view ns = kind == kPodKind ? "default" : "";
    ASSERT_TRUE(cluster_.Remove(kind, ns, name).ok()) << name;
  }
  // The other scheduler binds the pod.
  void Bind(const std::string& pod, const std::string& node) {
    const PodRef found = cluster_.FindPod("default", pod);
    ASSERT_NE(found, nullptr) << pod;
    cluster_.Bind(NameOf(*found), node, [pod](Status status) {
      EXPECT_TRUE(status.ok()) << pod << ": " << status.ToString();
    });
  }
  void Nominate(const std::string& pod, const std::string& node) {
    const PodRef found = cluster_.FindPod("default", pod);
    ASSERT_TRUE(
        cluster_.PatchStatus(NameOf(*found), {.nominated_node = node, .pod_scheduled = {}}).ok());
  }

  // The other scheduler finds no node for the pod, and writes the condition.
  void Reject(const std::string& pod) {
    const PodRef found = cluster_.FindPod("default", pod);
    PodStatusPatch patch;
    patch.pod_scheduled = PodStatusPatch::Condition{
        .status = BERTH_CONDITION_FALSE, .reason = "Unschedulable", .message = "no room"};
    ASSERT_TRUE(cluster_.PatchStatus(NameOf(*found), patch).ok());
  }

  // ---- Results ----------------------------------------------------------------------------------

  // "p1 tie", in the order of the reports. The verdicts same and tie, between which chance decides,
  // are both "agrees".
  std::vector<std::string> Verdicts() const {
    std::vector<std::string> verdicts;
    for (const ShadowDecision& decision : decisions_) {
      verdicts.push_back(decision.pod.substr(decision.pod.find('/') + 1) + " " +
                         std::string(decision.verdict <= ShadowVerdict::kTie
                                         ? "agrees"
                                         : ShadowVerdictName(decision.verdict)));
    }
    return verdicts;
  }
  // The explanation of the decision about the pod.
  std::string Why(const std::string& pod) const {
    for (const ShadowDecision& decision : decisions_) {
      if (decision.pod == "default/" + pod) return decision.why;
    }
    return "not judged";
  }

  TestClock clock_;
  TestObjects objects_;
  EmbeddedCluster cluster_{{.clock = clock_, .serve = {}}};
  PlanSpec spec_;
  ShadowObserver::Options observing_;
  std::vector<ShadowDecision> decisions_;
  std::unique_ptr<ShadowScheduler> scheduler_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_SHADOW_FIXTURE_H_
