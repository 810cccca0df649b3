// Class Profiles: profiles are replaced while the scheduler runs.
#include "host/cycle/profiles.h"

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/runtime/services/metric_store.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProfilesTest : public ::testing::Test {
 protected:
  void Start(const TestProfile& profile) {
    const Status status = harness_.Start(profile);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  Status Reload(const std::vector<PlanSpec>& specs) {
    return harness_.loop().Reload(TestCatalog(), specs);
  }
  // Reloads with new instances of all plugins.
  void ReloadWith(const TestProfile& profile) {
    const Status status = Reload({Renewed(profile.Spec())});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Changes the deadlines of all plugins, so that none of their instances stays.
  PlanSpec Renewed(PlanSpec spec) {
    ++renewals_;
    for (PlanSpec::Plugin& plugin : spec.plugins) plugin.deadline_ns = kSecond + renewals_;
    return spec;
  }
  // Returns a profile that rejects every node. Its plugin is interested in new nodes.
  static TestProfile Rejecting() {
    return TestProfile().Use("test.A", {Point::kFilter}, R"({"filter":{"verdict":2}})");
  }
  static TestProfile Gang(const char* args = nullptr) {
    return TestProfile().Use(
        "acme.Gang", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit, Point::kPostBind},
        args);
  }
  static TestProfile Fit() {
    return TestProfile().Use("NodeResourcesFit",
                             {Point::kPreFilter, Point::kFilter, Point::kEnqueueExtensions});
  }
  static PlanSpec Named(const TestProfile& profile, const std::string& scheduler_name) {
    PlanSpec spec = profile.Spec();
    spec.scheduler_name = scheduler_name;
    return spec;
  }
  static TestPod Of(const std::string& name, const std::string& scheduler_name) {
    return {.name = name, .spec = "\"schedulerName\":\"" + scheduler_name + '"'};
  }
  static TestPod Member(const std::string& name, int size) {
    return {.name = name,
            .requests = "\"cpu\":\"1\"",
            .meta = R"("labels":{"gang":"g","gang-size":")" + std::to_string(size) + "\"}"};
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }
  const SchedulingQueue& queue() { return harness_.loop().queue(); }
  // Returns "name label.." for each metric, followed by "value..: 1" for each of its series.
  std::vector<std::string> Metrics() {
    std::vector<std::string> lines;
    for (const MetricTable::Metric& metric : harness_.loop().metrics().Read()) {
      // Without the labels "plugin" and "profile".
      std::vector<std::string> words(metric.labels.begin() + 2, metric.labels.end());
      words.insert(words.begin(), metric.name);
      lines.push_back(Join(words, " "));
      for (const MetricTable::Series& series : metric.series) {
        const std::vector<std::string> values(series.label_values.begin() + 2,
                                              series.label_values.end());
        lines.push_back(Join(values, " ") + ": " +
                        std::to_string(static_cast<int64_t>(series.value)));
      }
    }
    return lines;
  }

  Harness harness_;

 private:
  int64_t renewals_ = 0;
};

// --- waiting pods -------------------------------------------------------------------------------

TEST_F(ProfilesTest, TriesParkedPodsWithTheNewPlugins) {
  harness_.AddNodes({"n1"});
  Start(Rejecting());
  harness_.AddPod({.name = "p"});
  harness_.Run();
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  ReloadWith(TestProfile());
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(harness_.loop().draining(), 0U);
}

// The number of an attempt, on which the random numbers of plugins depend, is never used again.
TEST_F(ProfilesTest, TheNumbersOfAttemptsContinueAfterAReload) {
  harness_.AddNodes({"n1"});
  Start(TestProfile());
  struct Seen {
    uint64_t id;
    uint64_t random;
  };
  std::vector<Seen> seen;
  const auto schedule = [&](const std::string& pod) {
    ASSERT_EQ(Harness::Outcome(harness_.Schedule(Of(pod, "default-scheduler"))), "Success");
    PluginCycle& cycle = harness_.loop().cycle().attempt().cycle(0);
    seen.push_back({cycle.abi()->id, cycle.NextRandom()});
  };
  schedule("p0");
  schedule("p1");
  ReloadWith(TestProfile());
  schedule("p2");
  ReloadWith(Fit());
  schedule("p3");
  ASSERT_EQ(seen.size(), 4U);
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GT(seen[i].id, seen[i - 1].id);
    for (size_t before = 0; before < i; ++before) {
      EXPECT_NE(seen[i].random, seen[before].random) << before << " and " << i;
    }
  }
}

