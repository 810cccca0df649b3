// Mistakes on the command line, and what berth says about them.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class UsageCliTest : public CliTest {};

struct UsageCase {
  std::vector<std::string> args;
  std::string message;  // The whole of standard error.
};

TEST_F(UsageCliTest, ReportsExcessArguments) {
  const std::vector<UsageCase> cases = {
      {{"--versio"},
       "berth: there is no option --versio (see berth --help); did you mean --version?\n"},
      {{"simulate", "--clster", "c.yaml"},
       "berth: there is no option --clster (see berth simulate --help); did you mean --cluster?\n"},
      {{"simulate", "--cluster", kSmall, "--sed=7"},
       "berth: there is no option --sed (see berth simulate --help); did you mean --seed?\n"},
      {{"plugin", "list", "--outptu", "json"},
       "berth: there is no option --outptu (see berth plugin list --help); did you mean "
       "--output?\n"},
      {{"simulate", "--version"},
       "berth: there is no option --version (see berth simulate --help); did you mean berth "
       "--version?\n"},
      {{"simulate", "--zzzzzzz"},
       "berth: there is no option --zzzzzzz (see berth simulate --help)\n"},
      {{"simulate", "-x", "--cluster", kSmall},
       "berth: there is no option -x (see berth simulate --help)\n"},
      {{"simulate", "dump.json"},
       "berth: simulate: expected only options, found \"dump.json\"; to read a file, use --cluster "
       "FILE (see berth simulate --help)\n"},
      {{"explain", "--pod", "web", "dump.json"},
       "berth: explain: expected only options, found \"dump.json\"; to read a file, use --cluster "
       "FILE (see berth explain --help)\n"},
      {{"replay", "dump.json"},
       "berth: replay: expected only options, found \"dump.json\"; to read a file, use --cluster "
       "FILE "
       "(see berth replay --help)\n"},
      {{"replay", "--unknown", "dump.json"},
       "berth: there is no option --unknown (see berth replay --help)\n"},
      {{"run", "dump.json"},
       "berth: run: expected only options, found \"dump.json\" (see berth run --help)\n"},
  };
  for (const UsageCase& c : cases) {
    const Outcome run = Run(c.args);
    EXPECT_EQ(run.exit_status, 2) << c.message;
    EXPECT_EQ(run.out, "") << c.message;
    EXPECT_EQ(run.err, c.message);
  }
}

TEST_F(UsageCliTest, AnswersOptionsOfKubeScheduler) {
  const Outcome run = Run({"run", "--master", "https://10.0.0.1:6443",
                           "--leader-elect-retry-period=2s", "--bind-address=127.0.0.1", "--v=2"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err,
            "berth: there is no option --master: use --kubeconfig; the address of the API server "
            "is that of its cluster\n"
            "berth: there is no option --leader-elect-retry-period: set retryPeriod in "
            "[leaderElection] of the host file\n"
            "berth: there is no option --bind-address: use --http-address IP:PORT; Berth serves "
            "health checks and metrics over plain HTTP\n"
            "berth: there is no option --v: use -v for information, -vv for debugging or -vvv for "
            "tracing; logLevel in the host file sets the same\n");
  EXPECT_THAT(Run({"replay", "--cluster", kSmall, "-v=2"}).err,
              HasSubstr("there is no option --v: use -v for information"));
  EXPECT_THAT(Run({"simulate", "--bind-address", "x"}).err,
              HasSubstr("there is no option --bind-address (see berth simulate --help)"));
}

// Each of the commands that run a scheduler has flags that the others do not have.
TEST_F(UsageCliTest, NamesTheCommandThatHasTheFlag) {
  struct Case {
    std::vector<std::string> args;
    std::string flag;
    std::string command;
  };
  const std::vector<Case> cases = {
      {{"run", "--cluster", kSmall}, "--cluster", "replay"},
      {{"run", "--events", "e.jsonl"}, "--events", "replay"},
      {{"run", "--record", "r.jsonl"}, "--record", "replay"},
      {{"run", "--time", "virtual"}, "--time", "replay"},
      {{"run", "--duration", "1m"}, "--duration", "shadow"},
      {{"run", "--window", "1s"}, "--window", "shadow"},
      {{"run", "--percentage-of-nodes-to-score", "5"}, "--percentage-of-nodes-to-score", "shadow"},
      {{"replay", "--cluster", kSmall, "--kubeconfig", "k"}, "--kubeconfig", "run"},
      {{"replay", "--cluster", kSmall, "--context", "test"}, "--context", "run"},
      {{"replay", "--cluster", kSmall, "--allow-plain-http"}, "--allow-plain-http", "run"},
      {{"replay", "--cluster", kSmall, "--leader-elect=false"}, "--leader-elect", "run"},
      {{"replay", "--cluster", kSmall, "--http-address", "none"}, "--http-address", "run"},
      {{"replay", "--cluster", kSmall, "--log-format", "json"}, "--log-format", "run"},
      {{"replay", "--cluster", kSmall, "--duration", "1m"}, "--duration", "shadow"},
      {{"shadow", "--cluster", kSmall}, "--cluster", "replay"},
      {{"shadow", "--events", "e.jsonl"}, "--events", "replay"},
      {{"shadow", "--record", "r.jsonl"}, "--record", "replay"},
      {{"shadow", "--time", "virtual"}, "--time", "replay"},
      {{"shadow", "--leader-elect=false"}, "--leader-elect", "run"},
      {{"shadow", "--http-address", "none"}, "--http-address", "run"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.args));
    const Outcome run = Run(c.args);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, "berth: there is no option " + c.flag + " (see berth " + c.args.front() +
                           " --help); did you mean berth " + c.command + " " + c.flag + "?\n");
  }
  EXPECT_THAT(Run({"run", "--scheduler-name", "acme"}).err,
              HasSubstr("there is no option --scheduler-name: to schedule the pods that name it, "
                        "set schedulerName in a profile"));
}

