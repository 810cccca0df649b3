// The extension points, listed once more: a change is a change of what plugins can rely on.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cache/object_store.h"
#include "host/guard/point.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(Points, AreTheseFourteen) {
  std::vector<std::string_view> names;
  for (const PointInfo& info : kPoints) names.push_back(info.name);
  EXPECT_THAT(names, ElementsAre("PreEnqueue", "EnqueueExtensions", "QueueSort", "PreFilter",
                                 "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit",
                                 "PreBind", "Bind", "PostBind", "Changes"));
}

TEST(Points, AreInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < kPointCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kPoints[i].point), i);
    EXPECT_EQ(FindPoint(kPoints[i].id), &kPoints[i]);
    EXPECT_EQ(&InfoOf(kPoints[i].point), &kPoints[i]);
  }
  EXPECT_EQ(FindPoint("berth.filter/2"), nullptr);
  EXPECT_EQ(FindPoint(""), nullptr);
}

TEST(PluginStatus, MessageJoinsReasons) {
  EXPECT_EQ(PluginStatus().Message(), "");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, 1, {"a"}}.Message()), "a");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, 1, {"a", "b"}}.Message()), "a, b");
}

TEST(PluginStatus, RejectedMeansARejectionAndNoError) {
  for (const berth_code code :
       {BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, BERTH_PENDING}) {
    EXPECT_TRUE((PluginStatus{code, {}, {}}.rejected())) << code;
  }
  for (const berth_code code : {BERTH_SUCCESS, BERTH_ERROR, BERTH_WAIT, BERTH_SKIP, BERTH_BUG}) {
    EXPECT_FALSE((PluginStatus{code, {}, {}}.rejected())) << code;
  }
}

}  // namespace
}  // namespace berth::host
