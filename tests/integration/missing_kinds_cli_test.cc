// Commands whose files lack kinds of objects that a decision needs.
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "host/process/assemble/profile_set.h"
#include "host/process/replay/missing_kinds.h"
#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Lines = std::vector<std::string>;

// `uid`: that of a node of a cluster; empty for a node that a person wrote.
std::string Node(const std::string& name, const std::string& uid = "u-1") {
  return NodeJson(name, "8",
                  R"(,"uid":")" + uid + R"(","labels":{"kubernetes.io/hostname":")" + name +
                      R"(","zone":"z"})") +
         "\n";
}
// `meta`: more of the metadata. `spec`: more of the spec.
std::string Pod(const std::string& name, const std::string& meta, const std::string& spec = "") {
  return PodJson(name, "1", R"(,"uid":"pod-)" + name + "\"" + meta, spec) + "\n";
}
std::string Labelled(const std::string& app) { return R"(,"labels":{"app":")" + app + R"("})"; }
std::string On(const std::string& node) { return R"(,"nodeName":")" + node + "\""; }
std::string Object(const std::string& api_version, const std::string& kind, const std::string& name,
                   const std::string& more = "") {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","metadata":{"name":")" +
         name + "\"}" + more + "}\n";
}
// Returns a workload of a dump, whose pods are in the dump.
std::string Workload(const std::string& api_version, const std::string& kind) {
  return Object(api_version, kind, R"(other","uid":"u-2)");
}
// Returns a term of "podAffinity" or "podAntiAffinity", with more of the term.
std::string NamespaceTerm(const std::string& kind, const std::string& app,
                          const std::string& more) {
  return R"(,"affinity":{")" + kind +
         R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",)" +
         R"("labelSelector":{"matchLabels":{"app":")" + app + "\"}}" + more + "}]}}";
}
std::string Selects(const std::string& selector) { return R"(,"namespaceSelector":)" + selector; }
std::string OwnedBy(const std::string& api_version, const std::string& kind) {
  return R"(,"ownerReferences":[{"apiVersion":")" + api_version + R"(","kind":")" + kind +
         R"(","name":"owner","uid":"u","controller":true}])";
}

const std::string kTeam = Selects(R"({"matchLabels":{"team":"x"}})");
const std::string kDisk =
    R"(,"volumes":[{"name":"v","awsElasticBlockStore":{"volumeID":"vol-1"}}])";
const std::string kClaim =
    R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";
const std::string kTwoNodes = Node("a") + Node("b");
// The kinds that a volume of a driver needs.
const std::string kDrivers = Object("storage.k8s.io/v1", "CSINode", "a") +
                             Object("storage.k8s.io/v1", "CSIDriver", "ebs.csi.aws.com") +
                             Object("storage.k8s.io/v1", "VolumeAttachment", "attachment");

class MissingKindsCliTest : public RunCliTest {
 protected:
  // Returns the missing kinds in the documents of `simulate`, as "v1/Namespace InterPodAffinity
  // default/web", after comparing them with the lines on standard error.
  Lines MissingIn(const std::string& cluster, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"simulate", "--cluster", File("c.jsonl", cluster), "--output",
                                     "json"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome run = Run(args);
    EXPECT_NE(run.exit_status, 2) << run.err;
    Lines missing;
    const Json summary = run.json()["summary"];
    for (const Json& each : summary.value("missingKinds", Json::array())) {
      const std::string kind = each["kind"];
      std::string line = kind;
      for (const Json& plugin : each["plugins"]) line += " " + plugin.get<std::string>();
      if (each.contains("pod")) line += " " + each["pod"].get<std::string>();
      missing.push_back(line);
      EXPECT_THAT(run.err, HasSubstr("the input has no " + PluralOf(kind) + ", which "));
    }
    EXPECT_EQ(run.err.empty(), missing.empty()) << run.err;
    return missing;
  }
};

TEST_F(MissingKindsCliTest, PlainClustersNeedNothing) {
  EXPECT_THAT(MissingIn(kTwoNodes + Pod("web", "") + Pod("db", Labelled("db"))), IsEmpty());
  EXPECT_THAT(MissingIn(kTwoNodes), IsEmpty());
  EXPECT_THAT(MissingIn(kTwoNodes + Pod("web", "", NamespaceTerm("podAffinity", "web", "")) +
                        Pod("db", Labelled("db"), NamespaceTerm("podAntiAffinity", "db", ""))),
              IsEmpty());
  const Outcome small = Run({"simulate", "--cluster", kSmall});
  EXPECT_EQ(small.err, "");
}

