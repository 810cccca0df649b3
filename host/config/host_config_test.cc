#include "host/config/host_config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/abi.h>

namespace berth::host {
namespace {

std::string HostConfigErrors(std::string_view text) {
  ConfigErrors errors;
  static_cast<void>(ReadHostConfig(text, "etc/berth.toml", errors));
  return std::string(errors.ToStatus().message());
}

TEST(ReadHostConfigTest, ReadsEveryKey) {
  ConfigErrors errors;
  const HostConfig config = ReadHostConfig(
      "profiles = [\"default\", \"a.toml\", \"/opt/b.toml\"]\n"
      "pluginDirs = [\"../plugins\", \"/opt/plugins\"]\n"
      "parallelism = 1\n"
      "percentageOfNodesToScore = 100\n"
      "podInitialBackoffSeconds = 2\n"
      "podMaxBackoffSeconds = 20\n"
      "emulatedVersion = \"1.36\"\n"
      "logLevel = \"debug\"\n"
      "[deadlines]\n"
      "call = \"250ms\"\n"
      "postFilter = \"5s\"\n"
      "bind = \"2m\"\n"
      "[quarantine]\n"
      "faults = 0\n"
      "window = \"30s\"\n"
      "[leaderElection]\n"
      "leaderElect = false\n"
      "[clientConnection]\n"
      "kubeconfig = \"admin.conf\"\n"
      "[serving]\n"
      "address = \"\"\n"
      "[logging]\n"
      "format = \"json\"\n",
      "etc/berth.toml", errors);
  EXPECT_EQ(errors.ToStatus().message(), "");
  ASSERT_EQ(config.profiles.size(), 3u);
  EXPECT_EQ(config.profiles[0].value, "default");
  EXPECT_EQ(config.profiles[1].value, "etc/a.toml");
  EXPECT_EQ(config.profiles[2].value, "/opt/b.toml");
  ASSERT_EQ(config.plugin_directories.size(), 2u);
  EXPECT_EQ(config.plugin_directories[0].value, "plugins");
  EXPECT_EQ(config.plugin_directories[1].value, "/opt/plugins");
  EXPECT_EQ(config.initial_backoff_ns, 2'000'000'000);
  EXPECT_EQ(config.max_backoff_ns, 20'000'000'000);
  EXPECT_EQ(EmulatedVersionOf(config), (KubeVersion{1, 36}));
  EXPECT_EQ(config.log_level, uint32_t{BERTH_LOG_DEBUG});
  EXPECT_EQ(config.call_deadline_ns, 250'000'000);
  EXPECT_EQ(config.post_filter_deadline_ns, 5'000'000'000);
  EXPECT_EQ(config.bind_deadline_ns, 120'000'000'000);
  EXPECT_EQ(config.quarantine_faults, 0u);
  EXPECT_EQ(config.quarantine_window_ns, 30'000'000'000);
  EXPECT_EQ(config.cluster.leader_elect, false);
  EXPECT_EQ(config.cluster.kubeconfig, "etc/admin.conf");
  EXPECT_EQ(config.cluster.http_address, "");
  EXPECT_EQ(config.cluster.log_format, "json");
}

TEST(ReadHostConfigTest, AnEmptyFileSetsNothing) {
  ConfigErrors errors;
  const HostConfig config = ReadHostConfig("", "berth.toml", errors);
  EXPECT_TRUE(errors.empty());
  EXPECT_TRUE(config.profiles.empty());
  EXPECT_FALSE(config.initial_backoff_ns.has_value());
  EXPECT_EQ(EmulatedVersionOf(config), kNewestKubeVersion);
}

TEST(ReadHostConfigTest, RejectsVersionsThatAreNotEmulated) {
  EXPECT_EQ(HostConfigErrors("emulatedVersion = \"1.35\"\n"),
            "etc/berth.toml:1: emulatedVersion: expected \"1.36\" or \"1.37\", found \"1.35\"");
  EXPECT_EQ(
      HostConfigErrors("emulatedVersion = 1.37\n"),
      "etc/berth.toml:1: emulatedVersion: expected \"1.36\" or \"1.37\", found the number 1.37");
}

TEST(ReadHostConfigTest, RejectsKeysOfKubeSchedulerWithoutEffect) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"metricsBindAddress = \"0.0.0.0:10251\"",
       "etc/berth.toml:1: metricsBindAddress: expected no such key, because metrics are served at "
       "the address in [serving], found \"0.0.0.0:10251\""},
      {"healthzBindAddress = \"0.0.0.0:10251\"",
       "etc/berth.toml:1: healthzBindAddress: expected no such key, because health checks are "
       "served at the address in [serving], found \"0.0.0.0:10251\""},
      {"delayCacheUntilActive = true",
       "etc/berth.toml:1: delayCacheUntilActive: expected no such key, because the cache is always "
       "filled before this process leads, found true"},
      {"apiVersion = \"kubescheduler.config.k8s.io/v1\"",
       "etc/berth.toml:1: apiVersion: expected no such key, because Berth's configuration file has "
       "no versions, found \"kubescheduler.config.k8s.io/v1\""},
      {"parallelism = 16",
       "etc/berth.toml:1: parallelism: expected 1 or no such key, because this version schedules "
       "on one thread, found 16"},
      {"percentageOfNodesToScore = 50",
       "etc/berth.toml:1: percentageOfNodesToScore: expected 100 or no such key, because every "
       "node is evaluated, found 50"},
  };
  for (const Case& c : cases) EXPECT_EQ(HostConfigErrors(c.toml), c.error) << c.toml;
}

TEST(ReadHostConfigTest, ReportsErrors) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"profile = [\"a\"]",
       "etc/berth.toml:1: profile: expected a known key, found \"profile\"; did you mean "
       "profiles?"},
      {"profiles = \"a.toml\"",
       "etc/berth.toml:1: profiles: expected an array of paths or names of profiles, found "
       "\"a.toml\""},
      {"profiles = [\"a\", \"a\"]",
       "etc/berth.toml:1: profiles: expected unique values, found \"a\" twice"},
      {"[leaderElection]\nleaderElect = true", ""},
      {"leaderElection = true", "etc/berth.toml:1: leaderElection: expected a table, found true"},
      {"[leaderElection]\nleaseDuration = \"10s\"",
       "etc/berth.toml:2: leaderElection.leaseDuration: expected more than renewDeadline, 10s, "
       "found 10s"},
      {"podInitialBackoffSeconds = 0",
       "etc/berth.toml:1: podInitialBackoffSeconds: expected a whole number from 1 to 31536000, "
       "found 0"},
      {"podInitialBackoffSeconds = 20\npodMaxBackoffSeconds = 0",
       "etc/berth.toml:2: podMaxBackoffSeconds: expected a whole number from 1 to 31536000, found "
       "0"},
      {"podInitialBackoffSeconds = 10", ""},
      {"podInitialBackoffSeconds = 11",
       "etc/berth.toml:1: podInitialBackoffSeconds: expected at most podMaxBackoffSeconds, 10, "
       "found 11"},
      {"podMaxBackoffSeconds = 4\npodInitialBackoffSeconds = 5",
       "etc/berth.toml:1: podMaxBackoffSeconds: expected at least podInitialBackoffSeconds, 5, "
       "found 4"},
      {"logLevel = \"inof\"",
       "etc/berth.toml:1: logLevel: expected one of trace, debug, info, warning, error, found "
       "\"inof\"; did you mean info?"},
      {"logLevel = 3",
       "etc/berth.toml:1: logLevel: expected one of trace, debug, info, warning, error, found 3"},
      {"[deadlines]\ncall = \"soon\"",
       "etc/berth.toml:2: deadlines.call: expected a duration above 0, such as \"1.5s\" or \"2m\", "
       "found \"soon\""},
      {"[deadlines]\nbind = \"0s\"",
       "etc/berth.toml:2: deadlines.bind: expected a duration above 0, such as \"1.5s\" or \"2m\", "
       "found \"0s\""},
      {"[deadlines]\nbind = \"8760h\"", ""},
      {"[deadlines]\nbind = \"8760h0m1s\"",
       "etc/berth.toml:2: deadlines.bind: expected a duration of at most 8760h, a year, found "
       "\"8760h0m1s\""},
      {"[deadlines]\nbnid = \"1s\"",
       "etc/berth.toml:2: deadlines.bnid: expected a known key, found \"bnid\"; did you mean "
       "bind?"},
      {"[quarantine]\nfaults = -1",
       "etc/berth.toml:2: quarantine.faults: expected a whole number from 0 to 1000000, found -1"},
      {"zzz = 1\n[quarantine]\nwindow = 5",
       "etc/berth.toml:1: zzz: expected one of profiles, pluginDirs, podInitialBackoffSeconds, "
       "podMaxBackoffSeconds, emulatedVersion, logLevel, deadlines, quarantine, leaderElection, "
       "clientConnection, serving, logging, parallelism, percentageOfNodesToScore, found \"zzz\"\n"
       "etc/berth.toml:3: quarantine.window: expected a duration above 0, such as \"1.5s\" or "
       "\"2m\", found 5"},
  };
  for (const Case& c : cases) EXPECT_EQ(HostConfigErrors(c.toml), c.error) << c.toml;
}

}  // namespace
}  // namespace berth::host
