// Tests which selector default constraints have, by the nodes that Filter accepts.
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using Names = std::vector<std::string>;

// One constraint with DoNotSchedule for each zone.
const char* const kList = R"({"defaultingType": "List", "defaultConstraints": [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]})";

PodSpec Web(const std::string& name) {
  return MakePod(name).Label("app", "web").Label("tier", "front");
}

// The zones contain one pod with both labels, with app only, with tier only, and with none.
std::vector<NodeSpec> Nodes() {
  return {MakeNode("both").Label("zone", "1").Pod(Web("q1")),
          MakeNode("app").Label("zone", "2").Pod(MakePod("q2").Label("app", "web")),
          MakeNode("tier").Label("zone", "3").Pod(MakePod("q3").Label("tier", "front")),
          MakeNode("none").Label("zone", "4").Pod(MakePod("q4"))};
}

ObjectSpec Service(const std::string& name, const std::string& selector) {
  return MakeObject("v1/Service", "default", name, R"({"spec": {"selector": )" + selector + "}}");
}
ObjectSpec Owner(const std::string& kind, const std::string& selector) {
  return MakeObject(kind, "default", "owner", R"({"spec": {"selector": )" + selector + "}}");
}
PodSpec OwnedBy(const std::string& kind, const std::string& api_version) {
  return Web("p").Owner({.kind = kind, .name = "owner", .api_version = api_version});
}

Names FittingWith(const std::vector<ObjectSpec>& objects, const PodSpec& pod) {
  PluginUnderTest plugin({.nodes = Nodes(), .args = Args(kList), .objects = objects});
  return plugin.Filter(pod).Fitting();
}

const Names kAll = {"app", "both", "none", "tier"};
const Names kSkipped = {"PreFilter returned Skip"};
const Names kByApp = {"none", "tier"};          // The selector is app=web.
const Names kByTier = {"app", "none"};          // The selector is tier=front.
const Names kByBoth = {"app", "none", "tier"};  // The selector is app=web,tier=front.

TEST(PodTopologySpreadDefaults, Services) {
  EXPECT_EQ(FittingWith({Service("s", R"({"app": "web"})")}, Web("p")), kByApp);
  EXPECT_EQ(FittingWith({Service("s", R"({"tier": "front", "app": "web"})")}, Web("p")), kByBoth);
  EXPECT_EQ(FittingWith({Service("s", R"({"app": "web"})"), Service("t", R"({"tier": "front"})"),
                         Service("u", R"({"app": "web"})")},
                        Web("p")),
            kByBoth)
      << "the selectors of all Services are joined";
  EXPECT_EQ(FittingWith({Service("s", R"({"app": "web"})"), Service("t", R"({"tier": "back"})")},
                        Web("p")),
            kByApp)
      << "a Service that does not select the pod does not matter";
}

TEST(PodTopologySpreadDefaults, NothingSelectsThePod) {
  const ObjectSpec elsewhere =
      MakeObject("v1/Service", "other", "s", R"({"spec": {"selector": {"app": "web"}}})");
  for (const std::vector<ObjectSpec>& objects :
       {std::vector<ObjectSpec>{},
        {elsewhere},
        {Service("s", R"({"app": "db"})")},
        {Service("s", "{}")},
        {MakeObject("v1/Service", "default", "s", R"({"spec": {}})")}}) {
    PluginUnderTest plugin({.nodes = Nodes(), .args = Args(kList), .objects = objects});
    EXPECT_EQ(plugin.Filter(Web("p")).pre_filter, Skip()) << objects.size();
  }
}

TEST(PodTopologySpreadDefaults, Controllers) {
  const std::string labels = R"({"matchLabels": {"app": "web"}})";
  const std::string expressions =
      R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "x"]}]})";
  EXPECT_EQ(FittingWith({Owner("apps/v1/ReplicaSet", labels)}, OwnedBy("ReplicaSet", "apps/v1")),
            kByApp);
  EXPECT_EQ(
      FittingWith({Owner("apps/v1/ReplicaSet", expressions)}, OwnedBy("ReplicaSet", "apps/v1")),
      kByApp);
  EXPECT_EQ(FittingWith({Owner("apps/v1/StatefulSet", labels)}, OwnedBy("StatefulSet", "apps/v1")),
            kByApp);
  EXPECT_EQ(FittingWith({Owner("v1/ReplicationController", R"({"app": "web"})")},
                        OwnedBy("ReplicationController", "v1")),
            kByApp);
  EXPECT_EQ(FittingWith({Owner("apps/v1/ReplicaSet", labels), Service("s", R"({"tier": "front"})")},
                        OwnedBy("ReplicaSet", "apps/v1")),
            kByBoth)
      << "the selectors of Services and of the controller are joined";
}

