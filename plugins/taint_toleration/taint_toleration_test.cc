#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kReason = "node(s) had untolerated taint(s)";
constexpr uint32_t kNoSchedule = BERTH_EFFECT_NO_SCHEDULE;
constexpr uint32_t kPrefer = BERTH_EFFECT_PREFER_NO_SCHEDULE;
constexpr uint32_t kNoExecute = BERTH_EFFECT_NO_EXECUTE;

PodSpec Tolerating(TolerationSpec toleration) { return MakePod("p").Toleration(toleration); }

TEST(TaintToleration, Filter) {
  PluginUnderTest plugin({.nodes = {MakeNode("plain"), MakeNode("soft").Taint("slow", "", kPrefer),
                                    MakeNode("batch").Taint("dedicated", "batch", kNoSchedule),
                                    MakeNode("broken").Taint("broken", "", kNoExecute),
                                    MakeNode("both")
                                        .Taint("dedicated", "batch", kNoSchedule)
                                        .Taint("broken", "", kNoExecute)}});
  const Answer no = Unresolvable(kReason);
  const Answer yes = Success();
  const struct {
    const char* name;
    PodSpec pod;
    Answer batch;
    Answer broken;
    Answer both;
  } cases[] = {
      {"a pod without tolerations is rejected", MakePod("p"), no, no, no},
      {"a toleration with the taint's value", MakePod("p").Tolerate("dedicated", "batch"), yes, no,
       no},
      {"a toleration with another value", MakePod("p").Tolerate("dedicated", "web"), no, no, no},
      {"a toleration of the key with any value", MakePod("p").TolerateKey("dedicated"), yes, no,
       no},
      {"a toleration of an empty value", MakePod("p").Tolerate("broken", ""), no, yes, no},
      {"a toleration of the key and the taint's effect",
       MakePod("p").TolerateKey("dedicated", kNoSchedule), yes, no, no},
      {"a toleration of the key and another effect",
       MakePod("p").TolerateKey("dedicated", kNoExecute), no, no, no},
      {"a toleration of every key with one effect", MakePod("p").TolerateKey("", kNoExecute), no,
       yes, no},
      {"a toleration of every taint", MakePod("p").TolerateKey(""), yes, yes, yes},
      {"each taint needs a toleration", MakePod("p").TolerateKey("dedicated").TolerateKey("broken"),
       yes, yes, yes},
      {"operator Gt tolerates nothing", Tolerating({"dedicated", "1", BERTH_TOLERATION_GT}), no, no,
       no},
      {"operator Lt tolerates nothing", Tolerating({"dedicated", "1", BERTH_TOLERATION_LT}), no, no,
       no},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.On("plain"), yes);
    EXPECT_EQ(result.On("soft"), yes) << "PreferNoSchedule rejects no pod";
    EXPECT_EQ(result.On("batch"), c.batch);
    EXPECT_EQ(result.On("broken"), c.broken);
    EXPECT_EQ(result.On("both"), c.both);
  }
}

