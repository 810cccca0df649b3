// Bind plugins with the embedded cluster, failed bindings, and services that plugins call.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

class BindTest : public ::testing::Test {
 protected:
  BindTest() { harness_.AddNodes({"n1"}); }

  AttemptResult With(const TestProfile& profile) {
    const Status status = harness_.Start(profile);
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    return harness_.Schedule({.name = "p", .requests = "\"cpu\":\"1\",\"memory\":\"1Gi\""});
  }
  AttemptResult With(const char* args) {
    return With(TestProfile().Use("test.A", {Point::kBind}, args));
  }

  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }
  void ExpectForgotten() {
    EXPECT_EQ(NodeOf("p"), "");
    EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
    EXPECT_EQ(harness_.Column("req.memory", "n1"), 0);
    EXPECT_EQ(harness_.Column("pods.count", "n1"), 0);
    EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
    EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);
  }

  Harness harness_;
};

TEST_F(BindTest, TheHostBindsForThePlugin) {
  const AttemptResult result = With(R"({"bind":{"how":"api"}})");
  EXPECT_EQ(Harness::Outcome(result), "Success");
  EXPECT_EQ(result.node, "n1");
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 1U);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);  // The watch has confirmed the binding.
}

TEST_F(BindTest, APodThatThePluginBindsStaysAssumedUntilTheWatchConfirmsIt) {
  for (const char* args : {R"({"bind":{"how":"return"}})", R"({"bind":{"how":"complete"}})"}) {
    SCOPED_TRACE(args);
    Harness harness;
    harness.AddNodes({"n1"});
    ASSERT_TRUE(harness.Start(TestProfile().Use("test.A", {Point::kBind}, args)).ok());
    const auto result = harness.Schedule({.name = "p", .requests = "\"cpu\":\"1\""});
    EXPECT_EQ(Harness::Outcome(result), "Success");
    EXPECT_EQ(result.node, "n1");
    EXPECT_EQ(harness.Column("req.cpu", "n1"), 1000);
    EXPECT_EQ(harness.loop().cache().assumed_count(), 1U);
  }
}

struct BindCase {
  const char* args;
  const char* outcome;
};

TEST_F(BindTest, AFailureRemovesThePodFromTheCache) {
  constexpr BindCase kTable[] = {
      {R"({"bind":{"code":1,"reasons":["boom","bang"]}})",
       "Error: running Bind plugin \"test.A\": boom, bang"},
      {R"({"bind":{"code":1}})", "Error: running Bind plugin \"test.A\": plugin returned Error"},
      {R"({"bind":{"code":37,"reasons":["a bug"]}})",
       "Error: running Bind plugin \"test.A\": a bug"},
      {R"({"bind":{"code":2,"reasons":["not there"]}})", "Unschedulable: not there"},
      {R"({"bind":{"code":5}})", "Error: all Bind plugins skipped the pod"},
      {R"({"bind":{"how":"complete","code":1,"reasons":["boom"]}})",
       "Error: running Bind plugin \"test.A\": boom"},
      {R"({"bind":{"how":"complete","code":5}})", "Error: all Bind plugins skipped the pod"},
      // If a plugin completes the call and returns a code as well, the completion counts.
      {R"({"bind":{"how":"both","code":1,"reasons":["boom"]}})",
       "Error: running Bind plugin \"test.A\": boom"},
  };
  for (const BindCase& row : kTable) {
    SCOPED_TRACE(row.args);
    Harness harness;
    harness.AddNodes({"n1"});
    ASSERT_TRUE(harness.Start(TestProfile().Use("test.A", {Point::kBind}, row.args)).ok());
    const auto result = harness.Schedule({.name = "p", .requests = "\"cpu\":\"1\""});
    EXPECT_EQ(Harness::Outcome(result), row.outcome);
    EXPECT_EQ(result.node, "");
    EXPECT_EQ(harness.Column("req.cpu", "n1"), 0);
    EXPECT_EQ(harness.Column("pods.count", "n1"), 0);
    EXPECT_EQ(harness.loop().cache().pod_count(), 0U);
  }
}

