// Plan: what create() of a plugin receives.
#include "host/plan/plan.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(PlanTest, RequestNamesThePointsThatTheProfileEnables) {
  Stage stage;
  // The plugin also offers the other points.
  const Puppet& a = stage.Add("puppet.A", {Point::kPreFilter, Point::kFilter, Point::kChanges});
  const Puppet& b = stage.Add("puppet.B", {Point::kScore});
  stage.Build();
  EXPECT_THAT(a.enabled_points,
              UnorderedElementsAre("berth.pre_filter/1", "berth.filter/1", "berth.changes/1"));
  EXPECT_THAT(b.enabled_points, ElementsAre("berth.score/1"));
}

TEST(PlanTest, RequestNamesTheRevisionThatTheHostUses) {
  Stage stage;
  const Puppet& lanes = stage.Add("puppet.Lanes", {Point::kQueueSort});
  stage.Build();
  EXPECT_THAT(lanes.enabled_points, ElementsAre("berth.queue_sort/2"));
}

TEST(PlanTest, TheRequestHasTheDeadlineOfTheProfile) {
  Stage stage;
  const Puppet& a = stage.Add("puppet.A", {Point::kFilter});
  const Puppet& b = stage.Add("puppet.B", {Point::kFilter});
  stage.SetDeadline("puppet.A", 5'000'000'000);
  stage.Build();
  EXPECT_EQ(a.deadline_ns, 5'000'000'000);
  EXPECT_EQ(b.deadline_ns, 0) << "the profile does not set it";
}

TEST(PlanTest, OnlyALocalClusterKeepsWholeObjects) {
  const std::set<std::string> fields = {"Pod:", "Pod:/spec/hostIPC", "Node:/spec/podCIDR"};
  for (const bool is_local : {false, true}) {
    const DecodeOptions options =
        is_local ? LocalDecodeOptionsFor(fields, {1, 36}) : DecodeOptionsFor(fields, {1, 36});
    EXPECT_EQ(options.emulated_version, (KubeVersion{1, 36}));
    EXPECT_THAT(options.pod_fields, ElementsAre("/spec/hostIPC"));
    EXPECT_THAT(options.node_fields, ElementsAre("/spec/podCIDR"));
    EXPECT_EQ(options.keep_pod_text, is_local);
    EXPECT_FALSE(options.keep_node_text);
  }
}

}  // namespace
}  // namespace berth::host