TEST(TaintToleration, Score) {
  PluginUnderTest plugin({.nodes = {MakeNode("none"), MakeNode("one").Taint("a", "", kPrefer),
                                    MakeNode("two").Taint("a", "", kPrefer).Taint("b", "", kPrefer),
                                    MakeNode("three")
                                        .Taint("a", "", kPrefer)
                                        .Taint("b", "", kPrefer)
                                        .Taint("c", "", kPrefer)
                                        .Taint("d", "", kNoSchedule)}});
  using Scores = std::map<std::string, int64_t>;
  const struct {
    const char* name;
    PodSpec pod;
    Scores raw;
    Scores normalized;
  } cases[] = {
      {"only untolerated PreferNoSchedule taints count",
       MakePod("p"),
       {{"none", 0}, {"one", 1}, {"two", 2}, {"three", 3}},
       {{"none", 100}, {"one", 67}, {"two", 34}, {"three", 0}}},
      {"a tolerated taint does not count",
       MakePod("p").TolerateKey("a"),
       {{"none", 0}, {"one", 0}, {"two", 1}, {"three", 2}},
       {{"none", 100}, {"one", 100}, {"two", 50}, {"three", 0}}},
      {"a toleration of another effect does not apply",
       MakePod("p").TolerateKey("", kNoExecute),
       {{"none", 0}, {"one", 1}, {"two", 2}, {"three", 3}},
       {{"none", 100}, {"one", 67}, {"two", 34}, {"three", 0}}},
      {"a toleration of the effect PreferNoSchedule applies",
       MakePod("p").TolerateKey("b", kPrefer),
       {{"none", 0}, {"one", 1}, {"two", 1}, {"three", 2}},
       {{"none", 100}, {"one", 50}, {"two", 50}, {"three", 0}}},
      {"all nodes get 100 if no taint counts",
       MakePod("p").TolerateKey(""),
       {{"none", 0}, {"one", 0}, {"two", 0}, {"three", 0}},
       {{"none", 100}, {"one", 100}, {"two", 100}, {"three", 100}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ScoreResult result = plugin.Score(c.pod);
    EXPECT_FALSE(result.skipped);
    EXPECT_EQ(result.raw, c.raw);
    EXPECT_EQ(result.normalized, c.normalized);
  }
}

// A profile may disable the plugin at PreScore only.
TEST(TaintToleration, ScoreWithoutPreScoreIsTheSame) {
  const NodeSpec node = MakeNode("a").Taint("a", "", kPrefer).Taint("b", "", kPrefer);
  PluginUnderTest plugin({.nodes = {node}});
  const PodHandle pod(MakePod("p").TolerateKey("a"), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kScore).rows[0].score, 1);
}

TEST(TaintToleration, NodeEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const NodeSpec plain = MakeNode("a");
  const NodeSpec tainted = MakeNode("a").Taint("x");
  const NodeSpec tolerated = MakeNode("a").Taint("mine");
  const auto hint = [&](std::vector<NodeSpec> before, const NodeSpec& after) {
    const uint32_t action = before.empty() ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE_NODE_TAINT;
    return plugin.Hint(MakePod("p").TolerateKey("mine"), {.resource = BERTH_RESOURCE_NODE,
                                                          .action = action,
                                                          .old_node = std::move(before),
                                                          .new_node = {after}});
  };
  EXPECT_EQ(hint({}, plain), uint32_t{BERTH_HINT_QUEUE}) << "a new node without taints";
  EXPECT_EQ(hint({}, tolerated), uint32_t{BERTH_HINT_QUEUE}) << "a new node with a tolerated taint";
  EXPECT_EQ(hint({}, tainted), uint32_t{BERTH_HINT_SKIP}) << "a new node with an untolerated taint";
  EXPECT_EQ(hint({tainted}, plain), uint32_t{BERTH_HINT_QUEUE}) << "the taint was removed";
  EXPECT_EQ(hint({plain}, tainted), uint32_t{BERTH_HINT_SKIP}) << "the taint was added";
  EXPECT_EQ(hint({tolerated}, plain), uint32_t{BERTH_HINT_SKIP})
      << "the pod tolerated the node before";
  EXPECT_EQ(hint({tainted}, tainted), uint32_t{BERTH_HINT_SKIP}) << "nothing changed";
}

TEST(TaintToleration, TolerationEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const auto hint = [&](const char* changed) {
    return plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_POD_ANY,
                                      .action = BERTH_ACTION_UPDATE_POD_TOLERATION,
                                      .old_pod = {MakePod(changed)},
                                      .new_pod = {MakePod(changed).TolerateKey("x")}});
  };
  EXPECT_EQ(hint("p"), uint32_t{BERTH_HINT_QUEUE}) << "the pod itself changed";
  EXPECT_EQ(hint("q"), uint32_t{BERTH_HINT_SKIP}) << "another pod changed";
}

}  // namespace
}  // namespace berth::testing