TEST_F(BindTest, SkipCallsTheNextPlugin) {
  const char* skip = R"({"bind":{"code":5}})";
  const AttemptResult result =
      With(TestProfile()
               .Use("test.A", {Point::kBind}, skip)
               .Use("test.B", {Point::kBind}, R"({"bind":{"how":"complete","code":5}})")
               .Use("test.C", {Point::kBind}, R"({"bind":{"how":"api"}})"));
  EXPECT_EQ(Harness::Outcome(result), "Success");
  EXPECT_EQ(NodeOf("p"), "n1");
}

// The message of the API server is reported unchanged, as kube-scheduler does.
TEST_F(BindTest, TheErrorOfTheClusterIsReported) {
  ASSERT_TRUE(
      harness_.Start(TestProfile().Use("test.A", {Point::kBind}, R"({"bind":{"how":"api"}})"))
          .ok());
  harness_.AddPod({.name = "p", .requests = "\"cpu\":\"1\""});
  // Another client is faster, and the watch has not reported it yet.
  harness_.cluster().Bind({"default", "p", ""}, "elsewhere", nullptr);
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  const AttemptResult result = harness_.results().back();
  EXPECT_THAT(Harness::Outcome(result),
              ::testing::StartsWith("Error: running Bind plugin \"test.A\": "));
  EXPECT_THAT(result.failure.message, ::testing::HasSubstr("p is already assigned to node"));
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 1U);  // On the node where the cluster has it.
}

// The answer of the cluster arrives after the plugin has answered.
TEST_F(BindTest, APluginMayAnswerBeforeTheHostsBindingEnds) {
  const AttemptResult result =
      With(R"({"bind":{"how":"api-then-return","code":1,"reasons":["changed my mind"]}})");
  EXPECT_EQ(Harness::Outcome(result), "Error: running Bind plugin \"test.A\": changed my mind");
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);
}

