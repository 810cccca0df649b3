#include "host/process/replay/live_cluster.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/process/assemble/plugin_set.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(LiveRequestTest, NamesTheDeclaredKindsAndWhoNeedsThem) {
  PluginSet plugins(::testing::TempDir(), [] { return int64_t{0}; });
  for (const std::string& directory : {DefaultPluginDirectory(), TestPluginDirectory()}) {
    ASSERT_TRUE(plugins.AddDirectory(directory).ok());
  }
  PlanSpec spec;
  spec.plugins = {{"test.Observer", nullptr, ""}, {"VolumeZone", nullptr, ""}};
  const KindUsers users(plugins.catalog(), {&spec, 1});
  const LiveRequest request = LiveRequestFor(users);
  // The versions of a kind stay together, so that the reader uses the first one that is served.
  EXPECT_THAT(request.kinds, Contains("example.com/v2|v1/Rack"));
  EXPECT_THAT(request.kinds, Not(Contains("example.com/v1/Rack")));
  EXPECT_THAT(request.kinds, Contains("storage.k8s.io/v1/StorageClass"));
  EXPECT_EQ(request.needed_by("example.com/v2|v1/Rack"), "the plugin test.Observer");
  EXPECT_EQ(request.needed_by("storage.k8s.io/v1/StorageClass"), "the plugin VolumeZone");
  EXPECT_EQ(request.needed_by("v1/Pod"), "the host");
}

class AddLiveObjectsTest : public ::testing::Test {
 protected:
  AnyObject Decode(const std::string& json) {
    Result<AnyObject> object = cluster_.decoder().Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
    return *std::move(object);
  }
  AnyObject PodWith(const std::string& name, const std::string& uid) {
    return Decode(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")" + name +
                  R"(","uid":")" + uid +
                  R"(","resourceVersion":"7"},"spec":{"containers":[{"name":"c"}]}})");
  }

  Interner interner_;
  VirtualClock clock_{kSecond};
  LocalCluster cluster_{interner_, DecodeOptions(), clock_, /*follows_stream=*/false};
};

TEST_F(AddLiveObjectsTest, AddsObjectsOfEveryKind) {
  LiveObjects live;
  live.objects.push_back(PodWith("web", "u"));
  live.objects.push_back(Decode(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}})"));
  live.objects.push_back(
      Decode(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"a"}})"));
  EXPECT_THAT(AddLiveObjects(std::move(live), cluster_), IsEmpty());
  ASSERT_NE(cluster_.objects().FindPod("n", "web"), nullptr);
  EXPECT_EQ(cluster_.objects().FindPod("n", "web")->uid(), "u");
  EXPECT_NE(cluster_.objects().FindNode("a"), nullptr);
  EXPECT_TRUE(cluster_.objects().Find("storage.k8s.io/v1/CSINode", "", "a").has_value());
}

TEST_F(AddLiveObjectsTest, RefusedObjectIsWarningAndOthersAreAdded) {
  LiveObjects live;
  live.warnings = {"first"};
  live.objects.push_back(PodWith("a", "same"));
  live.objects.push_back(PodWith("b", "same"));
  live.objects.push_back(PodWith("c", "other"));
  const std::vector<std::string> warnings = AddLiveObjects(std::move(live), cluster_);
  EXPECT_THAT(warnings, ElementsAre("first", HasSubstr("b")));
  EXPECT_NE(cluster_.objects().FindPod("n", "a"), nullptr);
  EXPECT_EQ(cluster_.objects().FindPod("n", "b"), nullptr);
  EXPECT_NE(cluster_.objects().FindPod("n", "c"), nullptr);
}

}  // namespace
}  // namespace berth::host
