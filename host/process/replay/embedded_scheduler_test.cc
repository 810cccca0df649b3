// An EmbeddedScheduler with plugins that use its API and block in Bind.
#include "host/process/replay/embedded_scheduler.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/base/test_log.h"
#include "host/queue/test_queue.h"
#include "tests/harness/paths.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kCluster = R"(
apiVersion: v1
kind: Namespace
metadata: {name: red, labels: {a: b}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
)";

class EmbeddedSchedulerTest : public ::testing::Test {
 protected:
  // Schedules pod "p" up to Permit, where test.Guest sends the requests of `args`.
  void Schedule(nlohmann::json args) {
    auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    for (const std::string& directory : {TestPluginDirectory(), DefaultPluginDirectory()}) {
      ASSERT_TRUE(plugins->AddDirectory(directory).ok()) << directory;
    }
    SchedulerOptions options;
    options.plugins = std::move(plugins);
    PlanSpec& spec = options.profiles.emplace_back();
    const auto use = [&spec](const char* name, Point point, nlohmann::json with) {
      spec.plugins.push_back({name, std::make_shared<const nlohmann::json>(std::move(with)), ""});
      spec.points[static_cast<size_t>(point)].push_back({name, 1});
    };
    use("PrioritySort", Point::kQueueSort, nullptr);
    use("test.Guest", Point::kPermit, std::move(args));
    use("DefaultBinder", Point::kBind, nullptr);
    options.loop.clock = &clock_;
    options.loop.log = &log_;
    options.loop.logs_decisions = false;
    scheduler_ = std::make_unique<EmbeddedScheduler>(std::move(options));
    ASSERT_TRUE(scheduler_->cluster().AddManifest("cluster", kCluster).ok());
    ASSERT_TRUE(scheduler_->Start().ok());
    while (scheduler_->Step()) {
    }
  }

  VirtualClock clock_{1'768'032'000'000'000'000};
  TestLog log_{BERTH_LOG_INFO};
  std::vector<std::string>& lines_ = log_.lines();
  std::unique_ptr<EmbeddedScheduler> scheduler_;
};

TEST_F(EmbeddedSchedulerTest, AnswersTheRequestsOfPlugins) {
  const std::string pod =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"},"spec":{"schedulerName":"x"}})";
  Schedule({{"requests",
             {{"GET", "/api/v1/namespaces/red", ""},
              {"POST", "/api/v1/namespaces/red/pods", pod},
              {"GET", "/api/v1/namespaces/blue", ""},
              {"POST", "/api/v1/namespaces/red/pods",
               R"({"kind":"Pod","apiVersion":"v1","metadata":"x"})"},
              {"GET", "/api/v1/nodes", ""}}}});
  EXPECT_THAT(lines_, Contains(AllOf(StartsWith("test.Guest: answer success={"),
                                     HasSubstr(R"("kind":"Namespace")"),
                                     HasSubstr(R"("labels":{"a":"b"})"))));
  EXPECT_THAT(lines_, Contains(StartsWith(R"(test.Guest: answer success={"kind":"Pod")")));
  EXPECT_NE(scheduler_->cluster().objects().FindPod("red", "q"), nullptr);
  EXPECT_THAT(lines_, Contains(AllOf(StartsWith(R"(test.Guest: answer not_found={"kind":"Status")"),
                                     HasSubstr(R"("code":404)"))));
  EXPECT_THAT(lines_, Contains(AllOf(
                          StartsWith(R"(test.Guest: answer bad_argument={"kind":"Status")"),
                          HasSubstr("/metadata: expected an object"), HasSubstr(R"("code":400)"))));
  EXPECT_THAT(lines_,
              Contains(AllOf(StartsWith(R"(test.Guest: answer bad_argument={"kind":"Status")"),
                             HasSubstr(R"("code":405)"))));
}

TEST_F(EmbeddedSchedulerTest, AppliesThePatchesOfPlugins) {
  Schedule({{"patch", R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True",
                         "reason":"Acme"}]}})"}});
  // The answer is the whole pod, because another plugin of the folder lists "Pod:" in its fields.
  EXPECT_THAT(lines_, Contains(AllOf(StartsWith("test.Guest: answer success={"),
                                     HasSubstr(R"("kind":"Pod")"))));
  const PodRef pod = scheduler_->cluster().objects().FindPod("default", "p");
  ASSERT_EQ(pod->view().conditions.count, 1U);
  const auto* condition = BERTH_AT(berth_condition, pod->view().conditions, 0);
  EXPECT_EQ(pod->Name(condition->type), "DisruptionTarget");
  EXPECT_EQ(pod->Name(condition->reason), "Acme");
}