// The plugin completes the call on another thread, before or after the call returns.
TEST_F(BindTest, AThreadOfThePluginMayCompleteTheCall) {
  ASSERT_TRUE(harness_.Start(TestProfile().Use("cpp.LateBinder", {Point::kBind})).ok());
  for (int i = 0; i < 50; ++i) {
    const auto result = harness_.Schedule({.name = "p" + std::to_string(i)});
    EXPECT_EQ(Harness::Outcome(result),
              "Error: running Bind plugin \"cpp.LateBinder\": the network is away");
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
}

TEST_F(BindTest, APodIsRetriedAfterAnError) {
  EXPECT_EQ(With(R"({"bind":{"code":1}})").node, "");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_.Settle();
  EXPECT_FALSE(harness_.loop().queue().has_ready());
  harness_.clock().Advance(2 * kSecond);
  EXPECT_EQ(harness_.Next().node, "");
  EXPECT_EQ(harness_.loop().queue().Find("uid-p")->attempts, 2U);
}

TEST_F(BindTest, APodThatChangesDuringItsBindingIsRetriedInItsNewVersion) {
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  harness_.AddPod({.name = "p"});
  // The loop receives the change while it waits for the answer to the binding, which fails because
  // of the scheduling gate.
  ASSERT_TRUE(harness_.cluster()
                  .Update(harness_.objects().Pod(
                      {.name = "p", .spec = R"("schedulingGates":[{"name":"g"}])"}))
                  .ok());
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  const AttemptResult result = harness_.results().back();
  EXPECT_THAT(result.failure.message, ::testing::HasSubstr("non-empty .spec.schedulingGates"));
  ASSERT_NE(harness_.loop().queue().Find("uid-p"), nullptr);
  EXPECT_EQ(harness_.loop().queue().Find("uid-p")->pod->view().scheduling_gates.count, 1U);
}

TEST_F(BindTest, APodThatIsDeletedBeforeItsBindingFailsIsNotRequeued) {
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  harness_.AddPod({.name = "p"});
  harness_.cluster().DeletePod({"default", "p", {}}, 0, nullptr);
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
}

// --- cycle state --------------------------------------------------------------------------------

TEST_F(BindTest, SlotsExistFromPreFilterToBind) {
  TestProfile profile;
  profile.Use("test.A", {Point::kPreFilter, Point::kBind}, R"({"say":1,"bind":{"how":"api"}})");
  ASSERT_TRUE(harness_.Start(profile).ok());
  harness_.Schedule({.name = "p"});
  harness_.Schedule({.name = "q"});
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: pre_filter slot=7"), 2);
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: pre_filter slots=1"), 2);
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: bind slot=1"), 2);
  harness_.Stop();
  EXPECT_THAT(harness_.lines(), Contains("test.A: destroy slots=0"));
}

// --- services -----------------------------------------------------------------------------------

TEST_F(BindTest, ColumnsCanBeBoundInPreFilterOnly) {
  TestProfile profile;
  profile.Use("test.A", {Point::kPreFilter, Point::kFilter},
              R"({"preFilter":{"bindColumn":"label:zone"},"filter":{"bindColumn":"req.cpu"}})");
  ASSERT_TRUE(harness_.Start(profile).ok());
  EXPECT_EQ(Harness::Outcome(harness_.Schedule({.name = "p"})), "Success");
  EXPECT_THAT(harness_.lines(), ElementsAre("test.A: bind code=0", "test.A: bind index=1",
                                            "test.A: bind code=36", "test.A: bind index=-1"));
}

TEST_F(BindTest, UnknownAndMisspelledColumns) {
  const std::pair<const char*, std::vector<std::string>> kTable[] = {
      {"alloc:example.com/score", {"test.A: bind code=0", "test.A: bind index=0"}},
      {"no.such", {"test.A: bind code=34", "test.A: bind index=-1"}},
  };
  for (const auto& [name, lines] : kTable) {
    harness_.lines().clear();
    const std::string args = R"({"preFilter":{"bindColumn":")" + std::string(name) + "\"}}";
    ASSERT_TRUE(
        harness_.Start(TestProfile().Use("test.A", {Point::kPreFilter}, args.c_str())).ok());
    harness_.Schedule({.name = std::string("p-") + name[0]});
    EXPECT_EQ(harness_.lines(), lines);
  }
}

TEST_F(BindTest, ObjectsOfDeclaredKinds) {
  for (const char* name : {"red", "blue"}) {
    harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" +
                       std::string(name) + "\"}}");
  }
  harness_.AddObject(
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"x","namespace":"d"}})");
  ASSERT_TRUE(
      harness_.Start(TestProfile().Use("test.A", {Point::kPreFilter}, R"({"say":1})")).ok());
  harness_.Schedule({.name = "p"});
  EXPECT_THAT(harness_.lines(),
              IsSupersetOf({"test.A: namespaces code=0", "test.A: secrets code=34",
                            "test.A: secret found=0", "test.A: retained same=1"}));
  const auto starts = [&](const char* text) {
    return std::ranges::find_if(harness_.lines(),
                                [text](const std::string& line) { return line.starts_with(text); });
  };
  EXPECT_LT(starts("test.A: blue Namespace="), starts("test.A: red Namespace="));
  EXPECT_NE(starts("test.A: red Namespace="), harness_.lines().end());
}

TEST_F(BindTest, WrongArgumentsAreReportedByPath) {
  const Status status = harness_.Start(
      TestProfile().Use("test.A", {Point::kFilter}, R"({"wrong":"expected nothing, found this"})"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("test.A"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("/wrong"));
  EXPECT_THAT(status.message(), ::testing::HasSubstr("expected nothing, found this"));
}

// --- plans --------------------------------------------------------------------------------------

TEST_F(BindTest, InvalidProfilesAreRejected) {
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