TEST_F(MissingKindsCliTest, EachKindIsNamedUntilItIsRead) {
  const std::string apps = "apps/v1";
  const std::string storage = "storage.k8s.io/v1";
  const std::string peer = Pod("old", Labelled("web"), On("a"));
  const std::string mounted = Pod("old", "", On("a") + kClaim);
  const std::string disk = Pod("web", "", kDisk);
  const auto claim = [](const std::string& spec) {
    return Object("v1", "PersistentVolumeClaim", "data", R"(,"spec":{)" + spec + "}");
  };
  const std::string bound = claim(R"("volumeName":"pv")");
  const std::string unbound = claim(R"("storageClassName":"fast")");
  const struct {
    const char* name;
    std::string cluster;  // Beside two nodes.
    const char* missing;
    std::string object;  // An object of the kind that is missing.
  } cases[] = {
      {"a namespaceSelector of the pod", Pod("web", "", NamespaceTerm("podAffinity", "db", kTeam)),
       "v1/Namespace InterPodAffinity default/web", Object("v1", "Namespace", "default")},
      {"a namespaceSelector of a pod on a node",
       Pod("db", "", On("a") + NamespaceTerm("podAntiAffinity", "web", kTeam)) +
           Pod("web", Labelled("web")),
       "v1/Namespace InterPodAffinity default/web", Object("v1", "Namespace", "default")},
      {"a pod that a Service may select", peer + Pod("web", Labelled("web")),
       "v1/Service PodTopologySpread default/web", Object("v1", "Service", "web")},
      {"a pod of a ReplicaSet", Pod("web", OwnedBy(apps, "ReplicaSet")),
       "apps/v1/ReplicaSet PodTopologySpread default/web", Workload(apps, "ReplicaSet")},
      {"a pod of a StatefulSet", Pod("web", OwnedBy(apps, "StatefulSet")),
       "apps/v1/StatefulSet PodTopologySpread default/web", Workload(apps, "StatefulSet")},
      {"a pod of a ReplicationController", Pod("web", OwnedBy("v1", "ReplicationController")),
       "v1/ReplicationController PodTopologySpread default/web",
       Workload("v1", "ReplicationController")},
      {"the limits of drivers",
       disk + Object(storage, "CSIDriver", "d") + Object(storage, "VolumeAttachment", "x"),
       "storage.k8s.io/v1/CSINode NodeVolumeLimits default/web", Object(storage, "CSINode", "a")},
      {"drivers that must be installed",
       disk + Object(storage, "CSINode", "a") + Object(storage, "VolumeAttachment", "x"),
       "storage.k8s.io/v1/CSIDriver NodeVolumeLimits default/web",
       Object(storage, "CSIDriver", "d")},
      {"volumes that are still attached",
       disk + Object(storage, "CSINode", "a") + Object(storage, "CSIDriver", "d"),
       "storage.k8s.io/v1/VolumeAttachment NodeVolumeLimits default/web",
       Object(storage, "VolumeAttachment", "x")},
      {"claims of pods on nodes", disk + kDrivers + mounted,
       "v1/PersistentVolumeClaim NodeVolumeLimits default/web",
       Object("v1", "PersistentVolumeClaim", "other")},
      {"volumes of claims of pods on nodes", disk + kDrivers + mounted + bound,
       "v1/PersistentVolume NodeVolumeLimits default/web", Object("v1", "PersistentVolume", "pv")},
      {"classes of claims of pods on nodes", disk + kDrivers + mounted + unbound,
       "storage.k8s.io/v1/StorageClass NodeVolumeLimits default/web",
       Object(storage, "StorageClass", "fast")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(MissingIn(kTwoNodes + c.cluster), ElementsAre(c.missing));
    EXPECT_THAT(MissingIn(kTwoNodes + c.cluster + c.object), IsEmpty());
  }
}

TEST_F(MissingKindsCliTest, Kube136DoesNotNeedCsiDrivers) {
  const std::string cluster = kTwoNodes + Pod("web", "", kDisk) +
                              Object("storage.k8s.io/v1", "CSINode", "a") +
                              Object("storage.k8s.io/v1", "VolumeAttachment", "x");
  EXPECT_THAT(MissingIn(cluster, {"--emulated-version", "1.37"}),
              ElementsAre("storage.k8s.io/v1/CSIDriver NodeVolumeLimits default/web"));
  EXPECT_THAT(MissingIn(cluster, {"--emulated-version", "1.36"}), IsEmpty());
}

TEST_F(MissingKindsCliTest, NothingIsNamedThatChangesNothing) {
  const std::string peer = Pod("old", Labelled("web"), On("a"));
  const struct {
    const char* name;
    std::string cluster;
  } cases[] = {
      {"a namespaceSelector that selects all",
       Pod("web", "", NamespaceTerm("podAffinity", "db", Selects("{}")))},
      {"a term of another pod that means other labels",
       Pod("db", "", On("a") + NamespaceTerm("podAntiAffinity", "x", kTeam)) +
           Pod("web", Labelled("web"))},
      {"constraints of its own",
       peer + Pod("web", Labelled("web"),
                  R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",)"
                  R"("whenUnsatisfiable":"ScheduleAnyway"}])")},
      {"labels that no other pod has", peer + Pod("db", Labelled("db"))},
      {"a controller of another kind", Pod("web", OwnedBy("batch/v1", "Job"))},
      {"a pod with a claim, which no plugin handles", Pod("web", "", kClaim)},
      {"claims of pods on nodes only", Pod("old", "", On("a") + kClaim) + Pod("web", "")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(MissingIn(kTwoNodes + c.cluster), IsEmpty());
  }
  // Files that a person wrote lack nothing.
  EXPECT_THAT(MissingIn(Node("a", "") + Pod("web", "", NamespaceTerm("podAffinity", "db", kTeam))),
              IsEmpty());
  // Where only some nodes are in a zone, the Service decides whether that counts.
  const std::string zone = NodeJson("c", "8", R"(,"labels":{"topology.kubernetes.io/zone":"z"})");
  EXPECT_THAT(MissingIn(kTwoNodes + zone + "\n" + Pod("web", Labelled("web"))),
              ElementsAre("v1/Service PodTopologySpread default/web"));
}

TEST_F(MissingKindsCliTest, AnEmptyListOrFlagIsAnAnswer) {
  const std::string cluster = kTwoNodes + Pod("web", "", NamespaceTerm("podAffinity", "db", kTeam));
  EXPECT_THAT(MissingIn(cluster), Not(IsEmpty()));
  EXPECT_THAT(MissingIn(cluster + R"({"apiVersion":"v1","kind":"NamespaceList","items":[]})"),
              IsEmpty());
  EXPECT_THAT(MissingIn(cluster + R"({"apiVersion":"v1","kind":"ServiceList","items":[]})"),
              Not(IsEmpty()));
  EXPECT_THAT(MissingIn(cluster, {"--complete"}), IsEmpty());
}

TEST_F(MissingKindsCliTest, TheLinesTellWhatToRead) {
  const std::string cluster = kTwoNodes + Object("v1", "Service", "s") +
                              Pod("web", "", NamespaceTerm("podAffinity", "db", kTeam)) +
                              Pod("db", OwnedBy("apps/v1", "ReplicaSet"));
  const std::string lines =
      "berth: warning: the input has no ReplicaSets, which PodTopologySpread reads for pod "
      "default/db; the answer may differ on the cluster\n"
      "berth: warning: the input has no Namespaces, which InterPodAffinity reads for pod "
      "default/web; the answer may differ on the cluster\n"
      "berth: warning: read them too: kubectl get nodes,pods,services,replicasets,namespaces -A "
      "-o json; if the cluster has none, use --complete\n";
  const std::string file = File("c.jsonl", cluster);
  const Outcome simulate = Run({"simulate", "--cluster", file});
  EXPECT_EQ(simulate.exit_status, 1);  // As without the lines: no pod is near "web".
  EXPECT_EQ(simulate.err, lines);
  EXPECT_EQ(Run({"simulate", "--cluster", file, "--complete"}).exit_status, 1);
}

TEST_F(MissingKindsCliTest, ExplainNamesWhatItsPodNeeds) {
  const std::string file =
      File("c.jsonl",
           kTwoNodes + Pod("web", "", NamespaceTerm("podAffinity", "db", kTeam)) + Pod("db", ""));
  const auto explain = [&](const std::string& pod, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"explain", "--cluster", file, "--pod", pod, "--output", "json"});
    return Run(more);
  };
  const Outcome web = explain("web");
  EXPECT_THAT(web.err, HasSubstr("the input has no Namespaces, which InterPodAffinity reads for "
                                 "pod default/web"));
  EXPECT_EQ(web.json()["missingKinds"],
            Json::parse(R"([{"kind": "v1/Namespace", "plugins": ["InterPodAffinity"],
                             "pod": "default/web"}])"));
  for (const Outcome& run : {explain("db"), explain("web", {"--complete"})}) {
    EXPECT_EQ(run.err, "");
    EXPECT_FALSE(run.json().contains("missingKinds"));
  }
}

