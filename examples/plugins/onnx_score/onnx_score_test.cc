// These tests rate nodes with the model that train.py writes; MODEL is its path. The test kit
// repeats each call with other blocks and on several threads, so that a test also fails if the
// score of a node depends on the other nodes of its block.
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

NodeSpec Node(const std::string& name, int64_t cores, int64_t used_percent) {
  return MakeNode(name)
      .CpuMilli(1000 * cores)
      .Memory("64Gi")
      .UsedCpuMilli(10 * cores * used_percent);
}

TEST(OnnxScore, PrefersTheNodeWhoseCoresAreFree) {
  PluginUnderTest plugin(
      {.nodes = {Node("few-cores", 4, 50), Node("many-cores", 64, 65), Node("full", 64, 99)},
       .args = {{"model", MODEL}}});
  const ScoreResult result = plugin.Score(MakePod("p").CpuMilli(500));
  EXPECT_GT(result.raw.at("many-cores"), result.raw.at("few-cores"));
  EXPECT_GT(result.raw.at("few-cores"), result.raw.at("full"));
}

TEST(OnnxScore, RatesEveryNodeOfALargeCluster) {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < 600; ++i) nodes.push_back(Node(std::to_string(i), 8, i % 100));
  PluginUnderTest plugin({.nodes = nodes, .args = {{"model", MODEL}}});
  EXPECT_EQ(plugin.Score(MakePod("p").CpuMilli(100)).raw.size(), 600);
}

TEST(OnnxScore, RefusesAFileThatIsNoModel) {
  for (const char* path : {"/nowhere.onnx", __FILE__}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(PluginUnderTest::Create({.args = {{"model", path}}}).code, BERTH_ERROR);
  }
  EXPECT_EQ(PluginUnderTest::Create({}).code, BERTH_BAD_ARGUMENT) << "model is required";
}

}  // namespace
}  // namespace berth::testing
