#include "args.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <berth/args_table.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

// Returns the arguments of a profile with these default constraints.
std::string List(const std::string& constraints) {
  return R"({"defaultingType": "List", "defaultConstraints": [)" + constraints + "]}";
}
std::string Constraint(const std::string& key, const std::string& more = "",
                       const std::string& action = "DoNotSchedule") {
  return R"({"maxSkew": 1, "topologyKey": ")" + key + R"(", "whenUnsatisfiable": ")" + action +
         "\"" + more + "}";
}

TEST(PodTopologySpreadArgs, InvalidArgumentsAreReported) {
  const std::string first = "/defaultConstraints/0";
  const struct {
    std::string args;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"defaultConstraint": []})",
       {"/defaultConstraint: unknown key \"defaultConstraint\", did you mean "
        "\"defaultConstraints\"?"}},
      {R"({"defaultingType": "list"})",
       {"/defaultingType: expected one of \"System\", \"List\", found string \"list\", did you "
        "mean \"List\"?"}},
      {R"({"defaultConstraints": [)" + Constraint("zone") + "]}",
       {"/defaultingType: invalid value \"System\" when .defaultConstraints are not empty, "
        "expected \"List\""}},
      {List("{}"),
       {first + "/maxSkew: is required", first + "/topologyKey: is required",
        first + "/whenUnsatisfiable: is required"}},
      {List(R"({"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"})"),
       {first + "/maxSkew: expected integer 1..2147483647, found integer 0"}},
      {List(Constraint("")), {first + "/topologyKey: can not be empty"}},
      {List(Constraint("-z")),
       {first + "/topologyKey: expected a label's key, such as topology.kubernetes.io/zone, found "
                "\"-z\""}},
      {List(Constraint("z", "", "Never")),
       {first + "/whenUnsatisfiable: expected one of \"DoNotSchedule\", \"ScheduleAnyway\", found "
                "string \"Never\""}},
      {List(Constraint("z", R"(, "labelSelector": {})")),
       {first + "/labelSelector: constraint must not define a selector, as they deduced for each "
                "pod"}},
      {List(Constraint("z", R"(, "minDomains": 0)")),
       {first + "/minDomains: expected integer 1..2147483647, found integer 0"}},
      {List(Constraint("z", R"(, "nodeTaintsPolicy": "Obey")")),
       {first + "/nodeTaintsPolicy: expected one of \"Honor\", \"Ignore\", found string \"Obey\""}},
      {List(Constraint("z") + "," + Constraint("y") + "," + Constraint("z")),
       {"/defaultConstraints/2: duplicate value {z, DoNotSchedule}"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.args);
    const Answer answer = PluginUnderTest::Create({.args = Args(c.args)});
    EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
    EXPECT_EQ(answer.reasons, c.errors);
  }
}

TEST(PodTopologySpreadArgs, ValidArgumentsAreAccepted) {
  for (const std::string& args :
       {std::string("{}"), std::string(R"({"defaultingType": "System"})"),
        std::string(R"({"defaultingType": "System", "defaultConstraints": []})"), List(""),
        List(Constraint("example.com/rack") + "," +
             Constraint("example.com/rack", "", "ScheduleAnyway")),
        List(Constraint("zone", R"(, "minDomains": 2, "nodeAffinityPolicy": "Ignore",
                                   "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["a"],
                                   "labelSelector": null)"))}) {
    SCOPED_TRACE(args);
    EXPECT_EQ(PluginUnderTest::Create({.args = Args(args)}), Success());
  }
}

TEST(PodTopologySpreadArgs, ArgumentsWithoutEffectAreLogged) {
  const PluginUnderTest with(
      {.nodes = {}, .args = Args(List(Constraint("zone", R"(, "matchLabelKeys": ["a"])")))});
  ASSERT_EQ(with.log().size(), 1U);
  EXPECT_EQ(with.log()[0].message, "matchLabelKeys of a default constraint has no effect");
  const PluginUnderTest without({.nodes = {}, .args = Args(List(Constraint("zone")))});
  EXPECT_EQ(without.log().size(), 0U);
}

TEST(PodTopologySpreadArgs, SystemDefaultsAreThoseOfKubeScheduler) {
  const std::vector<spread::DefaultConstraint> defaults = spread::DefaultConstraints({});
  ASSERT_EQ(defaults.size(), 2U);
  EXPECT_EQ(defaults[0].topology_key, "kubernetes.io/hostname");
  EXPECT_EQ(defaults[0].max_skew, 3);
  EXPECT_EQ(defaults[1].topology_key, "topology.kubernetes.io/zone");
  EXPECT_EQ(defaults[1].max_skew, 5);
  for (const spread::DefaultConstraint& each : defaults) {
    EXPECT_EQ(each.when_unsatisfiable, spread::Action::kScheduleAnyway);
    EXPECT_EQ(each.node_affinity_policy, spread::Policy::kHonor);
    EXPECT_EQ(each.node_taints_policy, spread::Policy::kIgnore);
  }
}

struct Documented {
  using Args = spread::Args;
  static constexpr auto kArgs = spread::kArgRows;
};

TEST(PodTopologySpreadArgs, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
