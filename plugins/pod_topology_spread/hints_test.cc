#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;
const std::string kZone = "zone";
const std::string kRack = "rack";

PodSpec Web(const std::string& name) { return MakePod(name).Label("app", "web"); }
PodSpec Spreading() { return Web("p").Spread(1, kZone, {In("app", {"web"})}); }
PodSpec HonoringTaints() {
  return Web("p").Spread({.topology_key = kZone,
                          .selector = SelectorSpec{{In("app", {"web"})}},
                          .node_taints_policy = BERTH_POLICY_HONOR});
}

uint32_t PodHint(const PodSpec& pod, uint32_t action, std::vector<PodSpec> before,
                 std::vector<PodSpec> after) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_POD_ANY,
                           .action = action,
                           .old_pod = std::move(before),
                           .new_pod = std::move(after)});
}
uint32_t NodeHint(const PodSpec& pod, uint32_t action, std::vector<NodeSpec> before,
                  std::vector<NodeSpec> after) {
  PluginUnderTest plugin({.nodes = {}});
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                           .action = action,
                           .old_node = std::move(before),
                           .new_node = std::move(after)});
}

TEST(PodTopologySpreadHints, AddedAndDeletedPods) {
  const auto both = [](const PodSpec& pod, const PodSpec& other) {
    const uint32_t added = PodHint(pod, BERTH_ACTION_ADD, {}, {other});
    EXPECT_EQ(PodHint(pod, BERTH_ACTION_DELETE, {other}, {}), added);
    return added;
  };
  EXPECT_EQ(both(Spreading(), Web("q").NodeName("n")), kQueue);
  EXPECT_EQ(both(Spreading(), MakePod("q").Label("app", "db").NodeName("n")), kSkip);
  EXPECT_EQ(both(Spreading(), Web("q").Namespace("other").NodeName("n")), kSkip);
  EXPECT_EQ(both(Spreading().Spread(1, kRack, {In("app", {"db"})}),
                 MakePod("q").Label("app", "db").NodeName("n")),
            kQueue)
      << "one of the constraints is enough";
  EXPECT_EQ(both(Web("p").Spread(1, kZone, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY),
                 Web("q").NodeName("n")),
            kSkip)
      << "a soft constraint rejects no pod";
  EXPECT_EQ(both(Web("p").Spread({.topology_key = kZone}), Web("q").NodeName("n")), kSkip)
      << "without a selector no pod matches";
}

TEST(PodTopologySpreadHints, LabelsOfPods) {
  const auto changed = [](const PodSpec& before, const PodSpec& after) {
    return PodHint(Spreading(), BERTH_ACTION_UPDATE_POD_LABEL, {before}, {after});
  };
  const PodSpec db = MakePod("q").Label("app", "db").NodeName("n");
  const PodSpec web = Web("q").NodeName("n");
  EXPECT_EQ(changed(db, web), kQueue);
  EXPECT_EQ(changed(web, db), kQueue);
  EXPECT_EQ(changed(web, PodSpec(web).Label("tier", "front")), kSkip);
  EXPECT_EQ(changed(PodSpec(web).Namespace("other"), PodSpec(db).Namespace("other")), kSkip);
}

TEST(PodTopologySpreadHints, PodsThatAreBeingDeleted) {
  const auto updated = [](const PodSpec& before, const PodSpec& after) {
    return PodHint(Spreading(), BERTH_ACTION_UPDATE, {before}, {after});
  };
  const PodSpec web = Web("q").NodeName("n");
  const PodSpec db = MakePod("q").Label("app", "db").NodeName("n");
  EXPECT_EQ(updated(web, PodSpec(web).DeletedNs(1)), kQueue) << "it does not count any more";
  EXPECT_EQ(updated(db, PodSpec(db).DeletedNs(1)), kSkip);
  EXPECT_EQ(updated(PodSpec(web).DeletedNs(1), PodSpec(web).DeletedNs(2)), kSkip);
  EXPECT_EQ(updated(web, PodSpec(web).Phase(BERTH_PHASE_RUNNING)), kSkip);
}