TEST_F(UsageCliTest, OldSpellingsWorkAndNameTheNewCommand) {
  const std::string replay =
      "berth: warning: berth run --embedded is now berth replay; use berth replay with the same "
      "flags\n";
  const Outcome now = Run({"replay", "--cluster", "-", "-o", "json"}, kNodes + PodOf("web", "1"));
  EXPECT_EQ(now.exit_status, 0);
  for (const std::vector<std::string>& old :
       {std::vector<std::string>{"run", "--embedded", "--cluster", "-", "-o", "json"},
        {"run", "--cluster", "-", "-o", "json", "--embedded"}}) {
    const Outcome run = Run(old, kNodes + PodOf("web", "1"));
    EXPECT_EQ(run.exit_status, now.exit_status);
    EXPECT_EQ(run.out, now.out);
    EXPECT_EQ(run.err, replay + now.err);
  }
  const Outcome empty = Run({"run", "--embedded"});
  EXPECT_EQ(empty.exit_status, 2);
  EXPECT_EQ(empty.err, replay + Run({"replay"}).err);

  const std::string shadow =
      "berth: warning: berth run --shadow is now berth shadow; use berth shadow with the same "
      "flags\n";
  const std::vector<std::string> flags = {"--kubeconfig", "/nowhere/kubeconfig"};
  const Outcome run = Run({"run", flags[0], flags[1], "--shadow"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, shadow + Run({"shadow", flags[0], flags[1]}).err);
  EXPECT_THAT(run.err, HasSubstr("/nowhere/kubeconfig"));
  EXPECT_EQ(Run({"run", "--shadow", "--embedded"}).err,
            shadow + "berth: there is no option --embedded (see berth shadow --help)\n");
}

TEST_F(UsageCliTest, ReadsSeedsAsDecimalNumbers) {
  for (const char* seed : {"-1", "many", "1.5", "0x10", "1e3", "18446744073709551616"}) {
    const Outcome run = Run({"simulate", "--cluster", kSmall, "--seed", seed});
    EXPECT_EQ(run.exit_status, 2) << seed;
    EXPECT_EQ(run.err,
              "berth: --seed: expected a whole number from 0 to 18446744073709551615 in decimal "
              "digits, found \"" +
                  std::string(seed) + "\"\nSee berth simulate --help\n");
  }
  const std::pair<const char*, uint64_t> cases[] = {
      {"0", 0}, {"8", 8}, {"010", 10}, {"18446744073709551615", UINT64_MAX}};
  for (const auto& [seed, number] : cases) {
    const Outcome run = Run({"simulate", "--cluster", kSmall, "--seed", seed, "--output", "json"});
    EXPECT_EQ(run.exit_status, 1) << seed;
    EXPECT_EQ(Json::parse(run.out)["summary"]["seed"], number) << seed;
  }
}

TEST_F(UsageCliTest, RefusesFlagsWithOtherValues) {
  const struct {
    std::vector<std::string> args;
    std::string message;
  } cases[] = {
      {{"run", "--leader-elect=maybe"}, "--leader-elect: expected true or false, found \"maybe\""},
      {{"run", "--allow-plain-http=true", "--leader-elect=2x"},
       "--leader-elect: expected true or false, found \"2x\""},
      {{"run", "--leader-elect=2"}, "--leader-elect: expected true or false, found \"2\""},
      {{"run", "--leader-elect=99999999999999999999"},
       "--leader-elect: expected true or false, found \"99999999999999999999\""},
      {{"simulate", "--cluster", kSmall, "--quiet=0x10"},
       "--quiet: expected true or false, found \"0x10\""},
      {{"simulate", "--cluster", kSmall, "--verbose=1e3"},
       "--verbose: expected true, false or a whole number from 0 to 10, found \"1e3\""},
      {{"simulate", "--cluster", kSmall, "--verbose=11"},
       "--verbose: expected true, false or a whole number from 0 to 10, found \"11\""},
  };
  for (const auto& c : cases) {
    const Outcome run = Run(c.args);
    EXPECT_EQ(run.exit_status, 2) << c.message;
    EXPECT_EQ(run.err, "berth: " + c.message + "\nSee berth " + c.args.front() + " --help\n");
  }
  for (const char* flag : {"--quiet=true", "--quiet=0", "--quiet=Yes", "--verbose=010"}) {
    EXPECT_EQ(Run({"simulate", "--cluster", kSmall, flag}).exit_status, 1) << flag;
  }
}

TEST_F(UsageCliTest, ReadsStandardInputOnlyOnce) {
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "--cluster", "-", "--pods", "-"},
      {"simulate", "--cluster", "-", "-"},
      {"simulate", "--cluster", kSmall, "--pods", "-", "-"},
      {"explain", "--cluster", "-", "-", "--pod", "web"},
      {"replay", "--cluster", "-", "--events", "-"},
      {"replay", "--cluster", "-", "-"},
  };
  for (const std::vector<std::string>& args : commands) {
    const Outcome run = Run(args, kNodes);
    EXPECT_EQ(run.exit_status, 2) << args.front();
    EXPECT_EQ(run.err, "berth: " + args.front() +
                           ": expected - for one input, found it for several: standard input can "
                           "be read only once\n");
  }
}

