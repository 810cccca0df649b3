// Tests that `berth plugin check` reports every violation under the name of its check.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/contract/isolated_check.h"
#include "host/process/assemble/profile_set.h"
#include "tests/harness/json_page.h"
#include "tests/plugin_check/broken_table.h"
#include "tests/plugin_check/run_check.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BrokenPluginTest : public ::testing::TestWithParam<BrokenVariant> {};

TEST_P(BrokenPluginTest, IsReported) {
  const BrokenVariant& c = GetParam();
#ifdef __SANITIZE_ADDRESS__
  // With AddressSanitizer, the check `leaks` does not measure memory: the sanitizer reports leaks.
  const std::string text = c.text;
  const bool is_counted = text.ends_with(" more after ");
  if (std::string(c.promise) == "leaks" && !is_counted) GTEST_SKIP();
#endif
  std::vector<std::string> args = {"plugin", "check", Broken(c.library), "--output", "json"};
  const Outcome outcome = RunBerth(args);
  EXPECT_EQ(outcome.exit_status, kExitNotAllScheduled) << outcome.err;
  const Json report = Json::parse(outcome.out);
  EXPECT_FALSE(report["kept"]);
  EXPECT_THAT(Findings(report),
              Contains(AllOf(HasSubstr(std::string(c.promise) + ": "), HasSubstr(c.text))));
}

INSTANTIATE_TEST_SUITE_P(PluginCheckTest, BrokenPluginTest, ::testing::ValuesIn(kBroken),
                         [](const auto& info) { return std::string(info.param.library); });

// Returns the ids of the services in the lock of the layout.
std::set<std::string> ServicesOfTheLock() {
  std::ifstream lock(BERTH_SOURCE_DIR "/sdk/abi/abi.lock");
  std::set<std::string> services;
  for (std::string line; std::getline(lock, line);) {
    const size_t equals = line.find(" = ");
    if (line.starts_with("string BERTH_SERVICE_")) services.insert(line.substr(equals + 3));
  }
  return services;
}

TEST(PluginCheckTest, EveryServiceHasABrokenPlugin) {
  std::set<std::string> broken;
  for (const BrokenVariant& variant : kBroken) {
    if (*variant.service != '\0') broken.insert(variant.service);
  }
  for (const auto& [service, why] : kWithoutMisuse) {
    EXPECT_TRUE(broken.insert(service).second) << service << " has a variant";
    EXPECT_THAT(why, Not(::testing::StrEq("")));
  }
  const std::set<std::string> services = ServicesOfTheLock();
  EXPECT_GT(services.size(), 10u);
  EXPECT_EQ(broken, services)
      << "A service needs a variant of broken.c that misuses it, or an exception with its reason.";
}

TEST(PluginCheckTest, FindsReferencesToDeletedObjects) {
  const std::string cluster = ::testing::TempDir() + "berth_objects_" + std::to_string(getpid());
  std::ofstream(cluster) << R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"status":)"
                         << R"({"allocatable":{"cpu":"1","pods":"9"}}})"
                         << R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":)"
                         << R"({"containers":[{"name":"c"}]}})"
                         << R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"web"}})";
  const Outcome outcome = RunBerth(
      {"plugin", "check", Broken("leaks_of_objects"), "--cluster", cluster, "--output", "json"});
  EXPECT_EQ(outcome.exit_status, kExitNotAllScheduled) << outcome.err;
  EXPECT_THAT(Findings(Json::parse(outcome.out)),
              ElementsAre(AllOf(HasSubstr("leaks: holds "), HasSubstr(" references more after "),
                                HasSubstr(" objects came and went"))));
  std::filesystem::remove(cluster);
}

TEST(PluginCheckTest, AppliesTheDeadlineOfAProfile) {
  const auto check = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"plugin", "check", Broken("deadlines_once")};
    args.insert(args.end(), more.begin(), more.end());
    return RunBerth(args);
  };
  for (const char* deadline : {"10m", "test.Broken=10m"}) {
    const Outcome outcome = check({"--deadline", deadline});
    EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.out << outcome.err;
  }
  EXPECT_EQ(check({}).exit_status, kExitNotAllScheduled);
  const Outcome late = check({"--deadline", "1.05s"});
  EXPECT_EQ(late.exit_status, kExitNotAllScheduled) << late.err;
  EXPECT_THAT(late.out, HasSubstr("; the deadline of the plugin is 1.1 s"));
  EXPECT_THAT(check({"--help"}).out,
              AllOf(HasSubstr("--deadline [NAME=]DURATION"), HasSubstr("as `deadline` in its")));
}

