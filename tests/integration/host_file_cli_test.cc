// The effect of the keys of the host file, berth.toml, except deadlines.call and
// deadlines.postFilter, which concern calls that block in real time.
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostFileTest : public CliTest {
 protected:
  // Runs `berth replay` in virtual time with a node and pods that are deleted after 100 s.
  Outcome Play(const std::string& host, const std::vector<std::string>& pods = {"p"}) {
    std::string events =
        R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},)"
        R"("status":{"allocatable":{"cpu":"8","memory":"1Gi","pods":"10"}}}})"
        "\n";
    for (const std::string type : {R"("ADDED")", R"("DELETED","after":"100s")"}) {
      for (const std::string& pod : pods) {
        events += R"({"type":)" + type +
                  R"(,"object":{"apiVersion":"v1","kind":"Pod","metadata":)" + R"({"name":")" +
                  pod + R"("},"spec":{"containers":[{"name":"c"}]}}})" + "\n";
      }
    }
    return Run({"replay", "--events", File("events.jsonl", events), "--time", "virtual", "--output",
                "json", "--config", File("berth.toml", host)});
  }

  // Returns the default profile with one more plugin, from a test library.
  void ProfileWith(const std::string& library, const std::string& plugin) {
    File("p.toml", "extends = \"default\"\n[[plugins]]\nlibrary = \"" BERTH_TEST_PLUGIN_DIR "/" +
                       library + "\"\n" + plugin);
  }
};

// The room of a gated pod with a nomination counts since 1.37.
TEST_F(HostFileTest, EmulatedVersionDecides) {
  const std::string cluster =
      File("c.yaml",
           "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n"
           "status: {allocatable: {cpu: \"1\", memory: 1Gi, pods: \"10\"}}\n" +
               PodOf("gated", "1", "  priority: 1\n  schedulingGates: [{name: g}]\n") +
               "status: {nominatedNodeName: node-a}\n" + PodOf("p", "1"));
  const struct {
    const char* description;
    const char* host;
    std::vector<std::string> flags;
    const char* node;
  } cases[] = {
      {"the newest version is the default", "", {}, "<none>"},
      {"the host file sets it", "emulatedVersion = \"1.36\"", {}, "node-a"},
      {"the command line sets it", "", {"--emulated-version", "1.36"}, "node-a"},
      {"the command line overrides the host file",
       "emulatedVersion = \"1.36\"",
       {"--emulated-version", "kube=1.37"},
       "<none>"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    std::vector<std::string> args = {"simulate", "--cluster", cluster, "--config",
                                     File("berth.toml", c.host)};
    args.insert(args.end(), c.flags.begin(), c.flags.end());
    EXPECT_THAT(Run(args).out, ::testing::ContainsRegex(std::string(" p +") + c.node));
  }
}

TEST_F(HostFileTest, IsReadByRun) {
  const std::string cluster =
      File("c.yaml", kNodes + PodOf("p", "500m", "  schedulerName: mine\n"));
  File("mine.toml", "schedulerName = \"mine\"\nextends = \"binpack\"\n");
  const std::string host = File("berth.toml",
                                "profiles = [\"default\", \"mine.toml\"]\n"
                                "podInitialBackoffSeconds = 2\n[quarantine]\nfaults = 5\n");
  const std::vector<std::string> args = {"replay",  "--cluster", cluster, "--time",
                                         "virtual", "--config",  host};
  const Outcome run = Run(args);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("1 bound, 0 pending"));

  std::vector<std::string> over = args;
  over.insert(over.end(), {"--profile", "default"});
  EXPECT_THAT(Run(over).err, HasSubstr("0 bound, 0 pending, 1 of other schedulers"))
      << "the command line overrides the host file";

  File("berth.toml", "profiles = [\"default\"]\nparallelism = 4\nenableProfiling = true\n");
  const Outcome bad = Run(args);
  EXPECT_EQ(bad.exit_status, 2);
  EXPECT_EQ(bad.err, "berth: " + host +
                         ":2: parallelism: expected 1 or no such key, because this version "
                         "schedules on one thread, found 4\n"
                         "berth: " +
                         host +
                         ":3: enableProfiling: expected no such key, because this version does "
                         "not serve profiling data, found true\n");
  std::vector<std::string> missing = args;
  missing.back() = folder_ + "/none.toml";
  EXPECT_EQ(Run(missing).err, "berth: " + folder_ + "/none.toml: No such file or directory\n");
}

