#include "args.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/args_table.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

TEST(Args, RefusesNumbersOutsideTheirRanges) {
  const auto create = [](Args args) { return PluginUnderTest::Create({.args = std::move(args)}); };
  EXPECT_EQ(create({{"minCandidateNodesPercentage", 100}}).code, BERTH_SUCCESS);
  EXPECT_EQ(create({{"minCandidateNodesPercentage", 101}}).code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(create({{"minCandidateNodesPercentage", -1}}).code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(create({{"minCandidateNodesAbsolute", -1}}).code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(create({{"minCandidateNodesAbsolute", 0}}).code, BERTH_SUCCESS);
  EXPECT_EQ(create({{"minCandidateNodesPercentage", 0}, {"minCandidateNodesAbsolute", 1}}).code,
            BERTH_SUCCESS);
  const Answer both =
      create({{"minCandidateNodesPercentage", 0}, {"minCandidateNodesAbsolute", 0}});
  EXPECT_EQ(both.code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(both.reasons, std::vector<std::string>{
                              "/minCandidateNodesPercentage: cannot be zero at the same time as "
                              "minCandidateNodesAbsolute"});
}

TEST(Args, NeededCandidatesAreALimitedPart) {
  const struct {
    const char* name;
    int32_t percentage;
    int32_t absolute;
    std::size_t nodes;
    std::size_t want;
  } cases[] = {
      {"the part", 10, 100, 5000, 500},
      {"at least the number", 10, 100, 999, 100},
      {"the part from there on", 10, 100, 1010, 101},
      {"no more than there are", 10, 100, 99, 99},
      {"all", 100, 0, 7, 7},
      {"the part is cut", 50, 0, 7, 3},
      {"none", 10, 100, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const preemption::Args args{.min_candidate_nodes_percentage = c.percentage,
                                .min_candidate_nodes_absolute = c.absolute};
    EXPECT_EQ(preemption::CandidatesNeeded(args, c.nodes), c.want);
  }
}

struct Documented {
  using Args = preemption::Args;
  static constexpr auto kArgs = preemption::kArgRows;
};

TEST(Args, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
