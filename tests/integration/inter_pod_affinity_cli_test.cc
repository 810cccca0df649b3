// InterPodAffinity in its shared object, with profiles in TOML, on clusters in files and streams.
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

std::string InZone(const std::string& node, const std::string& zone) {
  return NodeJson(node, "8", R"(,"labels":{"zone":")" + zone + R"("})");
}
std::string App(const std::string& app, const std::string& ns = "default") {
  return R"(,"namespace":")" + ns + R"(","labels":{"app":")" + app + R"("})";
}
// Returns the part of a pod's spec with one required term, of "podAffinity" or "podAntiAffinity".
std::string Term(const std::string& kind, const std::string& app, const std::string& more = "") {
  return R"(,"affinity":{")" + kind + R"(":{")" + kRequired +
         R"(":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":")" + app + R"("}})" +
         more + "}]}}";
}
std::string Namespace(const std::string& name, const std::string& team) {
  return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name +
         R"(","labels":{"team":")" + team + R"("}}})";
}

class InterPodAffinityCliTest : public RunCliTest {
 protected:
  // Returns the node of each pod that `berth simulate` places, or the message.
  std::string NodeOf(const std::string& cluster, const std::string& profile) {
    const Outcome run = Run({"simulate", "--cluster", File("c.jsonl", cluster), "--profile",
                             File("affinity.toml", profile), "--output", "json"});
    EXPECT_NE(run.exit_status, 2) << run.err;
    const Json pod = run.json()["placements"][0];
    return pod.contains("node") ? pod["node"] : pod["message"];
  }
};

TEST_F(InterPodAffinityCliTest, PodOfAnotherSchedulerRepelsPodsWithoutAffinity) {
  const std::string other = R"(,"schedulerName":"other","nodeName":"a1")";
  EXPECT_THAT(
      DecisionsOf(
          Line("ADDED", InZone("a1", "a")) + Line("ADDED", InZone("a2", "a")) +
          Line("ADDED", PodJson("db", "1", App("db"), other + Term("podAntiAffinity", "web"))) +
          Line("ADDED", PodJson("web", "1", App("web"))) +
          // The pod has no terms of its own, but a node in another zone helps it.
          Line("ADDED", InZone("b1", "b"), "1s")),
      ElementsAre("0 Refused web 0/2 nodes are available: 2 node(s) didn't satisfy existing "
                  "pods anti-affinity rules.",
                  "1 Bound web b1"));
}

TEST_F(InterPodAffinityCliTest, ADeletedPodMakesRoom) {
  const std::string db = PodJson("db", "1", App("db"), R"(,"nodeName":"a1")");
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", InZone("a1", "a")) + Line("ADDED", db) +
                  Line("ADDED", PodJson("web", "1", App("web"), Term("podAntiAffinity", "db"))) +
                  Line("DELETED", db, "1s")),
      ElementsAre("0 Refused web 0/1 nodes are available: 1 node(s) didn't match pod anti-affinity "
                  "rules.",
                  "1 Bound web a1"));
}

TEST_F(InterPodAffinityCliTest, FollowsThePodsThatItPlaced) {
  // The first pod of the set may run anywhere, the second one only in its zone.
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", InZone("a1", "a")) +
                  Line("ADDED", PodJson("w1", "1", App("web"), Term("podAffinity", "web"))) +
                  Line("ADDED", InZone("b1", "b"), "1s") +
                  Line("ADDED", PodJson("w2", "1", App("web"), Term("podAffinity", "web"))) +
                  Line("ADDED", PodJson("x", "1", App("x"), Term("podAffinity", "nothing")))),
      ElementsAre("0 Bound w1 a1", "1 Bound w2 a1",
                  "1 Refused x 0/2 nodes are available: 2 node(s) didn't match pod affinity "
                  "rules."));
}

TEST_F(InterPodAffinityCliTest, NamespacesAreSelectedByTheirLabels) {
  const std::string team_x = R"(,"namespaceSelector":{"matchLabels":{"team":"x"}})";
  const std::string cluster =
      InZone("a1", "a") + "\n" + InZone("b1", "b") + "\n" + Namespace("n1", "x") + "\n" +
      Namespace("n2", "y") + "\n" + PodJson("db1", "1", App("db", "n1"), R"(,"nodeName":"a1")") +
      "\n" + PodJson("db2", "1", App("db", "n2"), R"(,"nodeName":"b1")") + "\n" +
      PodJson("web", "1", App("web"), Term("podAffinity", "db", team_x)) + "\n";
  EXPECT_EQ(NodeOf(cluster, "extends = \"default\"\n"), "a1");
}

// The pod of the namespace "green" has affinity to pods in namespaces with team=x. It is tried
// again when a namespace gets this label, and the plugin has read the label by then.
TEST_F(InterPodAffinityCliTest, NamespaceThatBeginsToMatchRequeues) {
  for (const std::string input : {"added", "relabelled"}) {
    const std::string prefix = BERTH_SOURCE_DIR "/tests/integration/namespaces/" + input;
    const Outcome run = Run({"replay", "--cluster", prefix + "-cluster.json", "--events",
                             prefix + "-events.jsonl", "--time", "virtual", "--output", "json"});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    EXPECT_THAT(Decisions(run.out),
                ElementsAre("0 Refused w 0/1 nodes are available: 1 node(s) didn't match pod "
                            "affinity rules.",
                            "2 Bound w n1"))
        << input;
  }
}