TEST(PluginCheckTest, ReportsAConstructorThatDoesNotReturn) {
  const int64_t begin_ns = SteadyNs();
  const auto hurried = [begin_ns] { return begin_ns + (SteadyNs() - begin_ns) * 20; };
  const Outcome outcome =
      RunBerth({"plugin", "check", Broken("loading_for_ever"), "--output", "json"}, hurried);
  EXPECT_EQ(outcome.exit_status, kExitNotAllScheduled) << outcome.err;
  EXPECT_THAT(Findings(Json::parse(outcome.out)),
              ElementsAre(AllOf(HasSubstr("deadlines: a static constructor has not returned after"),
                                HasSubstr("the deadline of the check is 10.0 s"))));
}

TEST(PluginCheckTest, DescribesAnUnloadableLibraryByItsNote) {
  const Outcome json = RunBerth({"plugin", "check", Broken("loading"), "--output", "json"});
  const Json report = Json::parse(json.out);
  ASSERT_EQ(report["plugins"].size(), 1u);
  EXPECT_EQ(report["plugins"][0]["name"], "test.Broken");
  EXPECT_EQ(report["plugins"][0]["points"].size(), 4u);
  EXPECT_EQ(report["plugins"][0]["kept"], nullptr);
  const Outcome table = RunBerth({"plugin", "check", Broken("loading")});
  EXPECT_EQ(table.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(
      table.out,
      AllOf(
          HasSubstr(
              "The library was not loaded:\n  SIGABRT in a static constructor ends the process\n"),
          HasSubstr("test.Broken 1.0.0 was not checked (PreFilter, Filter, ")));
}

TEST(PluginCheckTest, TheReportHasTheFieldsOfThePage) {
  auto page = testing::JsonPage::Open("berth plugin check");
  const auto compare = [&page](const std::vector<std::string>& args) {
    std::vector<std::string> command = {"plugin", "check", "--output", "json"};
    command.insert(command.end(), args.begin(), args.end());
    EXPECT_THAT(page.Compare(Json::parse(RunBerth(command).out)), IsEmpty()) << args.front();
  };
  for (const char* library : {"nothing", "codes", "survival", "exports", "loading"}) {
    compare({Broken(library)});
  }
  compare({Broken("nothing"), "--cluster", BERTH_SOURCE_DIR "/examples/clusters/small.yaml"});
  EXPECT_THAT(page.Unseen(), IsEmpty());
}

TEST(PluginCheckTest, ReducesTheEffortForSlowPlugins) {
  const auto store = MakeLibraryStore(::testing::TempDir(), SteadyNs);
  const auto source = store->Prepare(Broken("nothing"), {});
  ASSERT_TRUE(source.ok());
  const auto asked = [&source](ContractBudget budget) {
    const auto outcome = CheckContractIsolated(
        *source, {.plugin = "test.Broken", .args = "", .budget = budget}, SteadyNs);
    EXPECT_TRUE(outcome.ok());
    EXPECT_THAT(outcome->findings, IsEmpty());
    return outcome->coverage.value_or(ContractCoverage());
  };
  const ContractCoverage least = asked({.pods_ns = 0, .instances_ns = 0});
  EXPECT_EQ(least.pods, kMinPods);
  EXPECT_EQ(least.instances, kMinInstances);
  const ContractCoverage most = asked({.pods_ns = INT64_MAX, .instances_ns = INT64_MAX});
  EXPECT_GT(most.pods, kMinPods);
  EXPECT_EQ(most.pods, most.pods_of);
  EXPECT_EQ(most.instances, kMaxInstances);
}

TEST(PluginCheckTest, DoesNotDecideAboutLeaksTooEarly) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "A sanitizer replaces the heap.";
#endif
  const auto store = MakeLibraryStore(::testing::TempDir(), SteadyNs);
  const auto source = store->Prepare(Broken("nothing_with_a_cache"), {});
  ASSERT_TRUE(source.ok());
  const auto outcome =
      CheckContractIsolated(*source,
                            {.plugin = "test.Broken",
                             .args = "",
                             .budget = {.pods_ns = 0, .instances_ns = 0, .memory_ns = 0}},
                            SteadyNs);
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->findings, IsEmpty());
  ASSERT_TRUE(outcome->coverage.has_value());
  std::string text;
  for (const ContractGap& gap : outcome->coverage->gaps) {
    if (gap.promise == "leaks") text += gap.text;
  }
  EXPECT_THAT(text, HasSubstr("The time of the check was enough for 128 calls of Filter; a leak is "
                              "distinguished from a cache by 4096 calls."));
}

