#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/process/replay/embedded_scheduler.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr const char* kWebPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web-0, resourceVersion: "7", uid: u}
spec: {nodeName: a, priority: 1}
)";

// Records the names of the objects that a watch delivers.
class NameSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.has_object()) names.emplace_back(Base(event.object).name());
    }
  }
  std::vector<std::string> names;
};

class LocalClusterTest : public ::testing::Test {
 protected:
  // Returns an ADDED event of pod web-0.
  StreamEvent PodEvent(const char* version, int priority) {
    Result<AnyObject> pod = cluster_.decoder().Decode(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default",)"
        R"("uid":"u","resourceVersion":")" +
        std::string(version) + R"("},"spec":{"nodeName":"a","priority":)" +
        std::to_string(priority) + "}}");
    BERTH_ASSERT_MSG(pod.ok(), "%s", pod.status().ToString().c_str());
    return {StreamType::kAdded, 0, *std::move(pod), ""};
  }
  int Priority() const { return cluster_.objects().FindPod("default", "web-0")->view().priority; }

  Interner interner_;
  VirtualClock clock_{kSecond};
  LocalCluster cluster_{interner_, DecodeOptions(), clock_, /*follows_stream=*/true};
};

TEST_F(LocalClusterTest, DeliversADecodedObjectToItsWatches) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  ASSERT_TRUE(cluster_.Add(PodEvent("7", 1).object).ok());
  EXPECT_THAT(pods.names, ElementsAre("web-0"));
  EXPECT_EQ(cluster_.Add(PodEvent("7", 1).object).message(), "duplicate v1/Pod default/web-0");
  // The stream that follows repeats the version, which changes nothing.
  const Result<bool> changed = cluster_.Apply(PodEvent("7", 2));
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
  EXPECT_EQ(Priority(), 1);
}

TEST_F(LocalClusterTest, LoadsEveryObjectOfAManifest) {
  const Status status =
      cluster_.AddManifest("a.yaml",
                           "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
                           "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\n");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(cluster_.objects().FindNode("a"), nullptr);
  EXPECT_NE(cluster_.objects().FindPod("default", "web-0"), nullptr);
}

TEST_F(LocalClusterTest, ReportsThePositionOfAnInvalidObject) {
  const Status status = cluster_.AddManifest(
      "a.yaml",
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {priority: high}\n");
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.message().starts_with("a.yaml:8: Pod default/web-0: /spec/priority: "))
      << status.message();
}

TEST_F(LocalClusterTest, ReportsEveryErrorOfADump) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  const Status status = cluster_.AddManifest("dump.json",
                                             R"({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "web"},
         "spec": {"containers": [{"resources": {"requests": {
           "cpu": "lots"}}}]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}]})");
  EXPECT_EQ(status.message(),
            "dump.json:5: Pod web/a: /items/1/spec/containers/0/resources/requests/cpu: quantity "
            "\"lots\": expected a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6\n"
            "dump.json:6: Node n: /items/2: duplicate v1/Node n");
  EXPECT_NE(cluster_.objects().FindNode("n"), nullptr);
  EXPECT_THAT(pods.names, ElementsAre("b"));
}

TEST_F(LocalClusterTest, ReportsThePositionOfADuplicateObject) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";
  const Status status = cluster_.AddManifest("a.yaml", node + "---\n" + node);
  EXPECT_EQ(status.code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "a.yaml:5: Node a: duplicate v1/Node a");
}

TEST_F(LocalClusterTest, DeliversObjectsOfAManifestToItsWatches) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  EXPECT_THAT(pods.names, ElementsAre("web-0"));
  EXPECT_TRUE(cluster_.AtRest());
}

TEST_F(LocalClusterTest, NamesTheInputInErrors) {
  std::istringstream in("kind: [");
  EXPECT_THAT(cluster_.AddFile("-", in).message(), StartsWith("standard input:"));
  EXPECT_THAT(cluster_.AddFile("no/such.yaml", in).message(), StartsWith("no/such.yaml: "));
}

// A stream may begin with an older state of an object that was loaded from a file.
TEST_F(LocalClusterTest, IgnoresOlderVersionsOfLoadedObjects) {
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  EXPECT_FALSE(*cluster_.Apply(PodEvent("6", 5)));
  EXPECT_EQ(Priority(), 1);
  EXPECT_TRUE(*cluster_.Apply(PodEvent("8", 5)));
  EXPECT_EQ(Priority(), 5);
}

TEST_F(LocalClusterTest, FinishesDeletionOfPodAfterItsGracePeriod) {
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  cluster_.client().writer.DeletePod({"default", "web-0", ""}, 5, nullptr);
  cluster_.Deliver();
  EXPECT_EQ(cluster_.NextDeletionNs(), 6 * kSecond);
  EXPECT_FALSE(cluster_.AtRest());
  EXPECT_FALSE(cluster_.FinishDeletions());
  clock_.AdvanceTo(6 * kSecond);
  EXPECT_TRUE(cluster_.FinishDeletions());
  cluster_.Deliver();
  EXPECT_EQ(cluster_.objects().FindPod("default", "web-0"), nullptr);
  EXPECT_TRUE(cluster_.AtRest());
}

TEST_F(LocalClusterTest, ServesTheApiForPlugins) {
  ASSERT_TRUE(
      cluster_.AddManifest("m", "apiVersion: v1\nkind: Namespace\nmetadata: {name: red}").ok());
  std::string answer;
  ApiRequest request;
  request.verb = "GET";
  request.path = "/api/v1/namespaces/red";
  cluster_.client().writer.Request(std::move(request), [&](const ApiResponse& given) {
    answer = given.status.ok() ? given.body : given.status.ToString();
  });
  cluster_.Deliver();
  EXPECT_THAT(answer, ::testing::HasSubstr(R"("kind":"Namespace")"));
}

}  // namespace
}  // namespace berth::host
