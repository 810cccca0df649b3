// Compares the JSON output of every command with host/cli/json_output.md.
#include <sstream>
#include <string>
#include <vector>

#include "host/cli/output.h"
#include "host/process/shadow/shadow_run.h"
#include "tests/harness/json_page.h"
#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::IsEmpty;
using testing::JsonPage;

class JsonOutputTest : public CliTest {
 protected:
  // Runs the command and compares its document with the section of the page.
  void ExpectOnPage(JsonPage& page, std::vector<std::string> args, const std::string& input = "") {
    args.insert(args.end(), {"--output", "json"});
    const Outcome run = Run(args, input);
    const Json document = Json::parse(run.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << run.out << run.err;
    EXPECT_THAT(page.Compare(document), IsEmpty()) << run.out;
  }
  void ExpectExplanation(JsonPage& page, const std::string& cluster,
                         const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"explain", "--cluster", "-", "--pod", "web"};
    args.insert(args.end(), more.begin(), more.end());
    ExpectOnPage(page, std::move(args), kNodes + cluster);
  }
  // Returns a profile file with one more plugin.
  std::string ProfileWith(const std::string& plugin) {
    return File("p.toml", "extends = \"default\"\n[[plugins]]\n" + plugin);
  }
};

std::string WithMetadata(const std::string& pod, const std::string& field) {
  std::string changed = pod;
  return changed.replace(changed.find("{name: web"), 10, "{name: web, " + field);
}

// Returns the pod as one of a ReplicaSet, which is not in the input.
// The pod comes from a cluster, of which there is also a node.
std::string OfReplicaSet(const std::string& pod) {
  return WithMetadata(pod,
                      "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, "
                      "controller: true}]") +
         "---\napiVersion: v1\nkind: Node\nmetadata: {name: dumped, uid: u}\n";
}

