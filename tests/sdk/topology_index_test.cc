// Tests the index over pods and domains (<berth/topology_index.h>).
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/topology_index.h>

#include "tests/sdk/topology_fixture.h"

namespace berth {
namespace {

using testing::DoesNotExist;
using testing::Exists;
using testing::In;
using testing::MakeNode;
using testing::MakePod;
using testing::NotIn;
using testing::PodHandle;
using testing::PodSpec;
using testing::PodTermSpec;
using testing::Requirements;
using testing::SelectorSpec;
using testing::TopologyCluster;

using Counts = std::map<std::string, uint64_t>;
using Texts = std::vector<std::string>;

TEST_F(TopologyIndexTest, CountsPodsByDomain) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutNode(1, Node("a"));
  cluster_.PutNode(2, Node("b"));
  cluster_.PutNode(3, MakeNode("no zone"));
  cluster_.PutPod(0, Web("p0"));
  cluster_.PutPod(1, Web("p1"));
  cluster_.PutPod(2, Web("p2"));
  cluster_.PutPod(3, Web("p3"));
  cluster_.PutPod(2, MakePod("other").Label("app", "db"));
  cluster_.PutPod(2, Web("elsewhere").Namespace("x"));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const CountedDomains counted = Count(pod);
  EXPECT_EQ(ByValue(counted), (Counts{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(counted.counts->total(), 3U);
  EXPECT_EQ(counted.counter->rows().total(), 4U);
  EXPECT_EQ(counted.counter->rows().At(3), 1U);
  EXPECT_EQ(counted.topology->size(), 2U);
  EXPECT_EQ(counted.topology->nodes(), 3U);

  cluster_.PutPod(0, Web("p4"));
  cluster_.RemovePod("p2");
  EXPECT_EQ(ByValue(counted), (Counts{{"a", 3}}));
  cluster_.PutPod(0, MakePod("p4").Label("app", "db"));
  EXPECT_EQ(ByValue(counted), (Counts{{"a", 2}}));
}

TEST_F(TopologyIndexTest, StatesWhetherNamespacesAreNeeded) {
  const Texts seen = {"get v1/Namespace "};
  const Texts needed = {"get v1/Namespace ", "list v1/Namespace"};
  const auto asks = [](SelectorSpec namespaces) {
    PodSpec pod = Asks({In("app", {"web"})});
    pod.required_pod_anti_terms[0].namespace_selector = std::move(namespaces);
    return pod;
  };
  const PodSpec team = asks({{In("team", {"x"})}});
  struct Cluster : TopologyCluster {
    Texts AfterCount(const PodSpec& pod) {
      const PodHandle handle = Pod(pod);
      PodQuery query(PodQuery::kWithTerminating);
      query.Means(handle->meta->ns,
                  Span<const berth_pod_term>(handle->affinity->required_pod_anti_terms)[0]);
      index().Count(query, 1);
      return host().look_ups;
    }
    Texts AfterFindTerms(const PodSpec& pod, uint32_t kinds = kRequiredAntiAffinity) {
      std::vector<const TermGroup*> groups;
      index().FindTerms(*Pod(pod), kinds, groups);
      return host().look_ups;
    }
    void Place(const PodSpec& pod) {
      PutNode(0, Node("a"));
      PutPod(0, pod);
    }
  };
  EXPECT_EQ(Cluster().AfterCount(Asks({In("app", {"web"})})), seen);
  EXPECT_EQ(Cluster().AfterCount(asks({})), seen) << "it selects every namespace";
  EXPECT_EQ(Cluster().AfterCount(team), (Texts{"list v1/Namespace"}));
  EXPECT_EQ(Cluster().AfterFindTerms(Web("w")), seen);
  Cluster cluster;
  cluster.Place(Asks({In("app", {"web"})}));
  EXPECT_EQ(cluster.AfterFindTerms(Web("w")), seen);
  cluster.PutPod(0, team);
  EXPECT_EQ(cluster.AfterFindTerms(MakePod("w")), seen) << "the term means other labels";
  EXPECT_EQ(cluster.AfterFindTerms(Web("w"), kPreferredAffinity), seen) << "another kind of term";
  EXPECT_EQ(cluster.AfterFindTerms(Web("w")), needed);
  EXPECT_EQ(cluster.AfterFindTerms(Web("w")), needed) << "once";
  Cluster removed;
  removed.Place(team);
  removed.RemovePod("asks");
  removed.PutNamespace("x", {});
  EXPECT_EQ(removed.AfterCount(team), seen) << "there are namespaces";
  Cluster without;
  TopologyIndex index(without.host().host(), {.namespaces = false});
  std::vector<const TermGroup*> groups;
  index.FindTerms(*without.Pod(Web("w")), kRequiredAntiAffinity, groups);
  EXPECT_EQ(without.host().look_ups, Texts());
}

TEST_F(TopologyIndexTest, FindsPodsThatShareLabels) {
  const auto has_peers = [this](const PodSpec& pod) {
    return cluster_.index().MayHavePeers(*cluster_.Pod(pod));
  };
  cluster_.PutNode(0, Node("a"));
  EXPECT_FALSE(has_peers(Web("w")));
  cluster_.PutPod(0, Web("p0").Label("tier", "1"));
  EXPECT_TRUE(has_peers(Web("w")));
  EXPECT_TRUE(has_peers(MakePod("w").Label("tier", "1").Label("app", "db")));
  EXPECT_FALSE(has_peers(MakePod("w").Label("app", "db").Label("tier", "2")));
  EXPECT_FALSE(has_peers(MakePod("w")));
  EXPECT_FALSE(has_peers(Web("w").Namespace("x")));
  for (int i = 0; i < 64; ++i) {
    cluster_.PutPod(0, MakePod("q" + std::to_string(i)).Label("n", std::to_string(i)));
  }
  EXPECT_TRUE(has_peers(MakePod("w").Label("app", "db"))) << "too many to look at";
}

TEST_F(TopologyIndexTest, CountsNodesByLabelKey) {
  const berth_id zone = cluster_.ids().Intern("zone");
  const auto counts = [&] {
    return std::pair(cluster_.index().node_count(), cluster_.index().CountNodesWith(zone));
  };
  EXPECT_EQ(counts(), std::pair(0U, 0U));
  cluster_.PutNode(0, Node("a"));
  cluster_.PutNode(1, MakeNode("n"));
  EXPECT_EQ(counts(), std::pair(2U, 1U));
  cluster_.PutNode(1, Node("b"));
  EXPECT_EQ(counts(), std::pair(2U, 2U));
  cluster_.RemoveNode(0);
  EXPECT_EQ(counts(), std::pair(1U, 1U));
}

TEST_F(TopologyIndexTest, MatchesSelectors) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p0").Label("tier", "1"));
  cluster_.PutPod(0, Web("p1"));
  cluster_.PutPod(0, MakePod("p2"));
  const std::vector<std::pair<Requirements, uint64_t>> cases = {
      {{}, 3},
      {{Exists("app")}, 2},
      {{DoesNotExist("app")}, 1},
      {{In("app", {"web", "db"}), Exists("tier")}, 1},
      {{In("app", {"db"})}, 0},
      {{NotIn("tier", {"1"})}, 2},
      {{NotIn("tier", {"2"})}, 3},
      {{NotIn("tier", {"1"}), Exists("app")}, 1},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    // Counters that existed before the pod, and counters that are created after it, agree.
    EXPECT_EQ(CountByZone(Asks(cases[i].first))["a"], cases[i].second) << i;
  }
  cluster_.PutPod(0, Web("p3").Label("tier", "1"));
  cluster_.PutPod(0, Web("p4"));
  cluster_.PutPod(0, MakePod("p5"));
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(CountByZone(Asks(cases[i].first))["a"], 2 * cases[i].second) << i;
  }
}

TEST_F(TopologyIndexTest, MissingOrInvalidSelectorMatchesNoPod) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p0"));
  PodSpec asks = MakePod("asks");
  asks.required_pod_anti_terms = {PodTermSpec{.topology_key = "zone"}};
  EXPECT_EQ(CountByZone(asks), Counts{});
  asks.required_pod_anti_terms[0].selector = SelectorSpec{.requirements = {}, .invalid = true};
  EXPECT_EQ(CountByZone(asks), Counts{});
}

TEST_F(TopologyIndexTest, CountsOnlyPodsThatMatchAllConditions) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p0").Label("tier", "1"));
  cluster_.PutPod(0, Web("p1"));
  const PodHandle pod =
      cluster_.Pod(Asks({In("app", {"web"})}).PodAntiAffinity("zone", {In("tier", {"1"})}));
  const auto terms = Span<const berth_pod_term>(pod->affinity->required_pod_anti_terms);
  PodQuery query(PodQuery::kWithTerminating);
  query.Means(pod->meta->ns, terms[0]).Means(pod->meta->ns, terms[1]);
  EXPECT_EQ(cluster_.index().Count(query, 1).rows().total(), 1U);
  EXPECT_TRUE(cluster_.index().Matches(query, *cluster_.Pod(Web("x").Label("tier", "1"))));
  EXPECT_FALSE(cluster_.index().Matches(query, *cluster_.Pod(Web("x"))));
  query.Clear();
  EXPECT_EQ(query.size(), 0U);
  EXPECT_EQ(cluster_.index().Count(query, 1).rows().total(), 2U);
}