TEST_F(MissingKindsCliTest, ReplayNamesWhatTheStreamLacks) {
  const std::string stream =
      Line("ADDED", NodeJson("a", "8", R"(,"uid":"u")")) +
      Line("ADDED", PodJson("web", "1", "", NamespaceTerm("podAffinity", "d", kTeam)));
  constexpr const char* kLine =
      "the input has no Namespaces, which InterPodAffinity reads for pod default/web";
  EXPECT_THAT(Play(stream).err, HasSubstr(kLine));
  EXPECT_THAT(Play(stream, {"--complete"}).err, Not(HasSubstr(kLine)));
  const std::string ns = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})";
  EXPECT_THAT(Play(stream + Line("ADDED", ns, "1s")).err, Not(HasSubstr(kLine)));
  EXPECT_THAT(Play(Line("ADDED", ns) + Line("DELETED", ns) + stream).err, Not(HasSubstr(kLine)));
}

// A plugin that watches a kind and never looks it up may have read anything.
TEST_F(MissingKindsCliTest, AWatchWithoutLookUpsCountsAsNeed) {
  const std::string profile =
      File("p.toml",
           "extends = \"default\"\n[[plugins]]\nname = \"test.Thrower\"\nlibrary = "
           "\"" BERTH_TEST_PLUGIN_DIR
           "/libtest_thrower.so\"\npoints = [\"Reserve\"]\nargs = {at = \"nothing\"}\n");
  const std::string cluster = kTwoNodes + Pod("web", "");
  EXPECT_THAT(MissingIn(cluster, {"--profile", profile}), ElementsAre("v1/Namespace test.Thrower"));
  EXPECT_THAT(MissingIn(cluster + Object("v1", "Namespace", "n"), {"--profile", profile}),
              IsEmpty());
  EXPECT_THAT(MissingIn(kTwoNodes, {"--profile", profile}), IsEmpty()) << "there is no decision";
}

