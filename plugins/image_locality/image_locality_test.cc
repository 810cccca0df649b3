#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using Scores = std::map<std::string, int64_t>;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr KubeVersion kOld{1, 36};
constexpr KubeVersion kNew{1, 37};

VolumeSpec ImageVolume(std::string reference, std::string name = "v") {
  return {.name = std::move(name), .kind = BERTH_VOLUME_IMAGE, .source = std::move(reference)};
}

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
            Error("Score requires the State of the plugin, which no method has emplaced in this "
                  "cycle: PreScore was not called (the profile must run the plugin at PreScore, "
                  "and two or more nodes must be feasible), or it did not call Emplace"));
}

TEST(ImageLocality, ImageVolumesCount) {
  // The only node has the images, so that each adds all of its size.
  const std::vector<NodeSpec> nodes = {MakeNode("n")
                                           .Image("host:5000/data:latest", 400 * kMiB)
                                           .Image("app:1", 1000 * kMiB)
                                           .Image("model:1", 1000 * kMiB)};
  const auto pod = [](const std::string& image) { return MakePod("p").Image(image); };
  const struct {
    const char* name;
    PodSpec pod;
    int64_t old;  // The score in 1.36.
    int64_t now;  // The score in 1.37.
  } cases[] = {
      // 100 * (400 - 23) / (1000 - 23), and of 2000 - 23 in 1.37.
      {"a volume", pod("other:1").Volume(ImageVolume("host:5000/data:latest")), 38, 19},
      {"a port is not a tag", pod("other:1").Volume(ImageVolume("host:5000/data")), 38, 19},
      {"another tag does not match", pod("other:1").Volume(ImageVolume("host:5000/data:1")), 0, 0},
      {"at the threshold of one image", pod("other:1").Volume(ImageVolume("app:1")), 100, 49},
      {"at the threshold of two images", pod("model:1").Volume(ImageVolume("app:1")), 100, 100},
      {"an image that no node holds raises the threshold, too",
       pod("app:1").Volume(ImageVolume("gone:1")), 100, 49},
      {"a container and a volume use one image", pod("app:1").Volume(ImageVolume("app:1")), 100,
       100},
      {"two volumes", pod("other:1").Volume(ImageVolume("app:1")).Volume(ImageVolume("app:1", "w")),
       100, 66},
      {"volumes of other kinds do not count", pod("app:1").PersistentClaim("v", "app:1"), 100, 100},
  };
  PluginUnderTest old({.nodes = nodes, .emulated_version = kOld});
  PluginUnderTest now({.nodes = nodes, .emulated_version = kNew});
  for (const auto& c : cases) {
    EXPECT_EQ(old.Score(c.pod).raw, (Scores{{"n", c.old}})) << c.name;
    EXPECT_EQ(now.Score(c.pod).raw, (Scores{{"n", c.now}})) << c.name;
  }
}

