// These tests need no cluster and no host. PluginUnderTest::Filter() and Score() call the plugin
// and then check its contract: they repeat the call with other blocks, on several threads, and with
// other pods and nodes. A test fails if the plugin breaks the contract, for example if a result
// depends on data that the plugin does not declare.
#include <map>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kRack = "acme.com/rack";
constexpr const char* kWatts = "acme.com/watts";
constexpr const char* kNoPower = "Rack power budget exceeded";

NodeSpec InRack(const std::string& name, const std::string& rack, const std::string& used) {
  return MakeNode(name).Label(kRack, rack).Used(kWatts, used);
}

// Rack r1 draws 700 W over two nodes, r2 draws 200 W, and one node is in no rack.
std::vector<NodeSpec> Racks() {
  return {InRack("a", "r1", "300"), InRack("b", "r1", "400"), InRack("c", "r2", "200"),
          MakeNode("loose")};
}

PodSpec Drawing(const std::string& watts) { return MakePod("p").Request(kWatts, watts); }

TEST(RackPower, LimitsARackToItsBudget) {
  PluginUnderTest plugin({.nodes = Racks(), .args = {{"wattsPerRack", 1000}}});
  const struct {
    const char* name;
    const char* watts;
    std::vector<std::string> fitting;
  } cases[] = {
      {"the last watt of r1", "300", {"a", "b", "c"}},
      {"one more", "301", {"c"}},
      {"more than any rack has", "801", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(Drawing(c.watts)).Fitting(), c.fitting);
  }
  EXPECT_EQ(plugin.Filter(Drawing("301")).On("a"), Unschedulable(kNoPower));
  EXPECT_EQ(plugin.Filter(Drawing("1")).On("loose"), Unresolvable("Node is in no rack"));
}

TEST(RackPower, ADrawOfAnySizeIsCounted) {
  constexpr const char* kMax = "9223372036854775807";
  std::vector<NodeSpec> nodes = Racks();
  nodes.push_back(InRack("x", "r3", kMax));
  nodes.push_back(InRack("y", "r3", kMax));
  PluginUnderTest plugin({.nodes = nodes, .args = {{"wattsPerRack", 1000}}});
  const struct {
    const char* name;
    const char* watts;
    std::vector<std::string> fitting;
  } cases[] = {
      {"on racks that draw something", kMax, {}},
      {"on a rack that draws too much", "1", {"a", "b", "c"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(Drawing(c.watts)).Fitting(), c.fitting);
  }
  // The sum of the rack is exact after such a pod has left.
  plugin.AddPod(MakePod("gone").Request(kWatts, kMax), "c");
  EXPECT_EQ(plugin.Filter(Drawing("1")).Fitting(), (std::vector<std::string>{"a", "b"}));
  plugin.RemovePod("gone", "c");
  EXPECT_EQ(plugin.Filter(Drawing("800")).Fitting(), (std::vector<std::string>{"c"}));
  EXPECT_EQ(plugin.Filter(Drawing("801")).Fitting(), (std::vector<std::string>{}));
}

TEST(RackPower, KeepsTheReserveFree) {
  PluginUnderTest plugin(
      {.nodes = Racks(), .args = {{"wattsPerRack", 1000}, {"reservePercent", 20}}});
  EXPECT_EQ(plugin.Filter(Drawing("100")).Fitting(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(plugin.Filter(Drawing("101")).Fitting(), (std::vector<std::string>{"c"}));
}

TEST(RackPower, AcceptsAPodWithoutWattsOnEveryNode) {
  PluginUnderTest plugin({.nodes = Racks(), .args = {{"wattsPerRack", 1}}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Skip());
  EXPECT_TRUE(plugin.Score(MakePod("p")).skipped);
}

TEST(RackPower, PrefersTheRackThatDrawsLess) {
  PluginUnderTest plugin({.nodes = Racks(), .args = {{"wattsPerRack", 1000}}});
  const ScoreResult result = plugin.Score(Drawing("100"));
  EXPECT_EQ(result.raw.at("a"), 700);
  EXPECT_EQ(result.raw.at("c"), 200);
  EXPECT_EQ(result.normalized.at("a"), 0);
  EXPECT_EQ(result.normalized.at("c"), 72);
}

TEST(RackPower, HintQueuesPodWhenAPodIsDeleted) {
  PluginUnderTest plugin({.nodes = Racks(), .args = {{"wattsPerRack", 1000}}});
  const PodSpec gone = MakePod("gone").NodeName("a");
  EXPECT_EQ(plugin.Hint(Drawing("400"), {.resource = BERTH_RESOURCE_POD_ANY,
                                         .action = BERTH_ACTION_DELETE,
                                         .old_pod = {gone}}),
            uint32_t{BERTH_HINT_QUEUE});
}

TEST(RackPower, RejectsWrongArguments) {
  EXPECT_EQ(PluginUnderTest::Create({.args = {{"wattsPerRack", 0}}}).code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(PluginUnderTest::Create({}).code, BERTH_BAD_ARGUMENT) << "wattsPerRack is required";
}

}  // namespace
}  // namespace berth::testing
