#include "args.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <berth/args_table.h>
#include <berth/testing/gtest.h>

#include "strategy.h"

namespace berth::testing {
namespace {

TEST(NodeResourcesFitArgs, InvalidArgumentsAreReported) {
  const std::string ratio = "/scoringStrategy/requestedToCapacityRatio";
  const struct {
    const char* args;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"ignoredResources": ["a", "example.com/gpu", "-a", "A.com/b", "a/b/c", ""]})",
       {"/ignoredResources/2: expected a qualified name, such as example.com/gpu, found \"-a\"",
        "/ignoredResources/3: expected a qualified name, such as example.com/gpu, found "
        "\"A.com/b\"",
        "/ignoredResources/4: expected a qualified name, such as example.com/gpu, found \"a/b/c\"",
        "/ignoredResources/5: expected a qualified name, such as example.com/gpu, found \"\""}},
      {R"({"ignoredResourceGroups": ["example.com", "example.com/gpu", "a b"]})",
       {"/ignoredResourceGroups/1: resource group name can't contain '/', found "
        "\"example.com/gpu\"",
        "/ignoredResourceGroups/2: expected a qualified name, such as example.com, found \"a b\""}},
      {R"({"ignoredResources": "example.com/gpu"})",
       {"/ignoredResources: expected array, found string \"example.com/gpu\""}},
      {R"({"scoringStrategy": {}})", {"/scoringStrategy/type: is required"}},
      {R"({"scoringStrategy": {"type": "MostAlocated"}})",
       {"/scoringStrategy/type: expected one of \"LeastAllocated\", \"MostAllocated\", "
        "\"RequestedToCapacityRatio\", found string \"MostAlocated\", did you mean "
        "\"MostAllocated\"?"}},
      {R"({"scoringStrategy": {"type": "MostAllocated", "resources": [
           {"name": "cpu", "weight": 101}, {"name": "memory", "weight": -1}, {"weight": 1}]}})",
       {"/scoringStrategy/resources/0/weight: expected integer 0..100, found integer 101",
        "/scoringStrategy/resources/1/weight: expected integer 0..100, found integer -1",
        "/scoringStrategy/resources/2/name: is required"}},
      {R"({"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": ""}]}})",
       {"/scoringStrategy/resources/0/name: expected a resource, found \"\""}},
      {R"({"scoringStrategy": {"type": "RequestedToCapacityRatio"}})",
       {ratio + ": must be specified when type is RequestedToCapacityRatio"}},
      {R"({"scoringStrategy": {"type": "LeastAllocated", "requestedToCapacityRatio":
           {"shape": [{"utilization": 0, "score": 0}]}}})",
       {ratio + ": must be nil when type is not RequestedToCapacityRatio"}},
      {R"({"scoringStrategy": {"type": "RequestedToCapacityRatio",
           "requestedToCapacityRatio": {"shape": []}}})",
       {ratio + "/shape: expected array of at least 1, found one of 0"}},
      {R"({"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio":
           {"shape": [{"utilization": 101, "score": 0}, {"utilization": -1, "score": 11}]}}})",
       {ratio + "/shape/0/utilization: expected integer 0..100, found integer 101",
        ratio + "/shape/1/score: expected integer 0..10, found integer 11",
        ratio + "/shape/1/utilization: expected integer 0..100, found integer -1"}},
      {R"({"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio":
           {"shape": [{"utilization": 10, "score": 0}, {"utilization": 10, "score": 1}]}}})",
       {ratio + "/shape/1/utilization: values must be sorted in increasing order, found 10 after "
                "10"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.args);
    const Answer answer = PluginUnderTest::Create({.args = c.args});
    EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
    EXPECT_EQ(answer.reasons, c.errors);
  }
}

TEST(NodeResourcesFitArgs, ValidArgumentsAreAccepted) {
  for (const char* const args :
       {"{}", R"({"ignoredResources": ["gpu", "example.com/Gpu_1.x"]})",
        R"({"scoringStrategy": {"type": "LeastAllocated", "resources": []}})",
        R"({"scoringStrategy": {"type": "MostAllocated",
            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 100}]}})",
        R"({"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio":
            {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}}})"}) {
    SCOPED_TRACE(args);
    EXPECT_EQ(PluginUnderTest::Create({.args = args}), Success());
  }
}

struct Documented {
  using Args = fit::Args;
  static constexpr auto kArgs = fit::kArgRows;
};

TEST(NodeResourcesFitArgs, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

// Percent divides doubles. Rounding errors are most likely next to a whole percentage, so the test
// checks these values.
TEST(NodeResourcesFitStrategy, PercentIsExact) {
  std::mt19937_64 random(1);
  std::vector<int64_t> wholes = {1,
                                 2,
                                 3,
                                 99,
                                 100,
                                 101,
                                 (int64_t{1} << 46) - 1,
                                 int64_t{1} << 46,
                                 (int64_t{1} << 46) + 1,
                                 int64_t{1} << 56};
  for (int bits = 1; bits <= 56; ++bits) {
    for (int i = 0; i < 50; ++i) {
      wholes.push_back(1 + static_cast<int64_t>(random() >> (64 - bits)));
    }
  }
  for (const int64_t whole : wholes) {
    for (int64_t percent = 0; percent <= 100; ++percent) {
      const int64_t edge = percent * whole / 100;
      for (int64_t part = edge - 1; part <= edge + 1; ++part) {
        if (part < 0 || part > whole) continue;
        ASSERT_EQ(fit::Percent(part, whole), part * 100 / whole) << part << " of " << whole;
      }
    }
  }
}

TEST(NodeResourcesFitStrategy, PercentDoesNotOverflow) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(fit::Percent(most, most), 100);
  EXPECT_EQ(fit::Percent(most - 1, most), 99);
  EXPECT_EQ(fit::Percent(most / 2, most), 49);
  EXPECT_EQ(fit::Percent(most / 2 + 1, most), 50);
  EXPECT_EQ(fit::Percent(0, most), 0);
}

}  // namespace
}  // namespace berth::testing
