// The test kit is C++; it loads the library as the host does: argv[1] is its path.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

std::string library;

constexpr int64_t kGi = int64_t{1} << 30;
constexpr const char* kReason = "Insufficient memory headroom";

// 100 GiB each; a uses none of it, b 60, c 90.
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
      {"exactly the share stays free on b", MakePod("p").Memory(20 * kGi), {"a", "b"}},
      {"one byte less than the share", MakePod("p").Memory(20 * kGi + 1), {"a"}},
      {"high priority may use it all",
       MakePod("p").Memory(40 * kGi).Priority(1'000'000'000),
       {"a", "b"}},
      {"one below that may not", MakePod("p").Memory(40 * kGi).Priority(999'999'999), {"a"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(c.pod).Fitting(), c.fitting);
  }
  EXPECT_EQ(plugin.Filter(MakePod("p").Memory(kGi)).On("c"), Unschedulable(kReason));
}

TEST(MemoryHeadroom, PrefersWhereMoreStaysFree) {
  auto plugin = PluginUnderTest::FromLibrary(library, {.nodes = Nodes()});
  const ScoreResult result = plugin.Score(MakePod("p").Memory(10 * kGi));
  EXPECT_EQ(result.normalized, (std::map<std::string, int64_t>{{"a", 90}, {"b", 30}, {"c", 0}}));
}

TEST(MemoryHeadroom, NamesAllThatIsWrong) {
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