TEST_F(UsageCliTest, ReportsWhyTheOutputCouldNotBeWritten) {
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "--cluster", kSmall},
      {"explain", "--cluster", kSmall, "--pod", "web-1"},
      {"replay", "--cluster", kSmall},
      {"plugin", "list"},
      {"--help"},
      {"run", "--help"},
      {"replay", "--help"},
      {"--version"},
  };
  for (const std::vector<std::string>& args : commands) {
    std::ofstream full("/dev/full");
    std::istringstream in;
    const Outcome run = RunTo(full, args, in);
    EXPECT_EQ(run.exit_status, 2) << args.front();
    EXPECT_THAT(run.err,
                EndsWith("berth: the output could not be written: No space left on device\n"))
        << args.front();
  }
}

TEST_F(UsageCliTest, ReportsAnUnknownOperatorOfNodeAffinity) {
  const std::string affinity =
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:\n"
      "    {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Equals}]}]}}}\n";
  const Outcome run = Run({"simulate", "--cluster", "-"}, kNodes + PodOf("web", "1", affinity));
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("Pod default/web: /spec/affinity/nodeAffinity/"),
                             HasSubstr("/operator: expected In, NotIn, Exists, DoesNotExist, Gt or "
                                       "Lt, found \"Equals\"\n")));
}

TEST_F(UsageCliTest, ListsLibrariesThatAreIgnoredForTheirNames) {
  const std::string plugins = folder_ + "/plugins";
  std::filesystem::create_directories(plugins);
  const std::string library = BERTH_BINARY_DIR "/plugins/libnode_name.so";
  std::filesystem::copy_file(library, plugins + "/node_name.so");
  std::filesystem::copy_file(library, plugins + "/acme.so");
  File("plugins/README.md", "");
  const std::vector<std::string> list = {"plugin", "list", "--plugin-dir", plugins};
  const std::string ignored =
      "\nignored: acme.so: the names of plugin libraries are lib*.so\n"
      "ignored: node_name.so: the names of plugin libraries are lib*.so\n";
  EXPECT_EQ(Run(list).out, "There are no plugins in " + plugins + ".\n" + ignored);
  std::filesystem::copy_file(library, plugins + "/libnode_name.so");
  EXPECT_THAT(Run(list).out, HasSubstr(ignored));
  std::filesystem::remove(plugins + "/acme.so");
  std::filesystem::remove(plugins + "/node_name.so");
  EXPECT_THAT(Run(list).out, Not(HasSubstr("ignored")));
}

TEST_F(UsageCliTest, HelpTellsThatPluginDirectoryReplacesTheDefault) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", "--help"}, {"plugin", "list", "--help"}}) {
    EXPECT_THAT(Run(args).out, HasSubstr("replaces the built-in one"));
  }
}

TEST_F(UsageCliTest, PluginCheckTakesLibraryBeforeOrAfterCluster) {
  const std::string library = BERTH_BINARY_DIR "/plugins/libnode_name.so";
  const std::vector<std::vector<std::string>> orders = {
      {"plugin", "check", library, "--cluster", kSmall, "--output", "json"},
      {"plugin", "check", "--cluster", kSmall, library, "--output", "json"}};
  for (const auto& args : orders) {
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 0) << run.err;
  }
}

}  // namespace
}  // namespace berth::host