TEST_F(ProfilesTest, ProfilesShareTheNumbersOfAttempts) {
  harness_.AddNodes({"n1"});
  Start(TestProfile());
  ASSERT_TRUE(Reload({Named(TestProfile(), "one"), Named(TestProfile(), "two")}).ok());
  std::vector<uint64_t> ids;
  for (const char* name : {"one", "two", "one"}) {
    const TestPod pod = Of("p" + std::to_string(ids.size()), name);
    EXPECT_EQ(Harness::Outcome(harness_.Schedule(pod)), "Success");
    const PodRef placed = harness_.cluster().FindPod("default", pod.name);
    ids.push_back(harness_.loop().CycleFor(*placed)->attempt().cycle(0).abi()->id);
  }
  EXPECT_LT(ids[0], ids[1]);
  EXPECT_LT(ids[1], ids[2]);
}

TEST_F(ProfilesTest, AsksTheNewPreEnqueueAboutReadyPods) {
  harness_.AddNodes({"n1"});
  Start(TestProfile());
  TestPod pod{.name = "p", .spec = R"("schedulingGates":[{"name":"later"}])"};
  harness_.AddPod(pod);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kActive);
  ReloadWith(TestProfile().Use("SchedulingGates", {Point::kPreEnqueue}));
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kGated);
  ReloadWith(TestProfile());
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kActive);
}

TEST_F(ProfilesTest, OrdersWaitingPodsByTheNewQueueSort) {
  harness_.AddNodes({"n1"});
  Start(TestProfile());
  harness_.AddPod({.name = "a", .spec = "\"priority\":9"});
  harness_.AddPod({.name = "b"});
  harness_.AddPod({.name = "c", .spec = "\"priority\":5"});
  ReloadWith(TestProfile().Use("cpp.ByLess", {Point::kQueueSort}));
  std::vector<std::string> order;
  while (harness_.ready() > 0) order.emplace_back(harness_.Next().pod->name());
  EXPECT_THAT(order, ElementsAre("c", "b", "a"));
}

// A reload may bring lanes and remove them. Waiting pods get their lanes from the new plugin.
TEST_F(ProfilesTest, DividesWaitingPodsIntoTheNewLanes) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"10","memory":"10Gi","pods":"110")"});
  const TestProfile fair = TestProfile().Use("cpp.FairShare", {Point::kQueueSort, Point::kChanges});
  const auto add = [&](const std::string& name, const std::string& ns, int priority) {
    harness_.AddPod({.name = name,
                     .requests = R"("cpu":"1")",
                     .spec = "\"priority\":" + std::to_string(priority),
                     .ns = ns});
  };
  const auto next = [&] { return std::string(harness_.Next().pod->name()); };
  Start(TestProfile());
  for (const char* name : {"a", "b", "c"}) add(name, "one", 9);
  for (const char* name : {"x", "y", "z"}) add(name, "two", 1);
  EXPECT_EQ(next(), "a");
  ReloadWith(fair);
  EXPECT_EQ(next(), "x") << "namespace two has no pod yet";
  ReloadWith(TestProfile());
  EXPECT_EQ(next(), "b");
  ReloadWith(fair);
  EXPECT_EQ(next(), "y");
}