// Scores are reused for pods with equal images of containers and equal signatures.
TEST(ImageLocality, TheSignatureCoversImageVolumes) {
  for (const KubeVersion version : {kOld, kNew}) {
    PluginUnderTest plugin(
        {.nodes = {MakeNode("n").Image("a:1", 500 * kMiB).Image("b:1", 500 * kMiB)},
         .emulated_version = version});
    const auto sign = [&plugin](const PodSpec& spec) {
      const PodHandle pod(spec, plugin.ids());
      Cycle cycle(&plugin.instance(), &plugin.table(), pod);
      EXPECT_EQ(cycle.PreScore(), Success());
      berth_signature signature{};
      const berth_dependence& declared = *DependenceOf(plugin.instance(), Step::kScore);
      const Answer answer = cycle.Invoke("sign", kCycle, [&](berth_status*) {
        return declared.sign(plugin.instance().self(), cycle.abi(), &signature);
      });
      EXPECT_EQ(answer, Success());
      return std::pair(signature.low, signature.high);
    };
    const PodSpec pod = MakePod("p").Image("a:1");
    const auto with = [&pod](const std::string& image) {
      return PodSpec(pod).Volume(ImageVolume(image));
    };
    EXPECT_NE(sign(with("a:1")), sign(with("b:1")));
    EXPECT_NE(sign(with("a:1")), sign(pod));
    EXPECT_NE(sign(with("b:1")), sign(pod));
    EXPECT_EQ(sign(with("gone:1")) == sign(pod), version == kOld) << "it raises the threshold";
    EXPECT_EQ(sign(with("b:1")), sign(PodSpec(pod).Volume(ImageVolume("b:1", "other-name"))));
    EXPECT_EQ(sign(PodSpec(pod).Volume({.name = "token-x7k2p"})),
              sign(PodSpec(pod).Volume({.name = "token-9sd1m"})));
  }
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

TEST(ImageLocality, SumsAreLimited) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  PluginUnderTest plugin({.nodes = {MakeNode("a").Image("app:1", kMax).Image("base:1", kMax),
                                    MakeNode("b").Image("app:1", kMax).Image("base:1", kMax)}});
  PodSpec pod = MakePod("p").Image("app:1");
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 100}, {"b", 100}}));
  pod.Container("second").Image("app:1").Container("third").Image("base:1");
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 100}, {"b", 100}}));
}

TEST(ImageLocality, ScoresFollowTheNodes) {
  PluginUnderTest plugin({.nodes = {MakeNode("a").Image("app:1", 1000 * kMiB), MakeNode("b")}});
  const PodSpec pod = MakePod("p").Image("app:1");
  // Half of 1000 MiB: 100 * (500 - 23) / (1000 - 23).
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 48}, {"b", 0}}));
  plugin.ChangeNode(MakeNode("b").Image("app:1", 1000 * kMiB));
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 100}, {"b", 100}}));
  plugin.ChangeNode(MakeNode("a"));
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 0}, {"b", 48}}));
  plugin.AddNode(MakeNode("c"));
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 0}, {"b", 31}, {"c", 0}}));
  plugin.RemoveNode("b");
  EXPECT_EQ(plugin.Score(pod).raw, (Scores{{"a", 0}, {"c", 0}}));
}

// ---- Comparison with a direct computation -------------------------------------------------------

// Computes scores as kube-scheduler does, from sets of node names.
class Model {
 public:
  explicit Model(KubeVersion version) : version_(version) {}

  void Add(const NodeSpec& node) {
    ++nodes_;
    for (const ImageSpec& image : node.images) {
      for (const std::string& name : image.names) {
        const auto [place, is_new] = images_.try_emplace(name);
        if (is_new) place->second.size = image.size;
        place->second.nodes.insert(node.name);
      }
    }
  }
  void Remove(const std::string& node) {
    --nodes_;
    for (auto image = images_.begin(); image != images_.end();) {
      image->second.nodes.erase(node);
      image = image->second.nodes.empty() ? images_.erase(image) : std::next(image);
    }
  }
  int64_t Score(const PodSpec& pod, const std::string& node) const {
    int64_t sum = 0;
    for (const auto* list : {&pod.init_containers, &pod.containers}) {
      for (const ContainerSpec& container : *list) sum += Value(container.image, node);
    }
    for (const VolumeSpec& volume : pod.volumes) sum += Value(volume.source, node);
    size_t images = pod.containers.size() + pod.init_containers.size();
    if (version_ != kOld) images += pod.volumes.size();
    const int64_t max = 1000 * kMiB * static_cast<int64_t>(images);
    sum = std::clamp(sum, 23 * kMiB, max);
    return 100 * (sum - 23 * kMiB) / (max - 23 * kMiB);
  }

 private:
  struct Image {
    int64_t size = 0;
    std::set<std::string> nodes;
  };