TEST(PodTopologySpreadHints, ThePodItself) {
  const PodSpec before = HonoringTaints();
  EXPECT_EQ(PodHint(HonoringTaints(), BERTH_ACTION_UPDATE_POD_TOLERATION, {before},
                    {HonoringTaints().TolerateKey("t")}),
            kQueue);
  EXPECT_EQ(PodHint(Spreading(), BERTH_ACTION_UPDATE_POD_TOLERATION, {Spreading()},
                    {Spreading().TolerateKey("t")}),
            kSkip)
      << "no constraint honours taints";
  EXPECT_EQ(PodHint(Spreading(), BERTH_ACTION_UPDATE_POD_LABEL, {Spreading().Label("app", "db")},
                    {Spreading()}),
            kQueue)
      << "the pod matches its own selector now";
  EXPECT_EQ(PodHint(Spreading(), BERTH_ACTION_UPDATE_POD_LABEL, {Spreading()},
                    {Spreading().Label("tier", "front")}),
            kSkip);
  EXPECT_EQ(PodHint(HonoringTaints(), BERTH_ACTION_UPDATE_POD_TOLERATION, {Web("q").NodeName("n")},
                    {Web("q").NodeName("n").TolerateKey("t")}),
            kSkip)
      << "tolerations of another pod do not matter";
}

TEST(PodTopologySpreadHints, AddedAndDeletedNodes) {
  const auto both = [](const PodSpec& pod, const NodeSpec& node) {
    const uint32_t added = NodeHint(pod, BERTH_ACTION_ADD, {}, {node});
    EXPECT_EQ(NodeHint(pod, BERTH_ACTION_DELETE, {node}, {}), added);
    return added;
  };
  const PodSpec two_keys = Spreading().Spread(1, kRack, {In("app", {"web"})});
  EXPECT_EQ(both(Spreading(), MakeNode("n").Label(kZone, "a")), kQueue);
  EXPECT_EQ(both(Spreading(), MakeNode("n").Label(kRack, "a")), kSkip);
  EXPECT_EQ(both(two_keys, MakeNode("n").Label(kZone, "a")), kSkip);
  EXPECT_EQ(both(two_keys, MakeNode("n").Label(kZone, "a").Label(kRack, "1")), kQueue);
}

TEST(PodTopologySpreadHints, LabelsOfNodes) {
  const auto changed = [](const PodSpec& pod, const NodeSpec& before, const NodeSpec& after) {
    return NodeHint(pod, BERTH_ACTION_UPDATE_NODE_LABEL, {before}, {after});
  };
  const NodeSpec in_a = MakeNode("n").Label(kZone, "a");
  EXPECT_EQ(changed(Spreading(), MakeNode("n"), in_a), kQueue);
  EXPECT_EQ(changed(Spreading(), in_a, MakeNode("n")), kQueue);
  EXPECT_EQ(changed(Spreading(), in_a, MakeNode("n").Label(kZone, "b")), kQueue);
  EXPECT_EQ(changed(Spreading(), in_a, MakeNode("n").Label(kZone, "a").Label("x", "y")), kSkip);
  EXPECT_EQ(changed(Spreading(), MakeNode("n"), MakeNode("n").Label("x", "y")), kSkip);
  const PodSpec selective = Spreading().NodeSelector("pool", "blue");
  EXPECT_EQ(changed(selective, NodeSpec(in_a).Label("pool", "blue"), in_a), kQueue)
      << "the node is not counted any more";
  EXPECT_EQ(changed(selective, in_a, NodeSpec(in_a).Label("pool", "red")), kSkip);
  PodSpec ignoring = Web("p").NodeSelector("pool", "blue");
  ignoring.Spread({.topology_key = kZone,
                   .selector = SelectorSpec{{In("app", {"web"})}},
                   .node_affinity_policy = BERTH_POLICY_IGNORE});
  EXPECT_EQ(changed(ignoring, NodeSpec(in_a).Label("pool", "blue"), in_a), kSkip);
}