TEST(PodTopologySpreadDefaults, SelectorOfReplicationControllerReplacesThatOfServices) {
  // app=other replaces app=web of the Service, so that only tier=front is left for these pods.
  EXPECT_EQ(FittingWith({Owner("v1/ReplicationController", R"({"app": "other"})"),
                         Service("s", R"({"app": "web"})")},
                        OwnedBy("ReplicationController", "v1")),
            kAll);
  EXPECT_EQ(FittingWith({Owner("v1/ReplicationController", R"({"tier": "front"})"),
                         Service("s", R"({"tier": "front"})")},
                        OwnedBy("ReplicationController", "v1")),
            kByTier);
}

TEST(PodTopologySpreadDefaults, OtherControllersAreIgnored) {
  const ObjectSpec set = Owner("apps/v1/ReplicaSet", R"({"matchLabels": {"app": "web"}})");
  const auto skips = [&set](const PodSpec& pod) {
    PluginUnderTest plugin({.nodes = Nodes(), .args = Args(kList), .objects = {set}});
    return plugin.Filter(pod).pre_filter == Skip();
  };
  EXPECT_FALSE(skips(OwnedBy("ReplicaSet", "apps/v1")));
  EXPECT_TRUE(skips(OwnedBy("ReplicaSet", "extensions/v1beta1")));
  EXPECT_TRUE(skips(OwnedBy("StatefulSet", "apps/v1"))) << "there is no StatefulSet";
  EXPECT_TRUE(skips(OwnedBy("DaemonSet", "apps/v1")));
  EXPECT_TRUE(skips(OwnedBy("ReplicaSet", "apps/v1").Namespace("other")));
  PodSpec not_controlled = Web("p").Owner({.kind = "ReplicaSet", .name = "owner"});
  not_controlled.owners.back().controller = false;
  EXPECT_TRUE(skips(not_controlled));
}

TEST(PodTopologySpreadDefaults, PodsWithConstraintsHaveNoDefaults) {
  const PodSpec own = Web("p").Spread(9, "zone", {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY);
  PluginUnderTest plugin(
      {.nodes = Nodes(), .args = Args(kList), .objects = {Service("s", R"({"app": "web"})")}});
  EXPECT_EQ(plugin.Filter(own).pre_filter, Skip());
  EXPECT_TRUE(plugin.Score(Web("p")).skipped) << "the list has no soft constraint";
}

TEST(PodTopologySpreadDefaults, AnEmptyListHasNoDefaults) {
  PluginUnderTest plugin({.nodes = Nodes(),
                          .args = Args(R"({"defaultingType": "List"})"),
                          .objects = {Service("s", R"({"app": "web"})")}});
  EXPECT_EQ(plugin.Filter(Web("p")).pre_filter, Skip());
  EXPECT_TRUE(plugin.Score(Web("p")).skipped);
}

TEST(PodTopologySpreadDefaults, FollowsTheObjects) {
  PluginUnderTest plugin({.nodes = Nodes(), .args = Args(kList)});
  const auto fitting = [&plugin](const PodSpec& pod) {
    const FilterResult result = plugin.Filter(pod);
    return result.pre_filter == Skip() ? kSkipped : result.Fitting();
  };
  EXPECT_EQ(fitting(Web("p")), kSkipped);
  plugin.PutObject(Service("s", R"({"app": "web"})"));
  EXPECT_EQ(fitting(Web("p")), kByApp);
  plugin.PutObject(Service("s", R"({"app": "web", "tier": "front"})"));
  EXPECT_EQ(fitting(Web("p")), kByBoth);
  plugin.PutObject(Service("s", R"({"tier": "front"})"));
  EXPECT_EQ(fitting(Web("p")), kByTier);
  plugin.PutObject(Service("s", "{}"));
  EXPECT_EQ(fitting(Web("p")), kSkipped);
  plugin.PutObject(Service("s", R"({"tier": "front"})"));
  plugin.RemoveObject(Service("s", R"({"tier": "front"})"));
  EXPECT_EQ(fitting(Web("p")), kSkipped);

  const PodSpec owned = OwnedBy("ReplicaSet", "apps/v1");
  plugin.PutObject(Owner("apps/v1/ReplicaSet", R"({"matchLabels": {"app": "web"}})"));
  EXPECT_EQ(fitting(owned), kByApp);
  plugin.PutObject(Owner("apps/v1/ReplicaSet", R"({"matchLabels": {"tier": "front"}})"));
  EXPECT_EQ(fitting(owned), kByTier);
  plugin.RemoveObject(Owner("apps/v1/ReplicaSet", "{}"));
  EXPECT_EQ(fitting(owned), kSkipped);
}

}  // namespace
}  // namespace berth::testing