TEST(PluginCheckTest, PassesArgumentsToEachPlugin) {
  const auto check = [](std::vector<std::string> args) {
    args.insert(args.begin(), {"plugin", "check", Broken("args_of_two"), "--output", "json"});
    return RunBerth(args);
  };
  const Outcome right = check({"--args", R"(test.Other={"a": "b=c"})"});
  EXPECT_EQ(right.exit_status, kExitDone) << right.out << right.err;
  EXPECT_EQ(Json::parse(right.out)["plugins"].size(), 2u);
  const struct {
    std::vector<std::string> args;
    const char* text;
  } wrong[] = {
      {{"--args", "{}"},
       "--args: the library has 2 plugins (test.Broken, test.Other); name the plugin that it "
       "is for: --args 'test.Broken={\"key\": value}'"},
      {{"--args", "test.Othr={}"},
       "--args: expected a plugin of the library (test.Broken, test.Other), found test.Othr; did "
       "you "
       "mean test.Other?"},
      {{"--args", "test.Other={}", "--args", "test.Other={}"},
       "--args: expected one value for each plugin, found two for test.Other"},
      {{"--args", "test.Other=1"},
       "--args: expected a JSON object such as {\"cpuMilli\": 200}, found 1"},
      {{}, "test.Other: create answers BadArgument"},
      {{"--args", "test.Other={}", "--args", "test.Broken={}"},
       "--args 'test.Broken={\"key\": value}'"},
  };
  for (const auto& c : wrong) {
    SCOPED_TRACE(c.text);
    const Outcome outcome = check(c.args);
    EXPECT_EQ(outcome.exit_status, kExitBadInput);
    EXPECT_THAT(outcome.err, HasSubstr(c.text));
  }
  const Outcome neither = check({"--args", "test.Broken={}"});
  EXPECT_EQ(neither.exit_status, kExitBadInput);
  EXPECT_EQ(neither.out, "");
  EXPECT_THAT(neither.err, AllOf(HasSubstr("test.Broken: create answers BadArgument"),
                                 HasSubstr("--args 'test.Broken={"),
                                 HasSubstr("test.Other: create answers BadArgument"),
                                 HasSubstr("--args 'test.Other={")));
  const Outcome only = RunBerth({"plugin", "check", Broken("nothing"), "--args", "test.Broken={}"});
  EXPECT_EQ(only.exit_status, kExitDone) << only.err;
}

TEST(PluginCheckTest, ChecksOtherPluginsWhenOneIsNotCreated) {
  const struct {
    const char* library;
    Json kept;
    const char* verdict;
  } cases[] = {
      {"args_of_two", nullptr, "test.Other 1.0.0 keeps the contract as far as it was seen"},
      {"codes_of_two", false, "test.Other 1.0.0 BREAKS the contract"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.library);
    std::vector<std::string> args = {"plugin",        "check",  Broken(c.library), "--args",
                                     "test.Other={}", "--args", "test.Broken={}"};
    const Outcome table = RunBerth(args);
    EXPECT_EQ(table.exit_status, kExitBadInput);
    EXPECT_THAT(table.out, AllOf(HasSubstr("test.Broken 1.0.0 was not checked (PreFilter, "),
                                 HasSubstr(c.verdict)));
    EXPECT_THAT(table.err, AllOf(HasSubstr("test.Broken: create answers BadArgument"),
                                 Not(HasSubstr("test.Other"))));
    args.insert(args.end(), {"--output", "json"});
    const Outcome json = RunBerth(args);
    EXPECT_EQ(json.exit_status, kExitBadInput);
    const Json report = Json::parse(json.out);
    EXPECT_EQ(report["kept"], c.kept);
    EXPECT_EQ(report["plugins"][0]["kept"], nullptr);
    EXPECT_EQ(report["plugins"][1]["kept"], c.kept == nullptr);
  }
}

