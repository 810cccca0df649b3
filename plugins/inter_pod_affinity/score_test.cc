// Tests PreScore, Score and normalisation.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

#include "test_pods.h"

namespace berth::testing {
namespace {

using affinity::Db;
using affinity::kDb;
using affinity::kWeb;
using affinity::Nodes;
using affinity::Web;

using Scores = std::map<std::string, int64_t>;

ScoreResult ScoreOf(std::vector<NodeSpec> nodes, const PodSpec& pod, const Args& args = {}) {
  PluginUnderTest plugin({.nodes = std::move(nodes), .args = args});
  return plugin.Score(pod);
}

TEST(InterPodAffinityScore, SkipsAPodThatNoTermConcerns) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(3, "zone", kDb));
  nodes[3].Pod(Db("db2").PreferredPodAffinity(3, "zone", kWeb));  // The node has no zone.
  EXPECT_TRUE(ScoreOf(nodes, Web("p")).skipped);
  EXPECT_TRUE(ScoreOf(Nodes(), MakePod("p").PreferredPodAffinity(3, "zone", kWeb)).skipped)
      << "the term means no pod";
}

TEST(InterPodAffinityScore, SumsUpTheTermsOfThePod) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web()).Pod(Web("web2"));
  nodes[2].Pod(Web("web3")).Pod(Db());
  const PodSpec pod = MakePod("p")
                          .PreferredPodAffinity(10, "zone", kWeb)
                          .PreferredPodAffinity(2, "host", kWeb)
                          .PreferredPodAntiAffinity(5, "zone", kDb);
  const ScoreResult result = ScoreOf(nodes, pod);
  EXPECT_EQ(result.raw, (Scores{{"a1", 24}, {"a2", 20}, {"b1", 7}, {"c1", 0}}));
  EXPECT_EQ(result.normalized, (Scores{{"a1", 100}, {"a2", 83}, {"b1", 29}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, SumsUpTheTermsOfPodsOnNodes) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(10, "zone", kWeb).PodAffinity("host", kWeb));
  nodes[2].Pod(Db("db2").PreferredPodAntiAffinity(7, "zone", kWeb));
  nodes[3].Pod(Db("db3").PodAntiAffinity("host", kWeb));  // Does not count.
  const PodSpec pod = Web("p");
  EXPECT_EQ(ScoreOf(nodes, pod).raw, (Scores{{"a1", 11}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod, {{"hardPodAffinityWeight", 50}}).raw,
            (Scores{{"a1", 60}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod, {{"hardPodAffinityWeight", 0}}).raw,
            (Scores{{"a1", 10}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod).normalized,
            (Scores{{"a1", 100}, {"a2", 94}, {"b1", 0}, {"c1", 38}}));
}

TEST(InterPodAffinityScore, MayIgnoreTermsOfOtherPodsForPodsWithoutTerms) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(10, "zone", kWeb));
  const Args ignore = {{"ignorePreferredTermsOfExistingPods", true}};
  EXPECT_TRUE(ScoreOf(nodes, Web("p"), ignore).skipped);
  EXPECT_TRUE(ScoreOf(nodes, Web("p").PodAffinity("zone", kDb), ignore).skipped);
  EXPECT_EQ(ScoreOf(nodes, Web("p").PreferredPodAntiAffinity(4, "host", kDb), ignore).raw,
            (Scores{{"a1", 6}, {"a2", 10}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, EqualScoresNormaliseToZero) {
  std::vector<NodeSpec> nodes = {MakeNode("a1").Label("zone", "a"),
                                 MakeNode("a2").Label("zone", "a")};
  nodes[0].Pod(Web());
  const ScoreResult result = ScoreOf(nodes, MakePod("p").PreferredPodAffinity(3, "zone", kWeb));
  EXPECT_FALSE(result.skipped);
  EXPECT_EQ(result.raw, (Scores{{"a1", 3}, {"a2", 3}}));
  EXPECT_EQ(result.normalized, (Scores{{"a1", 0}, {"a2", 0}}));
}

TEST(InterPodAffinityScore, WeightsThatCancelOutAreNotSkipped) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web());
  const ScoreResult result = ScoreOf(
      nodes,
      MakePod("p").PreferredPodAffinity(3, "zone", kWeb).PreferredPodAntiAffinity(3, "zone", kWeb));
  EXPECT_FALSE(result.skipped);
  EXPECT_EQ(result.raw, (Scores{{"a1", 0}, {"a2", 0}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, ATermThatAPodHasTwiceCountsTwice) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(3, "zone", kWeb).PreferredPodAffinity(3, "zone", kWeb));
  EXPECT_EQ(ScoreOf(nodes, Web("p")).raw, (Scores{{"a1", 6}, {"a2", 6}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, NormalisesInFloatingPoint) {
  // 100 * (29 / 100) is less than 29 in binary floating point.
  std::vector<NodeSpec> nodes = {MakeNode("a").Label("host", "a").Pod(Web("w1")),
                                 MakeNode("b").Label("host", "b").Pod(Web("w2").Label("x", "1")),
                                 MakeNode("c").Label("host", "c")};
  const ScoreResult result = ScoreOf(nodes, MakePod("p")
                                                .PreferredPodAffinity(29, "host", kWeb)
                                                .PreferredPodAffinity(71, "host", {Exists("x")}));
  EXPECT_EQ(result.raw, (Scores{{"a", 29}, {"b", 100}, {"c", 0}}));
  EXPECT_EQ(result.normalized, (Scores{{"a", 28}, {"b", 100}, {"c", 0}}));
}

TEST(InterPodAffinityScore, TermsThatCannotBeParsedFailTheCycle) {
  PodSpec pod = MakePod("p");
  pod.preferred_pod_terms = {
      {.topology_key = "zone", .selector = SelectorSpec{{In("app", {})}, true}, .weight = 1}};
  PluginUnderTest plugin(
      {.nodes = Nodes(), .points = {{BERTH_POINT_PRE_SCORE, BERTH_POINT_SCORE}}});
  EXPECT_EQ(plugin.Score(pod).pre_score,
            Error("failed to parse pod: preferredAffinityTerms: values: Invalid value: "
                  "[]string{}: for 'in', 'notin' operators, values set can't be empty"));
}

}  // namespace
}  // namespace berth::testing