TEST_F(ProfilesTest, KeepsTheProfilesAfterAnError) {
  harness_.AddNodes({"n1"});
  Start(Fit());
  harness_.AddPod({.name = "p", .requests = "\"cpu\":\"100\""});
  harness_.Run();
  const Plan* plan = &harness_.loop().cycle().plan();
  const TestProfile bad =
      Fit().Use("test.Nobody", {Point::kFilter}).Use("acme.Gang", {Point::kPermit}, R"({"x":1})");
  const Status status = Reload({bad.Spec(), Named(TestProfile(), "other")});
  EXPECT_THAT(status.message(), HasSubstr("test.Nobody"));
  EXPECT_THAT(status.message(), HasSubstr("acme.Gang"));
  EXPECT_EQ(&harness_.loop().cycle().plan(), plan);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  EXPECT_EQ(harness_.loop().draining(), 0U);
  harness_.AddNode({.name = "n2", .allocatable = R"("cpu":"200","pods":"10")"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(NodeOf("p"), "n2");
}

// --- pods that are being bound ------------------------------------------------------------------

TEST_F(ProfilesTest, PodThatWaitsOnPermitKeepsItsPlugins) {
  harness_.AddNodes({"n1"});
  Start(Gang());
  harness_.AddPod(Member("a", 2));
  harness_.Run();
  ASSERT_EQ(harness_.loop().binding_count(), 1U);
  ReloadWith(Gang());
  EXPECT_EQ(harness_.loop().draining(), 1U);
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 1000);
  harness_.Run();
  EXPECT_EQ(harness_.loop().binding_count(), 1U);
  harness_.Advance(60 * kSecond);  // Pod "a" times out and is tried with the new plugins.
  EXPECT_EQ(harness_.loop().draining(), 0U);
}

// Without the plugin, nothing permits the pod before its timeout.
TEST_F(ProfilesTest, DisabledPluginRejectsItsWaitingPods) {
  const struct {
    const char* name;
    std::vector<PlanSpec> reloaded;
    bool is_rejected;
  } cases[] = {
      {"the plugin is disabled", {Fit().Spec()}, true},
      {"the plugin does not run at Permit any more",
       {Fit().Use("acme.Gang", {Point::kEnqueueExtensions, Point::kReserve}).Spec()},
       true},
      {"another profile runs the plugin", {TestProfile().Spec(), Named(Gang(), "other")}, true},
      {"the plugin gets other arguments", {Gang(R"({"countByGang":true})").Spec()}, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Harness harness;
    harness.AddNodes({"n1"});
    ASSERT_TRUE(harness.Start(Gang()).ok());
    harness.AddPod(Member("a", 2));
    harness.Run();
    ASSERT_EQ(harness.loop().binding_count(), 1U);
    ASSERT_TRUE(harness.loop().Reload(TestCatalog(), c.reloaded).ok());
    harness.Run();
    const PodRef pod = harness.cluster().FindPod("default", "a");
    EXPECT_EQ(harness.loop().draining(), c.is_rejected ? 0U : 1U);
    EXPECT_EQ(pod->node_name(), c.is_rejected ? "n1" : "");
    harness.Stop();
  }
}

TEST_F(ProfilesTest, NewInstanceOfPluginMayAllowWaitingPods) {
  harness_.AddNodes({"n1"});
  Start(Gang());
  harness_.AddPod(Member("a", 2));
  harness_.Run();
  ReloadWith(Gang());
  EXPECT_EQ(harness_.loop().draining(), 1U);
  // Two new pods are enough for the new instance, which has no other members.
  harness_.AddPod(Member("b", 2));
  harness_.AddPod(Member("c", 2));
  harness_.Run();
  EXPECT_EQ(NodeOf("b"), "n1");
  EXPECT_EQ(NodeOf("c"), "n1");
  EXPECT_EQ(harness_.loop().binding_count(), 1U);
  harness_.cluster().DeletePod({"default", "a", ""}, 0, nullptr);
  harness_.Run();
  EXPECT_EQ(harness_.loop().draining(), 0U);
  EXPECT_EQ(queue().size(), 0U);
}

// A new instance defines a metric differently. Both instances exist until the last pod of the old
// one has ended.
TEST_F(ProfilesTest, TheNewInstanceRedefinesAMetricAtOnce) {
  harness_.AddNodes({"n1"});
  Start(Gang());
  harness_.AddPod(Member("a", 2));
  harness_.Run();
  ASSERT_FALSE(
      Reload({Gang(R"({"countByGang":true})").Use("test.Nobody", {Point::kFilter}).Spec()}).ok());
  EXPECT_THAT(Metrics(), ElementsAre("gang_lost_total"));
  ReloadWith(Gang(R"({"countByGang":true})"));
  ASSERT_EQ(harness_.loop().draining(), 1U);
  EXPECT_THAT(Metrics(), ElementsAre("gang_lost_total gang"));
  harness_.AddPod({.name = "w", .meta = R"("labels":{"gang":"h","gang-size":"2"})"});
  harness_.Run();
  ASSERT_EQ(harness_.loop().binding_count(), 2U);
  harness_.cluster().DeletePod({"default", "w", ""}, 0, nullptr);
  harness_.cluster().DeletePod({"default", "a", ""}, 0, nullptr);
  harness_.Run();
  EXPECT_EQ(harness_.loop().draining(), 0U);
  EXPECT_THAT(Metrics(), ElementsAre("gang_lost_total gang", "h: 1"));
}

TEST_F(ProfilesTest, LoopCanBeDestroyedWhileRetiredProfilesExist) {
  harness_.AddNodes({"n1"});
  Start(Gang());
  harness_.AddPod(Member("a", 2));
  harness_.Run();
  ReloadWith(Gang());
  harness_.AddPod(Member("b", 3));
  harness_.Run();
  ReloadWith(Fit());
  EXPECT_EQ(harness_.loop().draining(), 2U);
  harness_.Stop();
}

// --- added and removed profiles -----------------------------------------------------------------

TEST_F(ProfilesTest, NewProfileTakesThePodsThatNameIt) {
  harness_.AddNodes({"n1"});
  Start(TestProfile());
  harness_.AddPod(Of("a", "other"));
  harness_.AddPod(Of("b", "another"));
  harness_.Run();
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 2U);
  ASSERT_TRUE(Reload({TestProfile().Spec(), Named(TestProfile(), "other")}).ok());
  harness_.Run();
  EXPECT_EQ(NodeOf("a"), "n1");
  EXPECT_EQ(NodeOf("b"), "");
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 1U);
}