  int64_t Value(const std::string& image, const std::string& node) const {
    const bool has_tag = image.find(':') != std::string::npos;
    const auto found = images_.find(has_tag ? image : image + ":latest");
    if (found == images_.end() || !found->second.nodes.contains(node)) return 0;
    const double spread =
        static_cast<double>(found->second.nodes.size()) / static_cast<double>(nodes_);
    return static_cast<int64_t>(static_cast<double>(found->second.size) * spread);
  }

  const KubeVersion version_;
  std::map<std::string, Image> images_;
  int64_t nodes_ = 0;
};

class RandomNodesTest : public ::testing::TestWithParam<std::tuple<uint32_t, KubeVersion>> {
 protected:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }

  std::string RandomName() {
    return "image-" + std::to_string(Below(12)) + (Below(4) == 0 ? ":latest" : ":1");
  }
  NodeSpec RandomNode(const std::string& name) {
    NodeSpec node = MakeNode(name);
    for (uint32_t i = Below(9); i > 0; --i) {
      std::vector<std::string> names;
      for (uint32_t k = Below(3); k < 3; ++k) names.push_back(RandomName());
      node.images.push_back({names, static_cast<int64_t>(Below(3000)) * kMiB / 2});
    }
    return node;
  }
  PodSpec RandomPod() {
    PodSpec pod = MakePod("p").Image(RandomName());
    for (uint32_t i = Below(3); i > 0; --i) {
      pod.Container("c" + std::to_string(i)).Image("image-" + std::to_string(Below(12)));
    }
    if (Below(3) == 0) pod.InitContainer("i").Image(RandomName());
    if (Below(3) == 0) {
      pod.Volume(ImageVolume(RandomName()));
    }
    return pod;
  }

  void ChangeTheCluster() {
    const std::string name = "n" + std::to_string(Below(150));
    if (!nodes_.contains(name)) {
      const NodeSpec node = RandomNode(name);
      nodes_.insert(name);
      plugin_.AddNode(node);
      model_.Add(node);
    } else if (Below(2) == 0) {
      nodes_.erase(name);
      plugin_.RemoveNode(name);
      model_.Remove(name);
    } else {
      const NodeSpec node = RandomNode(name);
      plugin_.ChangeNode(node);
      model_.Remove(name);
      model_.Add(node);
    }
  }
  void Compare(const PodSpec& pod) {
    Cycle cycle(&plugin_.instance(), &plugin_.table(), PodHandle(pod, plugin_.ids()));
    ASSERT_EQ(cycle.PreScore(), Success());
    const BlockAnswer answer = EvaluateTable(cycle, Step::kScore);
    ASSERT_EQ(answer.call, Success());
    for (size_t i = 0; i < plugin_.table().rows.size(); ++i) {
      const std::string& node = plugin_.table().rows[i].node.name();
      ASSERT_EQ(answer.rows[i].score, model_.Score(pod, node)) << node;
      scores_.insert(answer.rows[i].score);
    }
  }

  std::mt19937 random_{std::get<0>(GetParam())};
  PluginUnderTest plugin_{{.nodes = {}, .emulated_version = std::get<1>(GetParam())}};
  Model model_{std::get<1>(GetParam())};
  std::set<std::string> nodes_;
  std::set<int64_t> scores_;
};

TEST_P(RandomNodesTest, ScoresAgreeWithADirectComputation) {
  for (uint32_t step = 0; step < 600; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    ChangeTheCluster();
    if (!nodes_.empty()) Compare(RandomPod());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(scores_.size(), 20U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomNodesTest,
                         ::testing::Combine(::testing::Range(1U, 3U),
                                            ::testing::Values(kOld, kNew)),
                         [](const auto& info) {
                           return "Seed" + std::to_string(std::get<0>(info.param)) + "Kube1" +
                                  std::to_string(std::get<1>(info.param).minor);
                         });

}  // namespace
}  // namespace berth::testing