TEST_F(TopologyIndexTest, TerminatingPodsCountIfTheQuerySaysSo) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p0"));
  cluster_.PutPod(0, Web("p1").DeletedNs(5));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const auto terms = Span<const berth_pod_term>(pod->affinity->required_pod_anti_terms);
  PodQuery without(PodQuery::kWithoutTerminating);
  without.In(pod->meta->ns, terms[0].selector);
  const PodCounter& living = cluster_.index().Count(without, 1);
  const PodCounter& all = *Count(pod).counter;
  EXPECT_NE(living.id(), all.id());
  EXPECT_EQ(living.rows().total(), 1U);
  EXPECT_EQ(all.rows().total(), 2U);
  cluster_.PutPod(0, Web("p0").DeletedNs(6));
  EXPECT_EQ(living.rows().total(), 0U);
  EXPECT_EQ(all.rows().total(), 2U);
  EXPECT_FALSE(cluster_.index().Matches(without, *cluster_.Pod(Web("x").DeletedNs(1))));
  EXPECT_TRUE(cluster_.index().Matches(without, *cluster_.Pod(Web("x"))));
}

TEST_F(TopologyIndexTest, FollowsNodes) {
  cluster_.PutPod(0, Web("p0"));  // Before its node.
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const CountedDomains counted = Count(pod);
  EXPECT_EQ(counted.counter->rows().total(), 0U);
  cluster_.PutNode(0, Node("a"));
  EXPECT_EQ(ByValue(counted), (Counts{{"a", 1}}));
  cluster_.PutNode(0, Node("b"));
  EXPECT_EQ(ByValue(counted), (Counts{{"b", 1}}));
  cluster_.PutNode(0, MakeNode("n"));
  EXPECT_EQ(ByValue(counted), Counts{});
  EXPECT_EQ(counted.counter->rows().At(0), 1U);
  cluster_.PutNode(0, Node("c"));
  cluster_.RemoveNode(0);  // The pod stays.
  EXPECT_EQ(ByValue(counted), Counts{});
  EXPECT_EQ(counted.counter->rows().total(), 0U);
  EXPECT_EQ(counted.topology->size(), 0U);
  cluster_.PutNode(0, Node("a"));
  cluster_.RemovePod("p0");
  EXPECT_EQ(ByValue(counted), Counts{});
  EXPECT_EQ(counted.topology->size(), 1U);
}