TEST_F(InterPodAffinityCliTest, NamespaceThatCeasesToMatchRequeues) {
  const std::string team_x = R"(,"namespaceSelector":{"matchLabels":{"team":"x"}})";
  const std::string own = PodJson("db", "1", App("db", "n1"), R"(,"nodeName":"a1")");
  const std::string repelling =
      PodJson("db", "1", App("db", "other"),
              R"(,"nodeName":"a1")" + Term("podAntiAffinity", "web", team_x));
  const std::string web =
      PodJson("web", "1", App("web", "n2"), Term("podAntiAffinity", "db", team_x));
  const std::string plain = PodJson("web", "1", App("web", "n1"));
  const struct {
    const char* name;
    std::string on_node;
    std::string pending;
    std::string change;
  } cases[] = {
      {"own term, relabelled", own, web, Line("MODIFIED", Namespace("n1", "y"), "2s")},
      {"own term, deleted", own, web, Line("DELETED", Namespace("n1", "x"), "2s")},
      {"term of the pod on the node, relabelled", repelling, plain,
       Line("MODIFIED", Namespace("n1", "y"), "2s")},
      {"term of the pod on the node, deleted", repelling, plain,
       Line("DELETED", Namespace("n1", "x"), "2s")},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const std::vector<std::string> decisions =
        DecisionsOf(Line("ADDED", InZone("a1", "a")) + Line("ADDED", Namespace("n1", "x")) +
                    Line("ADDED", each.on_node) + Line("ADDED", each.pending) + each.change);
    ASSERT_EQ(decisions.size(), 2u);
    EXPECT_THAT(decisions[0], HasSubstr("anti-affinity rules"));
    EXPECT_EQ(decisions[1], "2 Bound web a1");
  }
}

TEST_F(InterPodAffinityCliTest, ARemovedNodeFreesItsDomain) {
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", InZone("a1", "a")) + Line("ADDED", InZone("a2", "a")) +
                  Line("ADDED", PodJson("db", "1", App("db"), R"(,"nodeName":"a1")")) +
                  Line("ADDED", PodJson("web", "1", App("web"), Term("podAntiAffinity", "db"))) +
                  Line("DELETED", InZone("a1", "a"), "1s")),
      ElementsAre("0 Refused web 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity "
                  "rules.",
                  "1 Bound web a2"));
}

// The pod repels pods with a tenant in all namespaces except its own, and the node has one there.
TEST_F(InterPodAffinityCliTest, NegativeNamespaceSelectorsExcludeNamespaces) {
  const auto cluster = [](const std::string& ns_of_old) {
    const auto ns = [](const std::string& name) {
      return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name +
             R"(","labels":{"kubernetes.io/metadata.name":")" + name + "\"}}}\n";
    };
    const auto tenant = [](const std::string& name, const std::string& number) {
      return R"(,"namespace":")" + name + R"(","labels":{"acme.io/tenant":")" + number + R"("})";
    };
    const std::string term =
        R"(,"affinity":{"podAntiAffinity":{")" + std::string(kRequired) +
        R"(":[{"topologyKey":"kubernetes.io/hostname",)"
        R"("labelSelector":{"matchExpressions":[{"key":"acme.io/tenant","operator":"Exists"}]},)"
        R"("namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name",)"
        R"("operator":"NotIn","values":["blue"]}]}}]}})";
    return ns("blue") + ns("green") +
           NodeJson("n1", "4", R"(,"labels":{"kubernetes.io/hostname":"n1"})") + "\n" +
           PodJson("old", "1", tenant(ns_of_old, "7"), R"(,"nodeName":"n1")") + "\n" +
           PodJson("new", "1", tenant("blue", "8"), term) + "\n";
  };
  EXPECT_EQ(NodeOf(cluster("blue"), "extends = \"default\"\n"), "n1");
  EXPECT_EQ(NodeOf(cluster("green"), "extends = \"default\"\n"),
            "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.");
}

TEST_F(InterPodAffinityCliTest, TheProfileSetsTheWeightOfRequiredTerms) {
  // The pod on b1 wants web pods in its zone. a1 has more room.
  const std::string cluster =
      InZone("a1", "a") + "\n" + InZone("b1", "b") + "\n" +
      PodJson("db", "4", App("db"), R"(,"nodeName":"b1")" + Term("podAffinity", "web")) + "\n" +
      PodJson("web", "1", App("web")) + "\n";
  const auto profile = [](const std::string& weight) {
    return "extends = \"default\"\n[[plugins]]\nname = \"InterPodAffinity\"\nargs = "
           "{hardPodAffinityWeight = " +
           weight + "}\n";
  };
  EXPECT_EQ(NodeOf(cluster, profile("100")), "b1");
  EXPECT_EQ(NodeOf(cluster, profile("0")), "a1");
  const Outcome wrong = Run({"profile", "check", File("affinity.toml", profile("101"))});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("affinity.toml:4"));
  EXPECT_THAT(wrong.err, HasSubstr("hardPodAffinityWeight: expected a whole number from 0 to 100"));
}

// As with kube-scheduler, a profile without the plugin ignores the field.
TEST_F(InterPodAffinityCliTest, AProfileMayLeaveThePluginOut) {
  const std::string cluster = InZone("a1", "a") + "\n" +
                              PodJson("web", "1", App("web"), Term("podAffinity", "nothing")) +
                              "\n";
  EXPECT_EQ(NodeOf(cluster,
                   "extends = \"default\"\n[[plugins]]\nname = \"InterPodAffinity\"\n"
                   "enabled = false\n"),
            "a1");
}

}  // namespace
}  // namespace berth::host