TEST(PluginCheckTest, ReportsNothingForCorrectPlugins) {
  std::vector<std::string> libraries = {Broken("nothing"),
                                        Broken("nothing_with_a_cache"),
                                        Broken("nothing_with_a_thread"),
                                        Broken("nothing_with_a_pool"),
                                        Broken("nothing_with_an_index"),
                                        Broken("nothing_after_unreserve"),
                                        Broken("nothing_after_post_bind"),
                                        Broken("nothing_is_released"),
                                        Broken("nothing_with_requests"),
                                        Broken("nothing_with_a_sign"),
                                        Broken("nothing_with_a_runtime"),
                                        Broken("nothing_left_open"),
                                        Broken("nothing_with_lanes")};
  for (const auto& file : std::filesystem::directory_iterator(BERTH_PLUGINS)) {
    if (file.path().extension() == ".so") libraries.push_back(file.path().string());
  }
  EXPECT_GT(libraries.size(), 20u);
  for (const std::string& library : libraries) {
    SCOPED_TRACE(library);
    const Outcome outcome = RunBerth({"plugin", "check", library, "--output", "json"});
    EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.err;
    EXPECT_THAT(Findings(Json::parse(outcome.out)), IsEmpty());
  }
}

TEST(PluginCheckTest, IgnoresChildProcessesAndOutputOfThePlugin) {
  const std::string release = ::testing::TempDir() + "berth_release_" + std::to_string(getpid());
  setenv("BERTH_TEST_RELEASE", release.c_str(), 1);
  ::testing::internal::CaptureStdout();
  const Outcome outcome = RunBerth({"plugin", "check", Broken("silence"), "--output", "json"});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  std::ofstream(release).flush();
  unsetenv("BERTH_TEST_RELEASE");
  EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.out << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(release + ".late"))
      << "the check waited for the plugin's process";
  std::filesystem::remove(release + ".late");
}

TEST(PluginCheckTest, EveryCheckHasABrokenPlugin) {
  const Json report =
      Json::parse(RunBerth({"plugin", "check", Broken("nothing"), "--output", "json"}).out);
  std::set<std::string> promised;
  for (const Json& promise : report["plugins"][0]["promises"]) promised.insert(promise["name"]);
  std::set<std::string> broken;
  for (const BrokenVariant& variant : kBroken) broken.insert(variant.promise);
  EXPECT_EQ(promised, broken);
}

TEST(PluginCheckTest, PrintsATable) {
  // The budgets of the check do not end on this clock.
  const int64_t begin_ns = SteadyNs();
  const auto slow = [begin_ns] { return begin_ns + (SteadyNs() - begin_ns) / 1000; };
  const Outcome good = RunBerth({"plugin", "check", Broken("nothing")}, slow);
  EXPECT_THAT(
      good.out,
      AllOf(HasSubstr("test.Broken 1.0.0 keeps the contract as far as it was seen (PreFilter, "
                      "Filter, Score, EnqueueExtensions)"),
            HasSubstr("outputs       yes        The plugin returns a result for every selected "),
            HasSubstr("whatif        not seen   AddPod and RemovePod"),
            HasSubstr("\nNot seen:\n  threads: The plugin called no service"),
            HasSubstr("\n  whatif: The plugin registers no AddPod, and no pod that was added "),
            HasSubstr("\nChecked with 6 of 6 pods; 1000 instances were created and "
                      "destroyed one after the other.\n")));
  const Outcome bad = RunBerth({"plugin", "check", Broken("codes")});
  EXPECT_EQ(bad.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("test.Broken 1.0.0 BREAKS the contract"),
                             HasSubstr("codes         NO "), HasSubstr("Violations:\n  codes: "),
                             HasSubstr("has no reason")));
  EXPECT_THAT(bad.out, HasSubstr("\nChecked with "));
  const Outcome refused = RunBerth({"plugin", "check", Broken("exports")});
  EXPECT_EQ(refused.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(refused.out, HasSubstr("The library was not loaded:\n"));
}

