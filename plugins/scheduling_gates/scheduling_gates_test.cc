#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

TEST(SchedulingGates, PreEnqueue) {
  PluginUnderTest plugin({.nodes = {}});
  const struct {
    const char* name;
    PodSpec pod;
    Answer want;
  } cases[] = {
      {"a pod without gates is accepted", MakePod("p"), Success()},
      {"one gate", MakePod("p").Gate("example.com/quota"),
       Unresolvable("waiting for scheduling gates: [example.com/quota]")},
      {"several gates, in the pod's order", MakePod("p").Gate("b").Gate("a"),
       Unresolvable("waiting for scheduling gates: [b a]")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.PreEnqueue(c.pod), c.want);
  }
}

TEST(SchedulingGates, Events) {
  PluginUnderTest plugin({.nodes = {}});
  const PodSpec gated = MakePod("p").Gate("a");
  const auto hint = [&](const std::string& changed, uint32_t action) {
    return plugin.Hint(gated, {.resource = BERTH_RESOURCE_POD_ANY,
                               .action = action,
                               .old_pod = {MakePod(changed).Gate("a")},
                               .new_pod = {MakePod(changed)}});
  };
  const uint32_t eliminated = BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED;
  EXPECT_EQ(hint("p", eliminated), uint32_t{BERTH_HINT_QUEUE})
      << "the gates of the pod were removed";
  EXPECT_EQ(hint("q", eliminated), uint32_t{BERTH_HINT_SKIP})
      << "the gates of another pod were removed";
  EXPECT_EQ(hint("p", BERTH_ACTION_UPDATE_POD_LABEL), uint32_t{BERTH_HINT_SKIP})
      << "another field of the pod changed";
}

}  // namespace
}  // namespace berth::testing
