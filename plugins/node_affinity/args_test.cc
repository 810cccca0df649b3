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

const std::string kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
const std::string kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

std::string Required(const std::string& terms) {
  return R"({"addedAffinity": {")" + kRequired + R"(": {"nodeSelectorTerms": [)" + terms + "]}}}";
}
std::string Expression(const std::string& requirement) {
  return Required(R"({"matchExpressions": [)" + requirement + "]}");
}
std::string Field(const std::string& requirement) {
  return Required(R"({"matchFields": [)" + requirement + "]}");
}

TEST(NodeAffinityArgs, InvalidArgumentsAreReported) {
  const std::string terms = "/addedAffinity/" + kRequired + "/nodeSelectorTerms";
  const std::string expression = terms + "/0/matchExpressions/0";
  const std::string field = terms + "/0/matchFields/0";
  const struct {
    std::string args;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"addedAfinity": {}})",
       {"/addedAfinity: unknown key \"addedAfinity\", did you mean \"addedAffinity\"?"}},
      {R"({"addedAffinity": {")" + kRequired + R"(": {}}})", {terms + ": is required"}},
      {Required(""), {terms + ": expected array of at least 1, found one of 0"}},
      {Expression(R"({"operator": "In", "values": ["a"]})"), {expression + "/key: is required"}},
      {Expression(R"({"key": "a", "operator": "in", "values": ["a"]})"),
       {expression + "/operator: expected one of \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", "
                     "\"Gt\", \"Lt\", found string \"in\", did you mean \"In\"?"}},
      {Expression(R"({"key": "-a", "operator": "In", "values": ["a", "a b"]})"),
       {expression + "/key: expected a label's key, such as example.com/tier, found \"-a\"",
        expression + "/values/1: expected a label's value, found \"a b\""}},
      {Expression(R"({"key": "a", "operator": "NotIn"})"),
       {expression + "/values: for In and NotIn, values must not be empty"}},
      {Expression(R"({"key": "a", "operator": "Exists", "values": ["a"]})"),
       {expression + "/values: for Exists and DoesNotExist, values must be empty, found 1"}},
      {Expression(R"({"key": "a", "operator": "Gt", "values": ["1", "2"]})"),
       {expression + "/values: for Gt and Lt, exactly one value is required, found 2"}},
      {Expression(R"({"key": "a", "operator": "Lt", "values": ["1.5"]})"),
       {expression + "/values/0: for Gt and Lt, expected an integer, found \"1.5\""}},
      {Expression(R"({"key": "a", "operator": "Gt", "values": ["-1"]})"),
       {expression + "/values/0: expected a label's value, found \"-1\""}},
      {Field(R"({"key": "metadata.namespace", "operator": "Exists"})"),
       {field + "/key: expected \"metadata.name\", found \"metadata.namespace\"",
        field + "/operator: for a field, expected In or NotIn",
        field + "/values: for a field, exactly one value is required, found 0"}},
      {R"({"addedAffinity": {")" + kPreferred +
           R"(": [{"weight": 101, "preference": {}}, {"weight": 1}, {"weight": 1, "preference":
              {"matchExpressions": [{"key": "a", "operator": "In"}]}}]}})",
       {"/addedAffinity/" + kPreferred + "/0/weight: expected integer 0..100, found integer 101",
        "/addedAffinity/" + kPreferred + "/1/preference: is required"}},
      {R"({"addedAffinity": {")" + kPreferred + R"(": [{"weight": 1, "preference":
              {"matchExpressions": [{"key": "a", "operator": "In"}]}}]}})",
       {"/addedAffinity/" + kPreferred +
        "/0/preference/matchExpressions/0/values: for In and NotIn, values must not be empty"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.args);
    const Answer answer = PluginUnderTest::Create({.args = Args(c.args)});
    EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
    EXPECT_EQ(answer.reasons, c.errors);
  }
}

TEST(NodeAffinityArgs, ValidArgumentsAreAccepted) {
  for (const std::string& args :
       {std::string("{}"), std::string(R"({"addedAffinity": {}})"), Required("{}"),
        Expression(R"({"key": "example.com/a", "operator": "In", "values": ["", "b"]})"),
        Expression(R"({"key": "a", "operator": "Lt", "values": ["9223372036854775807"]})"),
        Field(R"({"key": "metadata.name", "operator": "NotIn", "values": ["a.example.com"]})")}) {
    SCOPED_TRACE(args);
    EXPECT_EQ(PluginUnderTest::Create({.args = Args(args)}), Success());
  }
}

struct Documented {
  using Args = affinity::Args;
  static constexpr auto kArgs = affinity::kArgRows;
};

TEST(NodeAffinityArgs, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