TEST(PluginCheckTest, ReportsChecksThatDidNotRunAsUnknown) {
  const struct {
    const char* library;
    const char* broken;
    const char* text;
  } cases[] = {
      {"create_by_bug", "faults", "create answers Bug"},
      {"create_by_code", "codes", "create answers Skip"},
      {"host", "host", "[bad-slot]"},
      {"survival", "survives", "SIGSEGV in Filter"},
      {"survival_by_exit", "survives", "exit(3) in Filter"},
      {"deadlines", "deadlines", "; the deadline of the host is 1.0 s"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.library);
    const Outcome json = RunBerth({"plugin", "check", Broken(c.library), "--output", "json"});
    const Json report = Json::parse(json.out);
    const Json& plugin = report["plugins"][0];
    EXPECT_EQ(plugin["asked"], nullptr);
    EXPECT_THAT(Findings(report), ElementsAre(HasSubstr(c.text)));
    for (const Json& promise : plugin["promises"]) {
      const std::string name = promise["name"];
      const bool is_created = name != c.broken && !std::string(c.library).starts_with("create");
      const bool is_known = name == "library" || (name == "host" && is_created);
      const Json kept = is_known ? Json(true) : name == c.broken ? Json(false) : Json();
      EXPECT_EQ(promise["kept"], kept) << name;
    }
  }
  for (const auto& c : {cases[0], cases[3]}) {
    SCOPED_TRACE(c.library);
    const Outcome table = RunBerth({"plugin", "check", Broken(c.library)});
    EXPECT_EQ(table.exit_status, kExitNotAllScheduled);
    const auto row = [](std::string name, const std::string& kept) {
      name.resize(std::string("concurrency").size() + 3, ' ');
      return HasSubstr(name.insert(0, 1, '\n').append(kept));
    };
    EXPECT_THAT(table.out, AllOf(row("library", "yes "), row(c.broken, "NO "), row("outputs", "- "),
                                 row("leaks", "- ")));
    EXPECT_THAT(table.out,
                AllOf(HasSubstr("\nThe check ended early: the rows marked - were not checked.\n"),
                      Not(HasSubstr("Checked with"))));
  }
}

TEST(PluginCheckTest, RejectsBadInput) {
  const struct {
    const char* name;
    std::vector<std::string> args;
    const char* text;
  } cases[] = {
      {"no such file", {Broken("absent")}, "libabsent.so"},
      {"arguments that are not an object",
       {Broken("nothing"), "--args", "[1]"},
       "--args: expected"},
      {"arguments that are not JSON", {Broken("nothing"), "--args", "{"}, "--args: expected"},
      {"a plugin that requires arguments",
       {Broken("create")},
       "test.Broken: create answers BadArgument\nberth: use --args to set arguments that the "
       "plugin accepts: --args "
       "'{\"key\": value}'"},
      {"arguments that the schema of the plugin forbids",
       {Broken("args_by_schema"), "--args", R"({"cpu": "x", "gpu": "y"})"},
       "args.cpu: expected a whole number, found \"x\"; args.gpu: expected a whole number, found "
       "\"y\" [bad-arguments]\nberth: use --args to set"},
      {"a deadline that is no duration",
       {Broken("nothing"), "--deadline", "5"},
       "--deadline: expected a duration of more than 0, such as 5s or 1m30s, found 5"},
      {"a deadline of nothing",
       {Broken("nothing"), "--deadline", "test.Broken=0s"},
       "--deadline: expected a duration of more than 0, such as 5s or 1m30s, found 0s"},
      {"a deadline of another plugin",
       {Broken("nothing"), "--deadline", "test.Broke=5s"},
       "--deadline: expected a plugin of the library (test.Broken), found test.Broke"},
      {"two deadlines of a plugin",
       {Broken("nothing"), "--deadline", "5s", "--deadline", "test.Broken=6s"},
       "--deadline: expected one value for each plugin, found two for test.Broken"},
      {"a deadline of one of two plugins",
       {Broken("args_of_two"), "--deadline", "5s"},
       "; name the plugin that it is for: --deadline 'test.Broken=5s'"},
      {"a cluster that does not exist",
       {Broken("nothing"), "--cluster", "absent.yaml"},
       "absent.yaml: No such file or directory"},
      {"a cluster that is no cluster",
       {Broken("nothing"), "--cluster", BERTH_EXAMPLES "/quickstart.sh"},
       "quickstart.sh:"},
      {"standard input twice",
       {Broken("nothing"), "--cluster", "-", "--cluster", "-"},
       "plugin check: expected - for one input"},
      {"a plugin whose create fails", {Broken("create_by_error")}, "create answers Error"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> args = {"plugin", "check"};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const Outcome outcome = RunBerth(args);
    EXPECT_EQ(outcome.exit_status, kExitBadInput);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(c.text));
  }
  const Outcome lacks = RunBerth({"plugin", "check", Broken("create_by_error")});
  EXPECT_THAT(lacks.err, Not(HasSubstr("--args")));
}

}  // namespace
}  // namespace berth::host