TEST_F(TopologyIndexTest, SeveralKeysShareOneCounter) {
  cluster_.PutNode(0, Node("a").Label("host", "h0"));
  cluster_.PutNode(1, Node("a").Label("host", "h1"));
  cluster_.PutPod(0, Web("p0"));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const CountedDomains zones = Count(pod, "zone");
  const CountedDomains hosts = Count(pod, "host");
  EXPECT_EQ(zones.counter, hosts.counter);
  cluster_.PutPod(1, Web("p1"));
  EXPECT_EQ(ByValue(zones), (Counts{{"a", 2}}));
  EXPECT_EQ(ByValue(hosts), (Counts{{"h0", 1}, {"h1", 1}}));
  EXPECT_EQ(cluster_.index().FindTopology(cluster_.Id("host")), hosts.topology);
  EXPECT_EQ(cluster_.index().FindTopology(cluster_.Id("app")), nullptr);
}

TEST_F(TopologyIndexTest, TermMeansNamespacesThatItNamesOrSelects) {
  cluster_.PutNode(0, Node("a"));
  for (const std::string ns : {"default", "n1", "n2", "unknown"}) {
    cluster_.PutPod(0, Web("p").Namespace(ns));
  }
  cluster_.PutNamespace("default", {});
  cluster_.PutNamespace("n1", {{"team", "x"}});
  cluster_.PutNamespace("n2", {{"team", "y"}});
  const SelectorSpec web{.requirements = {In("app", {"web"})}};
  const SelectorSpec everything{};
  const SelectorSpec team_x{.requirements = {In("team", {"x"})}};
  const SelectorSpec not_y{.requirements = {NotIn("team", {"y"})}};
  struct Case {
    std::vector<std::string> namespaces;
    std::optional<SelectorSpec> selector;
    uint64_t counted;        // Pods on nodes that the term of the pod to schedule means.
    std::string meant_from;  // Namespaces of pods to schedule that the term of a pod means.
  };
  const std::vector<Case> cases = {
      {{}, std::nullopt, 1, "default"},
      {{"n1", "n1"}, std::nullopt, 1, "n1"},
      {{"n1", "n2"}, std::nullopt, 2, "n1 n2"},
      {{}, everything, 4, "default n1 n2 unknown"},
      {{}, team_x, 1, "n1"},
      {{"n2", "unknown"}, team_x, 3, "n1 n2 unknown"},
      // A namespace without an object: terms of the pod to schedule do not mean it, terms of other
      // pods see it without labels.
      {{}, not_y, 2, "default n1 unknown"},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    PodSpec asks = MakePod("asks" + std::to_string(i));
    asks.required_pod_anti_terms = {PodTermSpec{.topology_key = "zone",
                                                .selector = web,
                                                .namespace_selector = cases[i].selector,
                                                .namespaces = cases[i].namespaces}};
    EXPECT_EQ(CountByZone(asks)["a"], cases[i].counted) << i;
    cluster_.PutPod(0, asks);
    std::string meant;
    for (const std::string ns : {"default", "n1", "n2", "unknown"}) {
      const PodHandle incoming = cluster_.Pod(Web("incoming").Namespace(ns));
      const bool means = !Terms(incoming.spec()).empty();
      const PodHandle owner = cluster_.Pod(asks);
      EXPECT_EQ(cluster_.index().TermMeans(
                    *owner, Span<const berth_pod_term>(owner->affinity->required_pod_anti_terms)[0],
                    *incoming),
                means);
      if (means) meant += (meant.empty() ? "" : " ") + ns;
    }
    EXPECT_EQ(meant, cases[i].meant_from) << i;
    cluster_.RemovePod(asks.name);
    // The group keeps its id, and is found, but has no pods any more.
    const bool empty =
        Terms(Web("x").Namespace(cases[i].meant_from.substr(0, 2) == "n1" ? "n1" : "default")) ==
        Texts{"2 0"};
    EXPECT_TRUE(empty) << i;
    // Changes the cluster so often that the journal drops all changes of the pod.
    for (int repeat = 0; repeat < 8200; ++repeat) {
      cluster_.PutNode(9, MakeNode("n").Label("repeat", std::to_string(repeat)));
    }
    EXPECT_EQ(Terms(Web("x")), Texts{}) << i;
  }
}