// ---- The documented command ---------------------------------------------------------------------

// Returns the kinds that the plugins of the default profile declare, as `kubectl get` names them.
std::set<std::string> DefaultResources() {
  std::set<std::string> resources = {"nodes", "pods"};
  const auto set =
      LoadProfiles({.profiles = {BERTH_SOURCE_DIR "/profiles/default.toml"},
                    .plugin_directories = {BERTH_BINARY_DIR "/plugins"},
                    .executable = {},
                    .libraries = MakeLibraryStore(::testing::TempDir(), [] {
                      return std::chrono::steady_clock::now().time_since_epoch().count();
                    })});
  EXPECT_TRUE(set.ok()) << set.status().ToString();
  if (!set.ok()) return resources;
  const KindUsers users(set->plugins->catalog(), set->specs);
  for (const std::string& kind : users.declared()) {
    resources.insert(KubectlResource(kind));
  }
  return resources;
}

// Returns the resources of each `kubectl get nodes,pods,...` in a text, with their long names.
std::vector<std::set<std::string>> DocumentedResources(const std::string& text) {
  const std::map<std::string, std::string> long_names = {
      {"ns", "namespaces"},     {"svc", "services"},
      {"rs", "replicasets"},    {"rc", "replicationcontrollers"},
      {"sts", "statefulsets"},  {"pvc", "persistentvolumeclaims"},
      {"sc", "storageclasses"}, {"pv", "persistentvolumes"}};
  constexpr std::string_view kBegin = "kubectl get nodes,pods";
  std::vector<std::set<std::string>> all;
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at + 1)) {
    const size_t begin = at + std::string_view("kubectl get ").size();
    std::istringstream names(text.substr(begin, text.find_first_of(" \n`", begin) - begin));
    std::set<std::string>& resources = all.emplace_back();
    for (std::string name; std::getline(names, name, ',');) {
      const auto found = long_names.find(name);
      resources.insert(found != long_names.end() ? found->second : name);
    }
  }
  return all;
}

TEST(DocumentedCommandTest, ReadsAllKindsOfTheDefaultProfile) {
  const std::set<std::string> expected = DefaultResources();
  EXPECT_GT(expected.size(), 10U);
  for (const char* page :
       {"README.md", "sdk/README.md", "host/docs/missing_kinds.md", "host/cli/help/simulate.txt",
        "host/cli/help/explain.txt", "host/cli/help/replay.txt", "host/cli/help/berth.txt",
        "host/cli/help/plugin_check.txt"}) {
    const auto found = DocumentedResources(ReadAll(std::string(BERTH_SOURCE_DIR "/") + page));
    EXPECT_FALSE(found.empty()) << page;
    for (const std::set<std::string>& resources : found) EXPECT_EQ(resources, expected) << page;
  }
}

}  // namespace
}  // namespace berth::host
