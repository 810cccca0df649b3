// Tests what `berth plugin check` answers when it has nothing to observe, and with a given cluster.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin_check/run_check.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(PluginCheckTest, ChecksWithTheClusterOfFiles) {
  const std::string small = std::string(BERTH_EXAMPLES) + "/clusters/small.yaml";
  const Outcome json =
      RunBerth({"plugin", "check", Broken("nothing"), "--cluster", small, "--output", "json"});
  EXPECT_EQ(json.exit_status, kExitDone) << json.out << json.err;
  const Json plugin = Json::parse(json.out)["plugins"][0];
  EXPECT_EQ(plugin["asked"]["nodes"], 5);
  EXPECT_EQ(plugin["asked"]["nodesOf"], 5);
  const Outcome table = RunBerth({"plugin", "check", Broken("nothing"), "--cluster", small});
  EXPECT_THAT(table.out, HasSubstr(" selected pods, on 5 of the 5 nodes of the cluster; "));
  const Outcome broken =
      RunBerth({"plugin", "check", Broken("codes"), "--cluster", small, "--output", "json"});
  EXPECT_EQ(broken.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(Findings(Json::parse(broken.out)),
              Contains(AllOf(HasSubstr("default/database"), HasSubstr("has no reason"))));
  const Json made = Json::parse(
      RunBerth({"plugin", "check", Broken("nothing"), "--output", "json"}).out)["plugins"][0];
  EXPECT_FALSE(made["asked"].contains("nodesOf"));
}

// Returns the names of the checks with this answer.
std::set<std::string> ChecksWith(const std::string& answer, const Json& plugin) {
  std::set<std::string> names;
  for (const Json& promise : plugin["promises"]) {
    if (promise["answer"] == answer) names.insert(promise["name"]);
  }
  return names;
}

#ifdef __SANITIZE_ADDRESS__
constexpr const char* kPreBindNotMeasured = "A sanitizer replaces the heap";
#else
constexpr const char* kPreBindNotMeasured = "PreBind was not measured, because it completes later.";
#endif

// Two nodes without labels, and a pod.
constexpr const char* kBareCluster =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"status":)"
    R"({"allocatable":{"cpu":"1","pods":"9"}}})"
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"b"},"status":)"
    R"({"allocatable":{"cpu":"8","pods":"9"}}})"
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":)"
    R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";

TEST(PluginCheckTest, AnswersNotSeenWhereNothingWasObserved) {
  const std::string bare = ::testing::TempDir() + "berth_bare_" + std::to_string(getpid());
  std::ofstream(bare) << kBareCluster;
  const struct {
    const char* name;
    std::vector<std::string> args;
    std::set<std::string> unseen;
    const char* needed;
  } cases[] = {
      {"a plugin without AddPod and services",
       {Broken("nothing")},
       {"threads", "whatif"},
       "AddPod"},
      {"a Filter that is called once for all nodes",
       {Broken("nothing_as_a_whole")},
       {"threads", "whatif", "blocks", "concurrency"},
       "Filter is called once for all nodes"},
      {"a plugin that accepts everything",
       {Broken("nothing_is_rejected")},
       {"threads", "codes", "blocks", "concurrency", "whatif", "dependence"},
       "Filter returned the same result for every node"},
      {"a plugin that skips every pod",
       {Broken("nothing_is_reached")},
       {"threads", "outputs", "codes", "blocks", "concurrency", "repeat", "whatif", "dependence",
        "slots", "leaks", "faults", "deadlines", "survives"},
       "Filter was never called"},
      {"a column that no node has",
       {Broken("whatif_at_run_time"), "--cluster", bare},
       {"blocks", "whatif", "dependence", "hints"},
       "No node has a value in the column label:test.example/rack"},
      {"only QueueSort",
       {std::string(BERTH_PLUGINS) + "/libpriority_sort.so"},
       {"threads", "outputs", "codes", "blocks", "concurrency", "whatif", "dependence", "hints",
        "slots"},
       "needs a plugin with Filter"},
      {"a Bind that the API server completes",
       {std::string(BERTH_PLUGINS) + "/libdefault_binder.so"},
       {"threads", "outputs", "blocks", "concurrency", "repeat", "whatif", "dependence", "hints",
        "slots"},
       "needs a plugin with Filter"},
      {"a PreBind that completes later",
       {Broken("nothing_is_completed")},
       {"threads", "whatif", "leaks"},
       kPreBindNotMeasured},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> args = {"plugin", "check", "--output", "json"};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const Outcome outcome = RunBerth(args);
    EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.out << outcome.err;
    const Json plugin = Json::parse(outcome.out)["plugins"][0];
    std::set<std::string> unseen = ChecksWith("not seen", plugin);
#ifdef __SANITIZE_ADDRESS__
    if (!c.unseen.contains("leaks")) unseen.erase("leaks");
#endif
    EXPECT_EQ(unseen, c.unseen);
    std::string needed;
    for (const Json& promise : plugin["promises"]) {
      if (promise["answer"] != "not seen") continue;
      EXPECT_EQ(promise["kept"], nullptr);
      needed += promise["needed"].get<std::string>() + "\n";
    }
    EXPECT_THAT(needed, HasSubstr(c.needed));
  }
  std::filesystem::remove(bare);
}

}  // namespace
}  // namespace berth::host
