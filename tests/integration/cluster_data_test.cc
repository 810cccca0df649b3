// The cluster's data in a real plugin: kinds with several versions and kinds that are not served,
// columns of objects and annotations, pending pods, values and selectors.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ClusterDataTest : public ::testing::Test {
 protected:
  Status TryStart(const std::string& args = "{}") {
    return harness_.Start(
        TestProfile()
            .Use("test.Observer", {Point::kPreFilter, Point::kFilter}, args.c_str())
            .Spec());
  }
  void Start(const std::string& args = "{}") {
    const Status status = TryStart(args);
    ASSERT_TRUE(status.ok()) << status.ToString();
    harness_.Settle();
  }
  void AddRack(const std::string& name, const char* version = "v2", bool closed = false) {
    harness_.AddObject(R"({"kind":"Rack","apiVersion":"example.com/)" + std::string(version) +
                       R"(","metadata":{"name":")" + name + R"("},"spec":{"closed":)" +
                       (closed ? "true" : "false") + "}}");
  }
  void AddNode(const std::string& name, const std::string& annotations = "") {
    harness_.AddObject(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
                       R"(","annotations":{)" + annotations +
                       R"(}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})");
  }
  void SetServed(const char* version, bool served) {
    harness_.cluster().SetServed("example.com/" + std::string(version) + "/Rack", served);
    harness_.Settle();
  }
  // Returns the log of the plugin, without its name.
  std::vector<std::string> Take() {
    std::vector<std::string> lines;
    for (const std::string& line : harness_.lines())
      lines.push_back(line.substr(line.find(": ") + 2));
    harness_.lines().clear();
    return lines;
  }
  std::string Outcome(const std::string& pod, const std::string& meta = "") {
    return Harness::Outcome(harness_.Schedule({.name = pod, .meta = meta}));
  }

  Harness harness_;
};

TEST_F(ClusterDataTest, AKindThatIsNotServedDelaysNothing) {
  for (const char* version : {"v1", "v2"})
    harness_.cluster().SetServed("example.com/" + std::string(version) + "/Rack", false);
  AddNode("n1");
  Start();
  EXPECT_EQ(Outcome("p"), "Success");
  EXPECT_THAT(Take(), AllOf(Contains("racks served=no"), Contains("list ok=no names=")));
  SetServed("v2", true);
  AddRack("n1");
  harness_.Settle();
  EXPECT_THAT(Take(), Contains("rack added kind=example.com/v2/Rack name=n1"));
  Outcome("q");
  EXPECT_THAT(Take(), AllOf(Contains("racks served=yes"), Contains("list ok=yes names=n1")));
}

TEST_F(ClusterDataTest, UsesTheFirstVersionThatIsServed) {
  harness_.cluster().SetServed("example.com/v2/Rack", false);
  AddRack("n1", "v1");
  AddNode("n1");
  Start();
  EXPECT_THAT(Take(), ElementsAre("rack existed kind=example.com/v1/Rack name=n1"));
  SetServed("v2", true);
  EXPECT_THAT(Take(), ElementsAre("rack removed kind=example.com/v1/Rack name=n1"));
  AddRack("n1", "v2");
  harness_.Settle();
  EXPECT_THAT(Take(), ElementsAre("rack added kind=example.com/v2/Rack name=n1"));
}

TEST_F(ClusterDataTest, AColumnHasTheObjectOfTheNode) {
  AddNode("n1");
  AddRack("n1", "v2", true);
  Start();
  EXPECT_THAT(Outcome("p"), HasSubstr("1 the rack is closed"));
  EXPECT_TRUE(harness_.cluster().Delete("example.com/v2/Rack", "", "n1").ok());
  harness_.Settle();
  EXPECT_EQ(Outcome("q"), "Success");
  AddRack("n1", "v2", true);
  EXPECT_THAT(Outcome("r"), HasSubstr("1 the rack is closed"));
}