TEST_F(ProfilesTest, PodsOfARemovedProfileLeaveTheQueue) {
  harness_.AddNodes({"n1"});
  const PlanSpec specs[] = {TestProfile().Spec(), Named(Rejecting(), "other"),
                            Named(Gang(), "third")};
  ASSERT_TRUE(harness_.Start(specs, TestCatalog(), 1).ok());
  harness_.AddPod(Of("a", "other"));
  TestPod waiting = Member("w", 2);
  waiting.spec = R"("schedulerName":"third")";
  harness_.AddPod(waiting);
  harness_.Run();
  EXPECT_EQ(queue().size(), 2U);
  ASSERT_TRUE(Reload({TestProfile().Spec()}).ok());
  EXPECT_EQ(queue().size(), 1U);  // The pod that waited on Permit.
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 1U);
  harness_.Run();
  EXPECT_EQ(queue().size(), 0U);
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 2U);
  EXPECT_EQ(harness_.loop().draining(), 0U);
  ASSERT_TRUE(Reload({TestProfile().Spec(), Named(TestProfile(), "third")}).ok());
  harness_.Run();
  EXPECT_EQ(NodeOf("w"), "n1");
}

// Events for a pod that is being bound by a removed profile are still handled.
TEST_F(ProfilesTest, RetiredProfilesPodMayBeDeletedOrBound) {
  harness_.AddNodes({"n1"});
  const PlanSpec specs[] = {TestProfile().Spec(), Named(Gang(), "third")};
  for (const bool is_deleted : {true, false}) {
    SCOPED_TRACE(is_deleted ? "it is deleted" : "another client binds it");
    ASSERT_TRUE(harness_.Start(specs, TestCatalog(), 1).ok());
    TestPod waiting = Member("w", 2);
    waiting.spec = R"("schedulerName":"third")";
    harness_.AddPod(waiting);
    harness_.Run();
    ASSERT_EQ(harness_.loop().binding_count(), 1U);
    ASSERT_TRUE(Reload({TestProfile().Spec()}).ok());
    if (is_deleted) {
      harness_.cluster().DeletePod({"default", "w", ""}, 0, nullptr);
    } else {
      harness_.cluster().Bind({"default", "w", ""}, "n1", nullptr);
    }
    harness_.Run();
    EXPECT_EQ(harness_.loop().binding_count(), 0U);
    EXPECT_EQ(harness_.loop().draining(), 0U);
    EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 0U);
    EXPECT_EQ(queue().size(), 0U);
    ASSERT_TRUE(Reload({TestProfile().Spec(), Named(TestProfile(), "third")}).ok());
    harness_.Run();
    EXPECT_EQ(queue().size(), 0U);
    EXPECT_EQ(harness_.Column("req.cpu", "n1"), is_deleted ? 0 : 1000);
    harness_.Stop();
  }
}