TEST_F(JsonOutputTest, OfSimulate) {
  JsonPage page = JsonPage::Open("berth simulate");
  ExpectOnPage(page, {"simulate", "--cluster", "-"},
               kNodes + PodOf("huge", "16") + PodOf("web", "1"));
  ExpectOnPage(page, {"simulate", "--cluster", "-"}, kNodes);
  const std::string waits =
      ProfileWith("name = \"acme.Waiter\"\nlibrary = \"" BERTH_WAITER
                  "\"\n[[plugins]]\n"
                  "name = \"acme.Later\"\nlibrary = \"" BERTH_TEST_PLUGIN_DIR
                  "/libtest_later.so\"\npoints = [\"PreEnqueue\"]\n"
                  "args = {everyMs = 10000, hangs = true, rejects = false}\n");
  ExpectOnPage(page, {"simulate", "--cluster", "-", "--profile", waits, "--max-thread-wait", "1us"},
               kNodes + PodOf("web", "1") + PodOf("db", "1"));
  ExpectOnPage(page, {"simulate", "--cluster", "-"}, kNodes + OfReplicaSet(PodOf("web", "1")));
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfReplay) {
  JsonPage page = JsonPage::Open("berth replay");
  const Outcome run = Run({"replay", "--cluster", "-", "--output", "json"},
                          kNodes + PodOf("huge", "16") + PodOf("large", "4"));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(page.Compare(Json::parse(line)), IsEmpty()) << line;
  }
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfShadow) {
  JsonPage page = JsonPage::Open("berth shadow");
  std::ostringstream out;
  ShadowPrinter printer(out, {.format = OutputFormat::kJson});
  EXPECT_TRUE(printer.Print({.time_ns = 1,
                             .pod = "default/web",
                             .theirs = "a",
                             .ours = "b",
                             .verdict = ShadowVerdict::kTie,
                             .their_total = 1,
                             .our_total = 1,
                             .why = "both 1"}));
  EXPECT_TRUE(printer.PrintTotals({}));
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(page.Compare(Json::parse(line)), IsEmpty()) << line;
  }
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfExplain) {
  JsonPage page = JsonPage::Open("berth explain");
  ExpectExplanation(page, PodOf("web", "1"));
  ExpectExplanation(page, PodOf("web", "16"));
  ExpectExplanation(page, OfReplicaSet(PodOf("web", "1")));
  ExpectExplanation(page, PodOf("web", "1", "  schedulerName: another\n"));
  ExpectExplanation(page, PodOf("web", "1", "  schedulingGates: [{name: hold}]\n"));
  ExpectExplanation(page, PodOf("web", "1") + "status: {nominatedNodeName: a}\n");
  ExpectExplanation(page,
                    WithMetadata(PodOf("web", "1"), "deletionTimestamp: '2026-01-01T00:00:00Z'"));
  // No node has both names, which PreFilter detects.
  ExpectExplanation(page, PodOf("web", "1",
                                "  affinity: {nodeAffinity: "
                                "{requiredDuringSchedulingIgnoredDuringExecution: "
                                "{nodeSelectorTerms: [{matchFields: ["
                                "{key: metadata.name, operator: In, values: [a]}, "
                                "{key: metadata.name, operator: In, values: [b]}]}]}}}\n"));
  ExpectExplanation(
      page, PodOf("web", "1"),
      {"--profile", ProfileWith("name = \"acme.Waiter\"\nlibrary = \"" BERTH_WAITER "\"\n")});
  ExpectExplanation(
      page, PodOf("web", "1"),
      {"--profile",
       ProfileWith("name = \"test.Thrower\"\nlibrary = \"" BERTH_TEST_PLUGIN_DIR
                   "/libtest_thrower.so\"\npoints = [\"Reserve\"]\nargs = {at = \"Reserve\"}\n")});
  ExpectExplanation(
      page, PodOf("web", "1"),
      {"--profile", ProfileWith("name = \"acme.Later\"\nlibrary = \"" BERTH_TEST_PLUGIN_DIR
                                "/libtest_later.so\"\npoints = [\"PreFilter\", \"Score\"]\n"
                                "args = {awaits = true}\n")});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfDoctor) {
  JsonPage page = JsonPage::Open("berth doctor");
  ExpectOnPage(page, {"doctor", "--profile", File("broken.toml", "unknown = 1\n")});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfPluginList) {
  JsonPage page = JsonPage::Open("berth plugin list");
  ExpectOnPage(page, {"plugin", "list"});
  File("libcut.so", "no library");
  File("ignored.so", "");
  ExpectOnPage(page, {"plugin", "list", "--plugin-dir", folder_});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfPluginDescribe) {
  JsonPage page = JsonPage::Open("berth plugin describe");
  ExpectOnPage(page, {"plugin", "describe", "NodeResourcesFit"});
  ExpectOnPage(page, {"plugin", "describe", BERTH_TEST_PLUGIN_DIR "/libtest_gang.so"});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST_F(JsonOutputTest, OfProfileShow) {
  JsonPage page = JsonPage::Open("berth profile show");
  ExpectOnPage(page, {"profile", "show", "default", "binpack"});
  const std::string digest =
      Run({"plugin", "describe", BERTH_WAITER, "--output", "json"}).json()["sha256"];
  ExpectOnPage(
      page,
      {"profile", "show",
       ProfileWith("name = \"acme.Waiter\"\npoints = [\"Permit\"]\ndeadline = \"2s\"\nlibrary = "
                   "\"" BERTH_WAITER "\"\nsha256 = \"" +
                   digest + "\"\n")});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

// ---- The comparison itself ----------------------------------------------------------------------

TEST(JsonPageTest, ReportsWhatThePageLacks) {
  constexpr const char* kPage =
      "## a\n"
      "| field | type | meaning |\n"
      "|---|---|---|\n"
      "| `name` | string | |\n"
      "| `counts` | list of integer | |\n"
      "| `nodes` | object | |\n"
      "| `nodes.<node>` | object | |\n"
      "| `nodes.<node>.score` | number or null | |\n"
      "| `points` | list | |\n"
      "| `points[].id` | string | |\n"
      "| `args` | free form | |\n"
      "## b\n"
      "| `other` | string | |\n";
  const struct {
    const char* name;
    const char* document;
    std::vector<std::string> findings;
  } cases[] = {
      {"nothing", "{}", {}},
      {"every field",
       R"({"name": "x", "counts": [1], "nodes": {"n.1": {"score": 1.5}, "n2": {"score": null}},
           "points": [{"id": "i"}], "args": {"any": [{}]}})",
       {}},
      {"a field of another section", R"({"other": "x"})", {"the page has no row for other"}},
      {"a field below a name",
       R"({"nodes": {"n": {"rank": 1}}})",
       {"the page has no row for nodes.n.rank"}},
      {"a field of an element",
       R"({"points": [{"x": 1}]})",
       {"the page has no row for points[].x"}},
      {"another type", R"({"name": 1})", {"name: expected string, found 1"}},
      {"another type of an element",
       R"({"counts": [1, "2"]})",
       {R"(counts: expected list of integer, found [1,"2"])"}},
      {"neither of two types",
       R"({"nodes": {"n": {"score": "1"}}})",
       {R"(nodes.<node>.score: expected number or null, found "1")"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    JsonPage page(kPage, "a");
    EXPECT_EQ(page.Compare(Json::parse(c.document)), c.findings);
  }
  JsonPage page(kPage, "b");
  EXPECT_EQ(page.Unseen(), std::vector<std::string>{"other"});
  page.Compare({{"other", "x"}});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
