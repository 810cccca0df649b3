#include <optional>
#include <string>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kOther = "node(s) didn't match the requested node name";
constexpr KubeVersion kOld{1, 36};
constexpr KubeVersion kNew{1, 37};

TEST(NodeName, FilterFollowsPreFilter) {
  using Names = std::optional<std::vector<std::string>>;
  const PodSpec any = MakePod("any");
  const PodSpec on_a = MakePod("on-a").NodeName("a");
  const PodSpec on_c = MakePod("on-c").NodeName("c");
  const struct {
    const char* name;
    KubeVersion version;
    PodSpec pod;
    Answer pre_filter;
    Names only;
    std::vector<std::string> fitting;
  } cases[] = {
      {"1.36: a pod without a node name is skipped", kOld, any, Skip(), {}, {}},
      {"1.37: a pod without a node name is skipped", kNew, any, Skip(), {}, {}},
      {"1.36: Filter rejects other nodes than the named one", kOld, on_a, Success(), {}, {"a"}},
      {"1.37: PreFilter names the node", kNew, on_a, Success(), {{"a"}}, {"a"}},
      {"1.36: all nodes reject a pod that names a missing node", kOld, on_c, Success(), {}, {}},
      {"1.37: PreFilter names a node that is missing", kNew, on_c, Success(), {{"c"}}, {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PluginUnderTest plugin(
        {.nodes = {MakeNode("a"), MakeNode("b")}, .emulated_version = c.version});
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.pre_filter, c.pre_filter);
    EXPECT_EQ(result.only_nodes, c.only);
    EXPECT_EQ(result.Fitting(), c.fitting);
  }
}

TEST(NodeName, FilterNamesTheReasonInKube136) {
  PluginUnderTest plugin({.nodes = {MakeNode("a"), MakeNode("b")}, .emulated_version = kOld});
  const FilterResult result = plugin.Filter(MakePod("p").NodeName("a"));
  EXPECT_EQ(result.On("a"), Success());
  EXPECT_EQ(result.On("b"), Unresolvable(kOther));
}

TEST(NodeName, FilterDoesNotNeedPreFilter) {
  for (const KubeVersion version : {kOld, kNew}) {
    PluginUnderTest plugin({.nodes = {MakeNode("a"), MakeNode("b")}, .emulated_version = version});
    const auto filter = [&plugin](const PodSpec& spec) {
      Cycle cycle(&plugin.instance(), &plugin.table(), PodHandle(spec, plugin.ids()));
      return EvaluateTable(cycle, Step::kFilter);
    };
    const BlockAnswer on_a = filter(MakePod("p").NodeName("a"));
    EXPECT_EQ(on_a.rows[0].answer, Success());
    EXPECT_EQ(on_a.rows[1].answer, Unresolvable(kOther));
    EXPECT_EQ(filter(MakePod("p")).rows[1].answer, Success());
  }
}

TEST(NodeName, AnAddedNodeRequeuesThePod) {
  PluginUnderTest plugin({.nodes = {}});
  const PodSpec pod = MakePod("p").NodeName("a");
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                              .action = BERTH_ACTION_ADD,
                              .new_node = {MakeNode("b")}}),
            uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                              .action = BERTH_ACTION_UPDATE_NODE_LABEL,
                              .old_node = {MakeNode("a")},
                              .new_node = {MakeNode("a")}}),
            uint32_t{BERTH_HINT_SKIP});
}

}  // namespace
}  // namespace berth::testing