TEST_F(ProfilesTest, IgnoresNewPodsOfARetiredProfile) {
  harness_.AddNodes({"n1"});
  const PlanSpec specs[] = {TestProfile().Spec(), Named(Gang(), "third")};
  ASSERT_TRUE(harness_.Start(specs, TestCatalog(), 1).ok());
  TestPod waiting = Member("w", 2);
  waiting.spec = R"("schedulerName":"third")";
  harness_.AddPod(waiting);
  harness_.Run();
  ASSERT_TRUE(Reload({TestProfile().Spec()}).ok());
  // The rejected pod "w" is still undone with the plugins of the retired profile.
  EXPECT_EQ(harness_.loop().draining(), 1U);
  harness_.AddPod(Of("late", "third"));
  EXPECT_EQ(harness_.PlaceOf("late"), std::nullopt);
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 1U);
  harness_.Run();
  EXPECT_EQ(harness_.loop().draining(), 0U);
  EXPECT_EQ(harness_.loop().router().other_schedulers_pending(), 2U);
  EXPECT_EQ(harness_.PlaceOf("late"), std::nullopt);
}

// --- many reloads -------------------------------------------------------------------------------

// The instance of a replaced profile, and that of the last one, get their last calls in the same
// order.
TEST_F(ProfilesTest, InstancesAlwaysEndInTheSameOrder) {
  static std::vector<std::string> calls;
  calls.clear();
  Stage stage;
  Puppet& puppet = stage.Add("puppet.A", {Point::kChanges});
  puppet.create = [&puppet] {
    calls.emplace_back("create");
    const void* timer = nullptr;
    ASSERT_EQ(puppet.host->get_service(puppet.host, BERTH_SERVICE_TIMER, &timer), BERTH_SUCCESS);
    const auto run = [](void*, berth_code code) noexcept {
      calls.push_back("post " + std::to_string(code));
    };
    static_cast<const berth_timer*>(timer)->post(puppet.host, run, nullptr);
  };
  puppet.change = [](const berth_change& change) {
    if (change.kind == BERTH_CHANGE_NODE_ADDED) calls.emplace_back("node");
  };
  puppet.quiesce = [] { calls.emplace_back("quiesce"); };
  puppet.destroy = [] { calls.emplace_back("destroy"); };
  stage.CompleteProfile();
  const auto take = [] { return std::exchange(calls, {}); };
  ASSERT_TRUE(harness_.Start(stage.spec(), Stage::catalog()).ok());
  harness_.AddNodes({"n1"});
  harness_.Run();
  EXPECT_THAT(take(), ElementsAre("create", "node", "post 0"));
  ASSERT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{Renewed(stage.spec())}).ok());
  EXPECT_THAT(take(), ElementsAre("create", "node", "quiesce", "destroy"));
  ASSERT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{Renewed(stage.spec())}).ok());
  EXPECT_THAT(take(), ElementsAre("create", "node", "post 32", "quiesce", "destroy"));
  harness_.Stop();
  EXPECT_THAT(take(), ElementsAre("post 32", "quiesce", "destroy"));
}

// --- a hundred reloads ---------------------------------------------------------------------------

TEST_F(ProfilesTest, HundredReloadsLoseNoPodAndRetireProfiles) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"1000","pods":"1000")"});
  Start(Fit());
  for (int i = 0; i < 100; ++i) {
    harness_.AddPod({.name = "p" + std::to_string(i), .requests = "\"cpu\":\"1\""});
    if (i % 2 == 0) harness_.AddPod(Member("g" + std::to_string(i), 1000));
    ReloadWith(i % 3 == 0 ? Fit() : i % 3 == 1 ? Gang() : Rejecting());
    harness_.Run();
    harness_.loop().queue().CheckInvariants();
  }
  ReloadWith(Fit());
  harness_.Advance(70 * kSecond);
  EXPECT_EQ(queue().size(), 0U);
  EXPECT_EQ(harness_.loop().draining(), 0U);
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 150'000);
}