TEST_F(ClusterDataTest, AColumnHasTheAnnotationOfTheNode) {
  AddNode("n1", R"("example.com/tier":"cold")");
  Start();
  EXPECT_THAT(Outcome("p"), HasSubstr("1 the node is cold"));
  AddNode("n2", R"("example.com/tier":"hot")");
  EXPECT_EQ(Outcome("q"), "Success");
  EXPECT_EQ(harness_.cluster().FindPod("default", "q")->node_name(), "n2");
}

TEST_F(ClusterDataTest, APodIsPendingOrOnANode) {
  AddNode("n1");
  Start();
  EXPECT_EQ(Outcome("p"), "Success");
  std::vector<std::string> changes = Take();
  std::erase_if(changes, [](const std::string& line) { return line.find("pod=") == line.npos; });
  EXPECT_THAT(changes, ElementsAre("pending pod=p", "not pending pod=p", "on a node pod=p"));
  EXPECT_TRUE(harness_.cluster().Delete(kPodKind, "default", "p").ok());
  harness_.Settle();
  harness_.RemoveNode("n1");
  harness_.AddPod({.name = "q"});
  harness_.Run();
  Take();
  EXPECT_TRUE(harness_.cluster().Delete(kPodKind, "default", "q").ok());
  harness_.Settle();
  EXPECT_THAT(Take(), ElementsAre("not pending pod=q"));
}

TEST_F(ClusterDataTest, NewInstanceGetsPendingPodsInItsReplay) {
  AddNode("n1", R"("example.com/tier":"cold")");
  Start();
  harness_.AddPod({.name = "p"});
  harness_.Run();
  Take();
  std::vector<PlanSpec> specs = {
      TestProfile().Use("test.Observer", {Point::kPreFilter, Point::kFilter}, "{}").Spec()};
  specs[0].plugins[0].deadline_ns = kMinute;  // Another instance than before.
  ASSERT_TRUE(harness_.loop().Reload(TestCatalog(), specs).ok());
  EXPECT_THAT(Take(), Contains("pending pod=p"));
}

TEST_F(ClusterDataTest, ParsesAndWritesValues) {
  AddNode("n1");
  Start();
  Outcome("p", R"("annotations":{"example.com/data":
      "{\"list\": [1, 2.5, \"a\\\"b\", null], \"at\": \"1970-01-01T00:01:00Z\"}"})");
  EXPECT_THAT(Take(), Contains(R"(data json=[1,2.5,"a\"b",null] seconds=60)"));
  Outcome("q", R"("annotations":{"example.com/data":"{"})");
  EXPECT_THAT(Take(), Contains(HasSubstr("bad why=/: malformed JSON")));
}

TEST_F(ClusterDataTest, AWrongReleaseIsAFault) {
  AddNode("n1");
  Start(R"({"releasesTwice":true})");
  EXPECT_EQ(Outcome("p", R"("annotations":{"example.com/data":"{\"list\":[]}"})"), "Success");
  EXPECT_THAT(Take(), Contains(HasSubstr("releases a value that berth_values.parse did not")));
}

TEST_F(ClusterDataTest, MatchesASelectorOfItsArguments) {
  AddNode("n1");
  Start(R"({"selector":"zone in (a,b),!old"})");
  EXPECT_THAT(Outcome("p"), HasSubstr("1 the selector does not match"));
  harness_.AddObject(
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n2","labels":{"zone":"b"}},
          "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})");
  EXPECT_EQ(Outcome("q"), "Success");
}

TEST_F(ClusterDataTest, AnInvalidSelectorIsExplained) {
  const Status status = TryStart(R"({"selector":"zone in a"})");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected '(', found \"a\" at byte 8"));
}

TEST_F(ClusterDataTest, APluginThatWatchesPodsIsRefused) {
  for (const char* kind : {"v1/Pod", "v1/Node"}) {
    const Status status = TryStart(R"({"watch":")" + std::string(kind) + "\"}");
    ASSERT_FALSE(status.ok()) << kind;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("plugin \"test.Observer\": expected a watch of a kind other than"),
                      HasSubstr("berth.changes/1"), HasSubstr("[bad-kind]")));
  }
  EXPECT_TRUE(TryStart(R"({"watch":"v1/ConfigMap"})").ok()) << "a kind that it did not declare";
}

}  // namespace
}  // namespace berth::host