TEST(PodTopologySpreadHints, TaintsOfNodes) {
  const auto changed = [](const NodeSpec& before, const NodeSpec& after) {
    return NodeHint(Spreading(), BERTH_ACTION_UPDATE_NODE_TAINT, {before}, {after});
  };
  const NodeSpec in_a = MakeNode("n").Label(kZone, "a");
  EXPECT_EQ(changed(NodeSpec(in_a).Taint("t"), in_a), kQueue);
  EXPECT_EQ(changed(NodeSpec(in_a).Taint("t", "1"), NodeSpec(in_a).Taint("t", "2")), kQueue);
  EXPECT_EQ(changed(NodeSpec(in_a).Taint("t"), NodeSpec(in_a).Taint("t")), kSkip);
  EXPECT_EQ(changed(MakeNode("n").Taint("t"), MakeNode("n")), kSkip) << "the node lacks the key";
}

TEST(PodTopologySpreadHints, OtherEvents) {
  EXPECT_EQ(
      NodeHint(Spreading(), BERTH_ACTION_UPDATE_NODE_ALLOCATABLE, {MakeNode("n")}, {MakeNode("n")}),
      kSkip);
  const PodSpec invalid =
      MakePod("p").Spread({.topology_key = kZone, .selector = SelectorSpec{.invalid = true}});
  EXPECT_EQ(PodHint(invalid, BERTH_ACTION_ADD, {}, {Web("q").NodeName("n")}), kQueue);
}

// ---- Objects that select pods -------------------------------------------------------------------

std::vector<ObjectSpec> Selecting(const std::string& kind, const std::string& selector,
                                  const std::string& ns = "default") {
  return {MakeObject(kind, ns, "s", R"({"spec": {"selector": )" + selector + "}}")};
}

TEST(PodTopologySpreadHints, ObjectsThatSelectPods) {
  const std::string service = "v1/Service";
  const std::string set = "apps/v1/ReplicaSet";
  const std::string web = R"({"app": "web"})";
  const std::string db = R"({"app": "db"})";
  const std::string of_set = R"({"matchLabels": {"app": "web"}})";
  const std::vector<ObjectSpec> none;
  const PodSpec owned =
      Web("p").Owner({.kind = "ReplicaSet", .name = "s", .api_version = "apps/v1"});
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<ObjectSpec> before;
    std::vector<ObjectSpec> after;
    uint32_t want;
  } cases[] = {
      {"added", Web("p"), none, Selecting(service, web), kQueue},
      {"deleted", Web("p"), Selecting(service, web), none, kQueue},
      {"selects the pod no more", Web("p"), Selecting(service, web), Selecting(service, db),
       kQueue},
      {"selects the pod now", Web("p"), Selecting(service, db), Selecting(service, web), kQueue},
      {"same selector", Web("p"), Selecting(service, web), Selecting(service, web), kSkip},
      {"selects other pods", Web("p"), none, Selecting(service, db), kSkip},
      {"another namespace", Web("p"), none, Selecting(service, web, "other"), kSkip},
      {"the pod has constraints of its own", Spreading(), none, Selecting(service, web), kSkip},
      {"controller added", owned, none, Selecting(set, of_set), kQueue},
      {"controller with the same selector", owned, Selecting(set, of_set), Selecting(set, of_set),
       kSkip},
      {"controller of other pods", Web("p"), none, Selecting(set, of_set), kSkip},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    PluginUnderTest plugin(
        {.nodes = {}, .args = Args(R"({"defaultingType": "List", "defaultConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]})")});
    uint32_t action = BERTH_ACTION_UPDATE;
    if (each.before.empty()) action = BERTH_ACTION_ADD;
    if (each.after.empty()) action = BERTH_ACTION_DELETE;
    EXPECT_EQ(plugin.Hint(each.pod, {.resource = BERTH_RESOURCE_CUSTOM,
                                     .action = action,
                                     .old_object = each.before,
                                     .new_object = each.after}),
              each.want);
  }
}

}  // namespace
}  // namespace berth::testing