// The bind pool waits for a plugin that blocks. BERTH_IS_CANCELLED becomes true for the call.
TEST(EmbeddedSchedulerStopTest, CancelsBindingsWhenItIsDestroyed) {
  std::atomic<bool> inside = false;
  std::atomic<bool> was_cancelled = false;
  Stage stage;
  stage.Add("puppet.Slow", {Point::kBind}).bind = [&](const berth_binding& binding, berth_done,
                                                      berth_status*) {
    inside = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (!BERTH_IS_CANCELLED(&binding) && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    was_cancelled = BERTH_IS_CANCELLED(&binding);
    return BERTH_CANCELLED;
  };
  stage.CompleteProfile();
  const VirtualClock clock(0);
  SchedulerOptions options;
  auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
  ASSERT_TRUE(plugins->AddLibrary(PuppetLibrary()).ok());
  options.plugins = plugins;
  options.profiles = {stage.spec()};
  options.loop.clock = &clock;
  options.bind_threads = 1;
  auto scheduler = std::make_unique<EmbeddedScheduler>(std::move(options));
  const std::string pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: " +
                          ("{schedulerName: " + stage.spec().scheduler_name + "}\n");
  ASSERT_TRUE(scheduler->cluster().AddManifest("cluster", kCluster + pod).ok());
  ASSERT_TRUE(scheduler->Start().ok());
  while (scheduler->Step()) {
  }
  ASSERT_EQ(scheduler->loop().binding_count(), 1U);
  while (!inside) std::this_thread::yield();
  scheduler.reset();
  EXPECT_TRUE(was_cancelled);
}

class StallDetectorTest : public ::testing::Test {
 protected:
  // Pops the pod, which must be the first ready one, and rejects it. Every event requeues it.
  void Reject(const std::string& name) {
    queue_.Run("pop " + name + "; return " + name + " 1; all");
    Fail(name);
  }
  void Fail(const std::string& name) { detector_.OnFailed(queue_.Pod(name), "", Failure()); }
  bool IsStalled() { return detector_.IsStalled(*queue_.queue); }

  TestQueue queue_;
  StallDetector detector_{nullptr};
};

TEST_F(StallDetectorTest, AnEmptyQueueIsNotStalled) { EXPECT_FALSE(IsStalled()); }

TEST_F(StallDetectorTest, IsStalledAfterLastFailureOfEachPod) {
  queue_.Run("add a; add b");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    EXPECT_FALSE(IsStalled()) << i;
    Reject("a");
    EXPECT_FALSE(IsStalled()) << i;
    Reject("b");
  }
  EXPECT_TRUE(IsStalled());
}

// Each of these keeps a scheduler from being stalled, because the pods that fail may fit now.
TEST_F(StallDetectorTest, ProgressBeginsANewCount) {
  struct Case {
    const char* description;
    void (*make_progress)(StallDetector& detector, const PodRef& other);
  };
  constexpr Case kCases[] = {
      {"another pod was bound",
       [](StallDetector& detector, const PodRef& other) { detector.OnBound(other, "n"); }},
      {"another pod is being deleted",
       [](StallDetector& detector, const PodRef& other) { detector.OnSkipped(other, ""); }},
      {"the cluster changed",
       [](StallDetector& detector, const PodRef&) { detector.OnProgress(); }},
  };
  queue_.Run("add a");
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.description);
    for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) Reject("a");
    EXPECT_TRUE(IsStalled());
    c.make_progress(detector_, queue_.Pod("b"));
    EXPECT_FALSE(IsStalled());
  }
}

TEST_F(StallDetectorTest, WaitsForAPodNotTriedYet) {
  queue_.Run("add a 9; add b; add c");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    queue_.Run("pop a; return a 1; activate a");
    Fail("a");
  }
  EXPECT_FALSE(IsStalled());
}

TEST_F(StallDetectorTest, APodInFlightIsWaitedFor) {
  queue_.Run("add waiting; pop waiting; add a");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) Reject("a");
  EXPECT_FALSE(IsStalled()) << "the pod in flight may be bound";
}

TEST_F(StallDetectorTest, ParkedAndGatedPodsAreNotWaitedFor) {
  queue_.Run("hold gated 4; add gated; add parked; pop parked; return parked 1; add a");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    queue_.Run("pop a; return a 2; freed x");
    Fail("a");
  }
  EXPECT_EQ(queue_.Places(), "a=backoff gated=gated parked=parked");
  EXPECT_TRUE(IsStalled());
}

// Without this limit, a pod that precedes all others whenever it is requeued would run for ever.
TEST_F(StallDetectorTest, OnePodCannotFailForEver) {
  queue_.Run("add waiting; pop waiting");
  for (uint32_t i = 0; i < StallDetector::kMaxFailuresOfOnePod; ++i) {
    EXPECT_FALSE(IsStalled()) << i;
    Fail("a");
  }
  EXPECT_TRUE(IsStalled());
}

// The detector must not hide decisions from the sink behind it.
TEST_F(StallDetectorTest, PassesEveryDecisionOn) {
  struct Sink final : DecisionSink {
    void OnAssumed(const PodRef&, std::string_view) override { calls += "assumed "; }
    void OnBound(const PodRef&, std::string_view) override { calls += "bound "; }
    void OnFailed(const PodRef&, std::string_view, const Failure&) override { calls += "failed "; }
    void OnSkipped(const PodRef&, std::string_view) override { calls += "skipped "; }
    std::string calls;
  };
  Sink sink;
  StallDetector detector(&sink);
  const PodRef pod = queue_.Pod("a");
  detector.OnAssumed(pod, "n");
  detector.OnBound(pod, "n");
  detector.OnFailed(pod, "n", Failure());
  detector.OnSkipped(pod, "deleting");
  EXPECT_EQ(sink.calls, "assumed bound failed skipped ");
}

}  // namespace
}  // namespace berth::host