// simulate and explain read it as replay does.
TEST_F(HostFileTest, IsReadByCommandsThatInspect) {
  const std::string cluster =
      File("c.yaml", kNodes + PodOf("p", "500m", "  schedulerName: mine\n"));
  File("mine.toml", "schedulerName = \"mine\"\nextends = \"binpack\"\n");
  const std::string host = File("berth.toml", "profiles = [\"default\", \"mine.toml\"]\n");
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "--cluster", cluster, "--output", "json"},
      {"explain", "--cluster", cluster, "--pod", "p", "--output", "json"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command.front());
    const auto with = [&command, this](const std::vector<std::string>& more) {
      std::vector<std::string> args = command;
      args.insert(args.end(), more.begin(), more.end());
      return Run(args);
    };
    const auto is_ours = [&command](const Outcome& run) {
      if (command.front() == "explain") return !run.json().contains("note");
      return run.json()["summary"]["others"] == 0 && run.json()["summary"]["placed"] == 1;
    };
    const Outcome own = with({"--config", host});
    EXPECT_EQ(own.exit_status, 0) << own.err;
    EXPECT_TRUE(is_ours(own)) << own.out;
    EXPECT_EQ(own.out, with({"--profile", "default", folder_ + "/mine.toml"}).out);
    EXPECT_FALSE(is_ours(with({})));
    EXPECT_FALSE(is_ours(with({"--config", host, "--profile", "default"})))
        << "the command line overrides the host file";
    EXPECT_THAT(with({"--config", host, "--plugin-dir", folder_ + "/none"}).err,
                HasSubstr(folder_ + "/none"));

    const std::string bad = File("bad.toml", "profiles = [\"default\"]\nparallelism = 4\n");
    const Outcome refused = with({"--config", bad});
    EXPECT_EQ(refused.exit_status, 2);
    EXPECT_EQ(refused.err, "berth: " + bad +
                               ":2: parallelism: expected 1 or no such key, because this version "
                               "schedules on one thread, found 4\n");
    EXPECT_EQ(with({"--config", folder_ + "/none.toml"}).err,
              "berth: " + folder_ + "/none.toml: No such file or directory\n");
  }
}

TEST_F(HostFileTest, SetsPluginsAndLogLevelOfInspections) {
  LinkPlugins("libnode_name.so", BERTH_TEST_TALKER);
  const std::string cluster = File("c.yaml", kNodes + PodOf("p", "500m"));
  const std::string warning = "berth: warning: NodeName: looked at a node\n";
  const struct {
    std::string level;
    std::vector<std::string> flags;
    bool says_warning;
    bool says_information;
  } cases[] = {{"", {}, true, false},
               {"", {"-v"}, true, true},
               {"logLevel = \"info\"\n", {}, true, true},
               {"logLevel = \"error\"\n", {}, false, false},
               {"logLevel = \"error\"\n", {"-v"}, true, true}};
  for (const auto& c : cases) {
    const std::string host = File("berth.toml", "pluginDirs = [\"plugins\"]\n" + c.level);
    for (const std::string command : {"simulate", "explain"}) {
      std::vector<std::string> args = {command, "--cluster", cluster, "--config", host};
      if (command == "explain") args.insert(args.end(), {"--pod", "p"});
      args.insert(args.end(), c.flags.begin(), c.flags.end());
      const Outcome run = Run(args);
      EXPECT_EQ(run.exit_status, 0) << run.err;
      EXPECT_EQ(run.err.find(warning) != std::string::npos, c.says_warning) << run.err;
      if (command == "explain") continue;  // PostBind, which informs, is not called.
      EXPECT_EQ(run.err.find("berth: info: NodeName: took it\n") != std::string::npos,
                c.says_information)
          << run.err;
    }
  }
}

// A pod whose plugin fails is tried again after the initial backoff of the host file, which doubles
// with each attempt up to the maximum. The queue checks once a second.
TEST_F(HostFileTest, SetsTheBackoff) {
  ProfileWith("libtest_thrower.so",
              "name = \"test.Thrower\"\npoints = [\"Filter\"]\nargs = {at = \"Filter\"}\n");
  struct Case {
    const char* backoffs;
    std::vector<double> waits;  // The minimum of seconds between two attempts.
  };
  const Case cases[] = {
      {"", {1, 2, 4, 8, 10, 10}},
      {"podInitialBackoffSeconds = 3\n", {3, 6, 10, 10}},
      {"podInitialBackoffSeconds = 5\npodMaxBackoffSeconds = 40\n", {5, 10, 20, 40}},
      {"podMaxBackoffSeconds = 2\n", {1, 2, 2, 2, 2}},
  };
  for (const Case& c : cases) {
    const Outcome run = Play("profiles = [\"p.toml\"]\n" + std::string(c.backoffs));
    std::istringstream lines(run.out);
    std::vector<double> times;
    for (std::string line; std::getline(lines, line);) times.push_back(Json::parse(line)["time"]);
    ASSERT_GT(times.size(), c.waits.size()) << c.backoffs << run.err;
    for (size_t i = 0; i < c.waits.size(); ++i) {
      const double wait = times[i + 1] - times[i];
      EXPECT_GE(wait, c.waits[i]) << c.backoffs << i;
      EXPECT_LE(wait, c.waits[i] + 1) << c.backoffs << i;
    }
  }
}