TEST_F(TopologyIndexTest, LabelsOfNamespacesChange) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p").Namespace("n1"));
  PodSpec asks = MakePod("asks");
  asks.required_pod_anti_terms = {
      PodTermSpec{.topology_key = "zone",
                  .selector = SelectorSpec{},
                  .namespace_selector = SelectorSpec{.requirements = {In("team", {"x"})}}}};
  const PodHandle pod = cluster_.Pod(asks);
  const CountedDomains counted = Count(pod);
  const auto count_after = [&](auto change) {
    const uint64_t token = cluster_.index().token();
    change();
    bool moved = false;
    bool noted = false;
    for (const TopologyChange& each : ChangesSince(token)) {
      moved |= each.kind == TopologyChange::kCounterMoved && each.id == counted.counter->id();
      noted |= each.kind == TopologyChange::kNamespaceChanged && each.id == cluster_.Id("n1");
    }
    return std::tuple(counted.counts->total(), moved, noted);
  };
  using Result = std::tuple<uint64_t, bool, bool>;
  EXPECT_EQ(count_after([&] {
              cluster_.PutNamespace("n1", {{"team", "x"}});
            }),
            Result(1, true, true));
  EXPECT_EQ(count_after([&] {
              cluster_.PutNamespace("n1", {{"team", "x"}, {"b", "c"}});
            }),
            Result(1, false, true));
  EXPECT_EQ(count_after([&] {
              cluster_.PutNamespace("n1", {{"team", "x"}, {"b", "c"}});
            }),
            Result(1, false, false));
  EXPECT_EQ(count_after([&] {
              cluster_.PutNamespace("n1", {{"team", "y"}});
            }),
            Result(0, true, true));
  cluster_.PutNamespace("n1", {{"team", "x"}});
  EXPECT_EQ(count_after([&] { cluster_.RemoveNamespace("n1"); }), Result(0, true, true));
}

