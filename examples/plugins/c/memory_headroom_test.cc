// The test kit is C++. It loads the library as the host does; argv[1] is the library's path.
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

std::string library;

constexpr int64_t kGi = int64_t{1} << 30;
constexpr const char* kReason = "Insufficient memory headroom";

// Each node has 100 GiB. Pods use none of it on a, 60 on b, and 90 on c.
std::vector<NodeSpec> Nodes() {
  return {MakeNode("a").Memory(100 * kGi), MakeNode("b").Memory(100 * kGi).UsedMemory(60 * kGi),
          MakeNode("c").Memory(100 * kGi).UsedMemory(90 * kGi)};
}

TEST(MemoryHeadroom, KeepsTheShareFree) {
  auto plugin =
      PluginUnderTest::FromLibrary(library, {.nodes = Nodes(), .args = {{"percent", 20}}});
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<std::string> fitting;
  } cases[] = {
      {"leaves exactly the share on b", MakePod("p").Memory(20 * kGi), {"a", "b"}},
      {"leaves one byte less than the share on b", MakePod("p").Memory(20 * kGi + 1), {"a"}},
      {"exempt priority may use all memory",
       MakePod("p").Memory(40 * kGi).Priority(1'000'000'000),
       {"a", "b"}},
      {"one below the exempt priority", MakePod("p").Memory(40 * kGi).Priority(999'999'999), {"a"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(c.pod).Fitting(), c.fitting);
  }
  EXPECT_EQ(plugin.Filter(MakePod("p").Memory(kGi)).On("c"), Unschedulable(kReason));
}

TEST(MemoryHeadroom, SumsAreLimited) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  auto plugin = PluginUnderTest::FromLibrary(
      library, {.nodes = {MakeNode("a").Memory(kGi).UsedMemory(kMax).UsedMemory(kMax)}});
  const PodSpec pod = MakePod("p").Memory(kMax);
  EXPECT_EQ(plugin.Filter(pod).On("a"), Unschedulable(kReason));
  EXPECT_EQ(plugin.Score(pod).raw, (std::map<std::string, int64_t>{{"a", 0}}));
}

TEST(MemoryHeadroom, PrefersTheNodeWithMoreFreeMemory) {
  auto plugin = PluginUnderTest::FromLibrary(library, {.nodes = Nodes()});
  const ScoreResult result = plugin.Score(MakePod("p").Memory(10 * kGi));
  EXPECT_EQ(result.normalized, (std::map<std::string, int64_t>{{"a", 90}, {"b", 30}, {"c", 0}}));
}

TEST(MemoryHeadroom, ReportsEveryArgumentError) {
  const Answer answer = PluginUnderTest::CreateFromLibrary(
      library, {.args = {{"percent", 91}, {"exemptPriority", "high"}}});
  EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
  EXPECT_EQ(answer.reasons,
            (std::vector<std::string>{"/exemptPriority: expected an integer of 32 bits",
                                      "/percent: expected an integer of 0 to 90"}));
}

}  // namespace
}  // namespace berth::testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  berth::testing::library = argv[1];
  return RUN_ALL_TESTS();
}