// Log lines of plugins are printed from the level of the host file.
TEST_F(HostFileTest, SetsTheLogLevelOfPlugins) {
  LinkPlugins("libnode_name.so", BERTH_TEST_TALKER);
  const std::string warning = kNow + "berth: warning: NodeName: looked at a node\n";
  const std::string information = kNow + "berth: info: NodeName: took it\n";
  const struct {
    std::string level;
    bool says_warning;
    bool says_information;
  } cases[] = {{"", true, false},
               {"logLevel = \"debug\"\n", true, true},
               {"logLevel = \"info\"\n", true, true},
               {"logLevel = \"warning\"\n", true, false},
               {"logLevel = \"error\"\n", false, false}};
  for (const auto& c : cases) {
    const Outcome run = Play("pluginDirs = [\"plugins\"]\n" + c.level);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    EXPECT_EQ(run.err.find(warning) != std::string::npos, c.says_warning) << c.level << run.err;
    EXPECT_EQ(run.err.find(information) != std::string::npos, c.says_information)
        << c.level << run.err;
  }
}

// A binding that a plugin does not complete is cancelled after the deadline, and abandoned after
// the same time again.
TEST_F(HostFileTest, SetsTheDeadlineOfBindings) {
  ProfileWith(
      "libtest_probe.so",
      "name = \"test.A\"\npoints = [\"Bind\"]\nargs = {bind = {code = 6, how = \"return\"}}\n"
      "[[plugins]]\nname = \"DefaultBinder\"\nenabled = false\n");
  // Allows only one attempt, because waiting for a thread takes real time but no virtual time.
  const Outcome run = Play(
      "profiles = [\"p.toml\"]\npodInitialBackoffSeconds = 1000\npodMaxBackoffSeconds = 1000\n"
      "[deadlines]\nbind = \"5s\"\n");
  EXPECT_EQ(Json::parse(run.out)["type"], "Error") << run.err;
  EXPECT_EQ(Json::parse(run.out)["time"], 10.0);
}

// A profile sets the deadline of one plugin.
TEST_F(HostFileTest, PluginsOwnDeadlineReplacesThatOfHostFile) {
  for (const char* other : {"", "[deadlines]\nbind = \"5s\"\n", "[deadlines]\nbind = \"1s\"\n"}) {
    ProfileWith("libtest_probe.so",
                "name = \"test.A\"\ndeadline = \"3s\"\npoints = [\"Bind\"]\n"
                "args = {bind = {code = 6, how = \"return\"}}\n"
                "[[plugins]]\nname = \"DefaultBinder\"\nenabled = false\n");
    const Outcome run = Play(
        "profiles = [\"p.toml\"]\npodInitialBackoffSeconds = 1000\npodMaxBackoffSeconds = 1000\n" +
        std::string(other));
    EXPECT_EQ(Json::parse(run.out)["type"], "Error") << run.err;
    EXPECT_EQ(Json::parse(run.out)["time"], 6.0) << other;
  }
}

// A real library that is slow: it returns when its call is cancelled, and is no longer called after
// the second time.
TEST_F(HostFileTest, MissedDeadlineOfPluginCountsForItsQuarantine) {
  std::filesystem::copy_file(BERTH_WAITER, folder_ + "/libwaiter.so");
  File("p.toml",
       "extends = \"default\"\n[[plugins]]\nname = \"acme.Sleeper\"\n"
       "library = \"libwaiter.so\"\ndeadline = \"150ms\"\n");
  steady_ns_ = [] {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  const Outcome run = Play("profiles = [\"p.toml\"]\n[quarantine]\nfaults = 2\n", {"p", "q"});
  EXPECT_THAT(run.err, HasSubstr("its deadline is 150ms"));
  EXPECT_THAT(run.err, HasSubstr("in quarantine: 2 faults within 1m0s, the last at Reserve"));
}

TEST_F(HostFileTest, SetsTheNumberOfFaultsForAQuarantine) {
  ProfileWith("libtest_thrower.so",
              "name = \"test.Thrower\"\npoints = [\"Filter\"]\nargs = {at = \"Filter\"}\n");
  const auto play = [&](const std::string& quarantine) {
    return Play("profiles = [\"p.toml\"]\n[quarantine]\n" + quarantine, {"p", "q"});
  };
  EXPECT_THAT(play("faults = 2\nwindow = \"40s\"\n").err,
              HasSubstr("in quarantine: 2 faults within 40s, the last at Filter: exception"));
  // 0 faults disable the quarantine. Two pods cause at most two faults that count.
  for (const char* never : {"faults = 0\n", "faults = 3\n"}) {
    const Outcome run = play(never);
    size_t faults = 0;
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) {
      faults += Json::parse(line)["type"] == "Error" ? 1 : 0;
    }
    EXPECT_GE(faults, 2U) << never << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("in quarantine"))) << never;
  }
}

}  // namespace
}  // namespace berth::host
