// `berth plugin check`: every broken promise is found, and called by its name.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/cli/command.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

struct Outcome {
  int exit_status = -1;
  std::string out;
  std::string err;
};

Outcome RunBerth(const std::vector<std::string>& args) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  CommandEnvironment env{
      .in = in,
      .out = out,
      .err = err,
      .executable = "",
      .temporary_directory = ::testing::TempDir(),
      .steady_ns =
          [] {
            return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch())
                .count();
          },
      .wall_ns = [] { return int64_t{0}; },
      .out_width = {}};
  const int exit_status = RunCommand(args, env);
  return {exit_status, out.str(), err.str()};
}

std::string Broken(const std::string& name) {
  return std::string(BERTH_BROKEN) + "/lib" + name + ".so";
}

// "promise: text" of every finding.
std::vector<std::string> Findings(const Json& report) {
  std::vector<std::string> texts;
  const auto add = [&texts](const Json& findings) {
    for (const Json& finding : findings) {
      texts.push_back(finding["promise"].get<std::string>() + ": " +
                      finding["text"].get<std::string>());
    }
  };
  add(report["findings"]);
  for (const Json& plugin : report["plugins"]) add(plugin["findings"]);
  return texts;
}

constexpr struct {
  const char* library;
  const char* promise;
  const char* text;
} kBroken[] = {
    {"exports", "library", "berth_entry_v1_extra"},
    {"note", "library", "2.0.0"},
    {"shape", "shape", "alignment"},
    {"threads", "threads", "calls timer.start from Filter [block]"},
    {"outputs", "outputs", "unwritten"},
    {"outputs_of_others", "outputs", "which is not selected"},
    {"codes", "codes", "has no reason"},
    {"pre_filter_codes", "codes", "PreFilter answers Wait, which is no answer of PreFilter"},
    {"scores", "codes", "101 after normalisation"},
    {"blocks", "blocks", "and in one block"},
    {"selection", "blocks", "selected"},
    {"concurrency", "concurrency", "on 4 threads at once"},
    {"repeat", "repeat", "asked again"},
    {"whatif", "whatif", "AddPod"},
    {"dependence_on_pod", "dependence", "depends on the pod's PRIORITY"},
    {"dependence_on_pods", "dependence", "depends on the pods on nodes"},
    {"hints", "hints", "depends on the pod's PRIORITY"},
    {"slots", "slots", "Filter changes it"},
    {"slot_bounds", "slots", "writes outside its 16 bytes"},
    {"leaks", "leaks", "create and destroy leaves about"},
    {"leaks_of_slots", "leaks", "construct, clone and destroy of slot \"test.Broken/1\""},
    {"instances", "instances", "100 open files more than before"},
    {"faults", "faults", "PreFilter of pod default/plain answers Bug"},
    {"deadlines", "deadlines", "Filter took 1.1 s; the host waits for 1.0 s"},
    {"deadlines_for_ever", "deadlines", "Filter has not returned after 3."},
    {"survival", "survives", "SIGSEGV in Filter ends the process"},
    {"survival_by_exit", "survives", "it ends the process with exit status 3"},
};

TEST(PluginCheckTest, FindsWhatIsBroken) {
  for (const auto& c : kBroken) {
    SCOPED_TRACE(c.library);
#ifdef __SANITIZE_ADDRESS__
    if (std::string(c.promise) == "leaks") continue;  // The sanitizer's own work, at the end.
#endif
    const Outcome outcome = RunBerth({"plugin", "check", Broken(c.library), "--output", "json"});
    EXPECT_EQ(outcome.exit_status, kExitNotAllScheduled) << outcome.err;
    const Json report = Json::parse(outcome.out);
    EXPECT_FALSE(report["kept"]);
    EXPECT_THAT(Findings(report),
                Contains(AllOf(HasSubstr(std::string(c.promise) + ": "), HasSubstr(c.text))));
  }
}

TEST(PluginCheckTest, FindsNothingInWhatKeepsTheContract) {
  std::vector<std::string> libraries = {Broken("nothing")};
  for (const auto& file : std::filesystem::directory_iterator(BERTH_PLUGINS)) {
    if (file.path().extension() == ".so") libraries.push_back(file.path().string());
  }
  EXPECT_GT(libraries.size(), 10u);
  for (const std::string& library : libraries) {
    SCOPED_TRACE(library);
    const Outcome outcome = RunBerth({"plugin", "check", library, "--output", "json"});
    EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.err;
    EXPECT_THAT(Findings(Json::parse(outcome.out)), IsEmpty());
  }
}

TEST(PluginCheckTest, NeitherWaitsForProcessesOfThePluginNorPrintsWhatItPrints) {
  const std::string release = ::testing::TempDir() + "berth_release_" + std::to_string(getpid());
  setenv("BERTH_TEST_RELEASE", release.c_str(), 1);
  ::testing::internal::CaptureStdout();
  const Outcome outcome = RunBerth({"plugin", "check", Broken("silence"), "--output", "json"});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  std::ofstream(release).flush();
  unsetenv("BERTH_TEST_RELEASE");
  EXPECT_EQ(outcome.exit_status, kExitDone) << outcome.out << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(release + ".late")) << "it waited for the plugin's process";
  std::filesystem::remove(release + ".late");
}

TEST(PluginCheckTest, EveryPromiseIsSeenToBeBroken) {
  const Json report =
      Json::parse(RunBerth({"plugin", "check", Broken("nothing"), "--output", "json"}).out);
  std::set<std::string> promised;
  for (const Json& promise : report["plugins"][0]["promises"]) promised.insert(promise["name"]);
  std::set<std::string> broken;
  for (const auto& c : kBroken) broken.insert(c.promise);
  EXPECT_EQ(promised, broken);
}

TEST(PluginCheckTest, PrintsATable) {
  const Outcome good = RunBerth({"plugin", "check", Broken("nothing")});
  EXPECT_THAT(good.out, AllOf(HasSubstr("test.Broken 1.0.0 keeps the contract (PreFilter, Filter, "
                                        "Score, EnqueueExtensions)"),
                              HasSubstr("outputs       yes    Every selected node")));
  const Outcome bad = RunBerth({"plugin", "check", Broken("codes")});
  EXPECT_EQ(bad.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("test.Broken 1.0.0 BREAKS the contract"),
                             HasSubstr("codes         NO "),
                             HasSubstr("What is broken:\n  codes: "), HasSubstr("has no reason")));
  const Outcome refused = RunBerth({"plugin", "check", Broken("exports")});
  EXPECT_EQ(refused.exit_status, kExitNotAllScheduled);
  EXPECT_THAT(refused.out, HasSubstr("It is not loaded:\n"));
}

TEST(PluginCheckTest, SaysWhatCannotBeAsked) {
  const struct {
    const char* name;
    std::vector<std::string> args;
    const char* text;
  } cases[] = {
      {"no such file", {Broken("absent")}, "libabsent.so"},
      {"arguments that are no object", {Broken("nothing"), "--args", "[1]"}, "--args: expected"},
      {"arguments that are no JSON", {Broken("nothing"), "--args", "{"}, "--args: expected"},
      {"a plugin that wants arguments", {Broken("create")}, "create answers BadArgument"},
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
}

}  // namespace
}  // namespace berth::host
