#include "args.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <berth/args_table.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

TEST(InterPodAffinityArgs, TheWeightHasBounds) {
  for (const int weight : {0, 1, 100}) {
    EXPECT_EQ(PluginUnderTest::Create({.args = {{"hardPodAffinityWeight", weight}}}), Success());
  }
  for (const int weight : {-1, 101}) {
    EXPECT_EQ(PluginUnderTest::Create({.args = {{"hardPodAffinityWeight", weight}}}),
              MakeAnswer(BERTH_BAD_ARGUMENT,
                         {"/hardPodAffinityWeight: expected integer 0..100, found integer " +
                          std::to_string(weight)}));
  }
  EXPECT_EQ(PluginUnderTest::Create({.args = {{"ignorePreferredTermsOfExistingPods", true}}}),
            Success());
}

struct Documented {
  using Args = affinity::Args;
  static constexpr auto kArgs = affinity::kArgRows;
};

TEST(InterPodAffinityArgs, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
