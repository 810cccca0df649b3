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
  EXPECT_THAT(
      lines_,
      Contains(StartsWith(R"(test.Guest: answer success={"kind":"PartialObjectMetadata")")));
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

}  // namespace
}  // namespace berth::host