TEST_F(TopologyIndexTest, GroupsEqualTerms) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutNode(1, Node("b"));
  cluster_.PutNode(2, MakeNode("no zone"));
  for (uint32_t i = 0; i < 6; ++i) {
    cluster_.PutPod(i % 3, Asks({In("app", {"web"})}).Label("i", std::to_string(i)));
    cluster_.PutPod(i % 3, Web("twice" + std::to_string(i))
                               .PreferredPodAffinity(5, "zone", {In("app", {"web"})})
                               .PreferredPodAffinity(5, "zone", {In("app", {"web"})})
                               .PreferredPodAffinity(6, "zone", {In("app", {"db"})}));
  }
  // All pods "asks" have one name, so that one of them is left, on its first row.
  EXPECT_EQ(Terms(Web("x")), (Texts{"2 0 a=1", "4 5 a=4 b=4"}));
  EXPECT_EQ(Terms(Web("x"), kRequiredAntiAffinity), Texts{"2 0 a=1"});
  EXPECT_EQ(Terms(Web("x"), kRequiredAffinity), Texts{});
  EXPECT_EQ(Terms(MakePod("x").Label("app", "db")), Texts{"4 6 a=2 b=2"});
  EXPECT_EQ(Terms(MakePod("x")), Texts{});
}

TEST_F(TopologyIndexTest, AListWithAnInvalidTermIsIgnored) {
  cluster_.PutNode(0, Node("a"));
  PodSpec pod = Asks({In("app", {"web"})}).PodAffinity("zone", {In("app", {"web"})});
  pod.required_pod_anti_terms.push_back(
      PodTermSpec{.topology_key = "zone", .selector = SelectorSpec{.invalid = true}});
  cluster_.PutPod(0, pod);
  EXPECT_EQ(Terms(Web("x")), Texts{"1 0 a=1"});
}

TEST_F(TopologyIndexTest, WithoutTermsThereAreNone) {
  TopologyCluster cluster({.terms = false, .namespaces = false});
  cluster.PutNode(0, Node("a"));
  cluster.PutPod(0, Asks({In("app", {"web"})}));
  std::vector<const TermGroup*> groups;
  cluster.index().FindTerms(*cluster.Pod(Web("x")), 15, groups);
  EXPECT_TRUE(groups.empty());
}

TEST_F(TopologyIndexTest, DropsTheCountersThatWereNotUsedLongest) {
  TopologyCluster cluster({.counter_bytes = 2000, .journal = 16});
  cluster.PutNode(0, Node("a"));
  cluster.PutPod(0, Web("p"));
  const berth_id zone = cluster.ids().Intern("zone");
  const auto count = [&](const std::string& app, uint64_t cycle) {
    const PodHandle pod = cluster.Pod(Asks({In("app", {app})}));
    return cluster.index().Count(Query(pod), zone, cycle).counter->id();
  };
  const uint32_t first = count("web", 1);
  EXPECT_EQ(count("web", 1), first);
  // What one cycle uses stays, whatever it occupies.
  for (int i = 0; i < 20; ++i) count("app" + std::to_string(i), 2);
  const uint64_t most = cluster.index().bytes();
  EXPECT_EQ(count("app19", 2), first + 20);
  EXPECT_EQ(count("app0", 2), first + 1);
  // The counter of cycle 1 was dropped. Its successor has another id, and counts the same.
  const uint32_t again = count("web", 3);
  EXPECT_EQ(again, first + 21);
  EXPECT_LT(cluster.index().bytes(), most / 2);
  EXPECT_EQ(count("app0", 3), first + 1);  // Used last in cycle 2.
  cluster.PutPod(0, Web("p2"));
  const PodHandle pod = cluster.Pod(Asks({In("app", {"web"})}));
  EXPECT_EQ(cluster.index().Count(Query(pod), zone, 4).counts->total(), 2U);
}

TEST_F(TopologyIndexTest, ReleasesWhatItInterned) {
  TopologyCluster cluster({.counter_bytes = 0, .journal = 1});
  cluster.PutNode(0, Node("a"));
  const berth_id zone = cluster.ids().Intern("zone");
  {
    const PodHandle pod = cluster.Pod(Asks({In("app", {"web"})}));
    cluster.PutNamespace("n1", {{"team", "x"}});
    cluster.index().Count(Query(pod), zone, 1);
    cluster.PutPod(0, Asks({In("tier", {"x", "y"})}));
    EXPECT_GT(cluster.host().held_ids(), 8);
    cluster.RemovePod("asks");
    cluster.RemoveNamespace("n1");
  }
  cluster.index().Count(PodQuery(PodQuery::kWithTerminating), 2);  // Drops the counter of cycle 1.
  cluster.PutNode(0, Node("b"));
  cluster.PutNode(0, Node("c"));
  EXPECT_EQ(cluster.host().held_ids(), 0);
}

}  // namespace
}  // namespace berth
