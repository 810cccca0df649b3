// A quota plugin, as a third party would write it: it counts the pods of every namespace, those on
// nodes and those that are pending.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

constexpr const char* kShareIsUsed = "The namespace runs its share of the pods";

class NamespaceQuotaTest : public ::testing::Test {
 protected:
  // All namespaces together may run `pods` pods.
  void Start(int pods) {
    harness_.AddNode({.name = "n1"});
    const std::string args = "{\"pods\": " + std::to_string(pods) + "}";
    const Status status =
        harness_.Start(TestProfile()
                           .Use("SchedulingGates", {Point::kPreEnqueue})
                           .Use("acme.NamespaceQuota",
                                {Point::kPreFilter, Point::kEnqueueExtensions}, args.c_str()));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  std::string Outcome(const std::string& ns, const std::string& pod) {
    return Harness::Outcome(harness_.Schedule({.name = pod, .ns = ns}));
  }

  Harness harness_;
};

TEST_F(NamespaceQuotaTest, AloneANamespaceGetsAllPods) {
  Start(3);
  for (const char* pod : {"p1", "p2", "p3"}) EXPECT_EQ(Outcome("a", pod), "Success") << pod;
  EXPECT_THAT(Outcome("a", "p4"), HasSubstr(kShareIsUsed));
}

TEST_F(NamespaceQuotaTest, PendingPodOfAnotherNamespaceHalvesTheShare) {
  Start(4);
  EXPECT_EQ(Outcome("a", "p1"), "Success");
  harness_.AddPod({.name = "gated", .spec = R"("schedulingGates":[{"name":"wait"}])", .ns = "b"});
  harness_.Settle();
  EXPECT_EQ(Outcome("a", "p2"), "Success");
  EXPECT_THAT(Outcome("a", "p3"), HasSubstr(kShareIsUsed));
}

TEST_F(NamespaceQuotaTest, ADeletedPodMakesRoom) {
  Start(1);
  EXPECT_EQ(Outcome("a", "p1"), "Success");
  EXPECT_THAT(Outcome("a", "p2"), HasSubstr(kShareIsUsed));
  harness_.cluster().DeletePod({"a", "p1", ""}, 0, nullptr);
  harness_.Advance(60'000'000'000);
  EXPECT_EQ(harness_.cluster().FindPod("a", "p2")->node_name(), "n1");
}

// Nothing that happens to a pod on a node tells the plugin that the namespace has no pods any more.
TEST_F(NamespaceQuotaTest, ADeletedPendingPodMakesRoom) {
  Start(4);
  harness_.AddPod({.name = "gated", .spec = R"("schedulingGates":[{"name":"wait"}])", .ns = "b"});
  harness_.AddPod({.name = "more", .spec = R"("schedulingGates":[{"name":"wait"}])", .ns = "b"});
  harness_.Settle();
  for (const char* pod : {"p1", "p2"}) EXPECT_EQ(Outcome("a", pod), "Success") << pod;
  EXPECT_THAT(Outcome("a", "p3"), HasSubstr(kShareIsUsed));
  harness_.cluster().DeletePod({"b", "gated", ""}, 0, nullptr);
  harness_.Run();
  EXPECT_EQ(harness_.cluster().FindPod("a", "p3")->node_name(), "") << "b still has a pod";
  harness_.cluster().DeletePod({"b", "more", ""}, 0, nullptr);
  harness_.Run();
  EXPECT_EQ(harness_.cluster().FindPod("a", "p3")->node_name(), "n1");
}

// The only pod of its namespace is pending no more before it is on its node.
TEST_F(NamespaceQuotaTest, AnAssumedPodDoesNotRequeueOthers) {
  Start(6);
  harness_.AddPod({.name = "q1", .spec = R"("schedulingGates":[{"name":"wait"}])", .ns = "b"});
  harness_.Settle();
  for (const char* pod : {"p1", "p2"}) EXPECT_EQ(Outcome("a", pod), "Success") << pod;
  harness_.AddPod({.name = "p3", .ns = "a"});
  harness_.AddPod({.name = "r1", .ns = "c"});
  EXPECT_THAT(Harness::Outcome(harness_.Next()), HasSubstr(kShareIsUsed)) << "p3, two of six";
  EXPECT_EQ(Harness::Outcome(harness_.Next()), "Success") << "r1";
  harness_.Settle();
  EXPECT_EQ(harness_.ready(), 0U);
}

// A pod that a profile assumes and then forgets is pending again, and counts once.
TEST_F(NamespaceQuotaTest, APodCountsOnceWhenItsBindingFails) {
  Start(2);
  int binds = 0;
  harness_.client().on_bind = [&](const PodName&, std::string_view) {
    return ++binds == 1 ? Status(ErrorCode::kInternal, "not now") : Status();
  };
  EXPECT_THAT(Outcome("a", "p1"), HasSubstr("Error"));
  harness_.Advance(60'000'000'000);
  EXPECT_EQ(harness_.cluster().FindPod("a", "p1")->node_name(), "n1");
  EXPECT_EQ(Outcome("a", "p2"), "Success");
  EXPECT_THAT(Outcome("a", "p3"), HasSubstr(kShareIsUsed));
}

}  // namespace
}  // namespace berth::host
