#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using Scores = std::map<std::string, int64_t>;

constexpr int64_t kMiB = int64_t{1} << 20;

// Returns a plugin on four nodes. An image on two of them counts half of its size.
PluginUnderTest OnFourNodes() {
  return PluginUnderTest(
      {.nodes = {MakeNode("none"), MakeNode("app").Image("example.com/app:1", 800 * kMiB),
                 MakeNode("base").Image("example.com/base:latest", 400 * kMiB),
                 MakeNode("both")
                     .Image("example.com/app:1", 800 * kMiB)
                     .Image("example.com/base:latest", 400 * kMiB)}});
}

TEST(ImageLocality, Score) {
  PluginUnderTest plugin = OnFourNodes();
  const struct {
    const char* name;
    PodSpec pod;
    Scores want;
  } cases[] = {
      // An image of 800 MiB on half of the nodes counts as 400: 100 * (400 - 23) / (1000 - 23).
      {"an image counts its size times its spread",
       MakePod("p").Image("example.com/app:1"),
       {{"none", 0}, {"app", 38}, {"base", 0}, {"both", 38}}},
      {"an image name without a tag means :latest",
       MakePod("p").Image("example.com/base"),
       {{"none", 0}, {"app", 0}, {"base", 18}, {"both", 18}}},
      {"an image with another tag does not match",
       MakePod("p").Image("example.com/app:2"),
       {{"none", 0}, {"app", 0}, {"base", 0}, {"both", 0}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ScoreResult result = plugin.Score(c.pod);
    EXPECT_FALSE(result.skipped) << "ImageLocality never skips";
    EXPECT_EQ(result.raw, c.want);
    EXPECT_EQ(result.normalized, c.want) << "no normalisation";
  }
}

TEST(ImageLocality, ScoreNeedsPreScore) {
  PluginUnderTest plugin = OnFourNodes();
  const PodHandle pod(MakePod("p").Image("example.com/app:1"), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kScore).call,
            Error("PreScore has not run, but Score requires it: enable the plugin at PreScore"));
}

TEST(ImageLocality, ImageVolumesCount) {
  PluginUnderTest plugin({.nodes = {MakeNode("n").Image("host:5000/data:latest", 400 * kMiB)}});
  const auto with = [](const std::string& reference) {
    return MakePod("p").Image("other:1").Volume(
        {.name = "v", .kind = BERTH_VOLUME_IMAGE, .source = reference});
  };
  // The only node has the image, so it adds all of its 400 MiB: 100 * (400 - 23) / (1000 - 23).
  EXPECT_EQ(plugin.Score(with("host:5000/data")).raw, (Scores{{"n", 38}})) << "a port is not a tag";
  EXPECT_EQ(plugin.Score(with("host:5000/data:latest")).raw, (Scores{{"n", 38}}));
  EXPECT_EQ(plugin.Score(with("host:5000/data:1")).raw, (Scores{{"n", 0}}));
}

TEST(ImageLocality, UpperThresholdGrowsWithTheNumberOfContainers) {
  PluginUnderTest plugin = OnFourNodes();
  // The images on "both" count as 400 + 200, of at most 2000: 100 * (600 - 23) / (2000 - 23).
  const ScoreResult result = plugin.Score(
      MakePod("p").Image("example.com/app:1").Container("second").Image("example.com/base:latest"));
  EXPECT_EQ(result.raw, (Scores{{"none", 0}, {"app", 19}, {"base", 8}, {"both", 29}}));
}

TEST(ImageLocality, SumsAreClampedToTheThresholds) {
  PluginUnderTest plugin({.nodes = {MakeNode("small").Image("small:1", 46 * kMiB),
                                    MakeNode("large").Image("large:1", 4000 * kMiB)}});
  EXPECT_EQ(plugin.Score(MakePod("p").Image("small:1")).raw, (Scores{{"small", 0}, {"large", 0}}))
      << "23 MiB is the lower threshold";
  EXPECT_EQ(plugin.Score(MakePod("p").Image("large:1")).raw, (Scores{{"small", 0}, {"large", 100}}))
      << "1000 MiB for each container is the upper threshold";
}

TEST(ImageLocality, AnImageUsedTwiceCountsTwice) {
  PluginUnderTest plugin({.nodes = {MakeNode("one").Image("app:1", 1000 * kMiB), MakeNode("two")}});
  // Two uses of 500 MiB: 100 * (1000 - 23) / (2000 - 23).
  const PodSpec pod = MakePod("p").Image("app:1").Container("second").Image("app:1");
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"one", 49}, {"two", 0}}));
}

}  // namespace
}  // namespace berth::testing