// Only the part of a destroyed instance remains that one of its threads may still call.
TEST_F(ProfilesTest, AThousandReloadsUseLittleMemory) {
  constexpr int kReloads = 1000;
  constexpr size_t kBytesPerInstance = 1250;
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"1000","pods":"1000")"});
  Start(Fit());
  const auto reload = [this] {
    harness_.AddPod({.name = "p", .requests = "\"cpu\":\"1\""});
    harness_.Run();
    ASSERT_EQ(NodeOf("p"), "n1");
    harness_.cluster().DeletePod({"default", "p", ""}, 0, nullptr);
    harness_.Run();
    ReloadWith(Fit());
  };
  for (int i = 0; i < 100; ++i) reload();
  const size_t instances = harness_.loop().cycle().plan().plugins().size();
  const size_t before = mallinfo2().uordblks;
  if (before == 0) GTEST_SKIP() << "the allocator has no statistics";
  for (int i = 0; i < kReloads; ++i) reload();
  const int64_t kept =
      static_cast<int64_t>(mallinfo2().uordblks) - static_cast<int64_t>(before);  // Or less.
  EXPECT_LT(kept, static_cast<int64_t>(kReloads * instances * kBytesPerInstance));
}

// --- profiles that are refused -------------------------------------------------------------------

TEST_F(ProfilesTest, WrongArgumentsAreReportedByPath) {
  const Status status = harness_.Start(
      TestProfile().Use("test.A", {Point::kFilter}, R"({"wrong":"expected nothing, found this"})"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("test.A"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("/wrong"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("expected nothing, found this"));
}

TEST_F(ProfilesTest, InvalidProfilesAreRejected) {
  const auto refusal = [&](const PlanSpec& spec) {
    return std::string(harness_.Start(spec).message());
  };
  const std::string profile = "profile default-scheduler: ";
  PlanSpec spec = TestProfile().Spec();
  spec.points[static_cast<size_t>(Point::kQueueSort)].clear();
  spec.points[static_cast<size_t>(Point::kBind)].clear();
  EXPECT_EQ(refusal(spec), profile + "expected exactly one QueueSort plugin, found 0\n" + profile +
                               "expected at least one Bind plugin, found none");
  EXPECT_EQ(refusal(TestProfile()
                        .Use("cpp.ByKey", {Point::kQueueSort})
                        .Use("cpp.ByLess", {Point::kQueueSort})
                        .Spec()),
            profile + "expected exactly one QueueSort plugin, found 2");
  EXPECT_EQ(refusal(TestProfile()
                        .Use("cpp.ByKey", {Point::kQueueSort})
                        .Use("cpp.FairShare", {Point::kQueueSort})
                        .Spec()),
            profile + "expected exactly one QueueSort plugin, found 2");
  EXPECT_EQ(refusal(TestProfile().Use("test.A", {}).Use("test.A", {}).Spec()),
            "plugin \"test.A\" is listed twice");
  EXPECT_EQ(refusal(TestProfile().Use("test.A", {Point::kFilter, Point::kFilter}).Spec()),
            profile + "Filter: plugin \"test.A\" is listed twice");
  EXPECT_EQ(refusal(TestProfile().Use("cpp.ByKey", {Point::kQueueSort, Point::kFilter}).Spec()),
            profile + "Filter: plugin \"cpp.ByKey\" does not implement this extension point");
  spec = TestProfile().Spec();
  spec.points[static_cast<size_t>(Point::kScore)].push_back({"test.B", 1});
  EXPECT_EQ(refusal(spec), profile + "Score: plugin \"test.B\" is not among the profile's plugins");
  EXPECT_THAT(refusal(TestProfile().Use("test.Z", {}).Use("test.Y", {}).Spec()),
              ::testing::AllOf(::testing::HasSubstr("test.Z"), ::testing::HasSubstr("test.Y")));
}

}  // namespace
}  // namespace berth::host
