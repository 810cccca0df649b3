#include <string>

#include <gtest/gtest.h>

#include "host/config/host_config.h"

namespace berth::host {
namespace {

// Reads a host file in the folder etc, and adds its errors.
ClusterConfig ReadCluster(std::string_view text, ConfigErrors& errors) {
  return ReadHostConfig(text, "etc/berth.toml", errors).cluster;
}

std::string ClusterErrors(std::string_view text) {
  ConfigErrors errors;
  static_cast<void>(ReadCluster(text, errors));
  return std::string(errors.ToStatus().message());
}

TEST(ReadClusterConfigTest, ReadsEveryKey) {
  ConfigErrors errors;
  const ClusterConfig config = ReadCluster(
      "[leaderElection]\n"
      "leaderElect = false\n"
      "leaseDuration = \"30s\"\n"
      "renewDeadline = \"20s\"\n"
      "retryPeriod = \"1.5s\"\n"
      "resourceLock = \"leases\"\n"
      "resourceName = \"acme-scheduler\"\n"
      "resourceNamespace = \"acme\"\n"
      "stallLimit = \"0s\"\n"
      "[clientConnection]\n"
      "kubeconfig = \"../kube/config\"\n"
      "qps = 50.5\n"
      "burst = 100\n"
      "connections = 16\n"
      "[serving]\n"
      "address = \"0.0.0.0:10251\"\n"
      "[logging]\n"
      "format = \"json\"\n",
      errors);
  EXPECT_EQ(errors.ToStatus().message(), "");
  EXPECT_EQ(config.leader_elect, false);
  EXPECT_EQ(config.lease_ns, 30 * kSecond);
  EXPECT_EQ(config.renew_deadline_ns, 20 * kSecond);
  EXPECT_EQ(config.retry_ns, 1500 * kMillisecond);
  EXPECT_EQ(config.lease_name, "acme-scheduler");
  EXPECT_EQ(config.lease_namespace, "acme");
  EXPECT_EQ(config.stall_limit_ns, 0);
  EXPECT_EQ(config.kubeconfig, "kube/config");
  EXPECT_EQ(config.qps, 50.5);
  EXPECT_EQ(config.burst, 100u);
  EXPECT_EQ(config.connections, 16u);
  EXPECT_EQ(config.http_address, "0.0.0.0:10251");
  EXPECT_EQ(config.log_format, "json");
}

TEST(ReadClusterConfigTest, AFileWithoutTheTablesSetsNothing) {
  for (const char* text : {"", "[leaderElection]\n[clientConnection]\n[serving]\n[logging]\n"}) {
    ConfigErrors errors;
    const ClusterConfig config = ReadCluster(text, errors);
    EXPECT_TRUE(errors.empty());
    EXPECT_FALSE(config.leader_elect.has_value());
    EXPECT_FALSE(config.lease_ns.has_value());
    EXPECT_FALSE(config.lease_name.has_value());
    EXPECT_FALSE(config.qps.has_value());
    EXPECT_FALSE(config.http_address.has_value());
    EXPECT_FALSE(config.log_format.has_value());
  }
}

TEST(ReadClusterConfigTest, AnEmptyAddressIsAValue) {
  ConfigErrors errors;
  EXPECT_EQ(ReadCluster("[serving]\naddress = \"\"", errors).http_address, "");
  EXPECT_TRUE(errors.empty());
}

TEST(ReadClusterConfigTest, ReportsErrors) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"leaderElection = true", "etc/berth.toml:1: leaderElection: expected a table, found true"},
      {"[leaderElection]\nleaderElect = \"yes\"",
       "etc/berth.toml:2: leaderElection.leaderElect: expected true or false, found \"yes\""},
      {"[leaderElection]\nleaseDurration = \"15s\"",
       "etc/berth.toml:2: leaderElection.leaseDurration: expected a known key, found "
       "\"leaseDurration\"; did you mean leaseDuration?"},
      {"[leaderElection]\nleaseDuration = \"15500ms\"",
       "etc/berth.toml:2: leaderElection.leaseDuration: expected whole seconds, such as \"15s\", "
       "found 15.5s"},
      {"[leaderElection]\nresourceLock = \"endpoints\"",
       "etc/berth.toml:2: leaderElection.resourceLock: expected \"leases\", found \"endpoints\""},
      {"[leaderElection]\nresourceName = \"../pods\"",
       "etc/berth.toml:2: leaderElection.resourceName: expected the name of a Lease, of lower-case "
       "letters, digits, \"-\" and \".\", found \"../pods\""},
      {"[leaderElection]\nresourceNamespace = \"\"",
       "etc/berth.toml:2: leaderElection.resourceNamespace: expected the name of a namespace, "
       "found \"\""},
      {"[leaderElection]\nstallLimit = \"-1s\"",
       "etc/berth.toml:2: leaderElection.stallLimit: expected a duration, such as \"1.5s\", "
       "\"2m\" or \"0s\", found \"-1s\""},
      {"[clientConnection]\nqps = -1",
       "etc/berth.toml:2: clientConnection.qps: expected a number from 0 to 100000, found -1"},
      {"[clientConnection]\nqps = \"50\"",
       "etc/berth.toml:2: clientConnection.qps: expected a number from 0 to 100000, found \"50\""},
      {"[clientConnection]\nqps = 100000\nburst = 1", ""},
      {"[clientConnection]\nqps = 0.5\nburst = 0",
       "etc/berth.toml:3: clientConnection.burst: expected at least 1, because qps is set, found "
       "0"},
      {"[clientConnection]\nqps = 0\nburst = 0", ""},
      {"[clientConnection]\nburst = 100",
       "etc/berth.toml:2: clientConnection.burst: expected 0, because qps is not set, found 100"},
      {"[clientConnection]\nqps = \"50\"\nburst = 100",
       "etc/berth.toml:2: clientConnection.qps: expected a number from 0 to 100000, found \"50\""},
      {"[clientConnection]\nconnections = 0",
       "etc/berth.toml:2: clientConnection.connections: expected a whole number from 1 to 1024, "
       "found 0"},
      {"[clientConnection]\nconnections = 1024", ""},
      {"[clientConnection]\nconnections = 1025",
       "etc/berth.toml:2: clientConnection.connections: expected a whole number from 1 to 1024, "
       "found 1025"},
      {"[clientConnection]\ncontentType = \"application/json\"",
       "etc/berth.toml:2: clientConnection.contentType: expected no such key, because Berth always "
       "uses JSON, found \"application/json\""},
      {"[serving]\naddress = 10251",
       "etc/berth.toml:2: serving.address: expected an IP address and a port, such as "
       "\"127.0.0.1:10251\", or \"\", found 10251"},
      {"[logging]\nformat = \"jsno\"",
       "etc/berth.toml:2: logging.format: expected \"text\" or \"json\", found \"jsno\"; did you "
       "mean json?"},
      {"[logging]\nformat = \"\"",
       "etc/berth.toml:2: logging.format: expected \"text\" or \"json\", found \"\""},
  };
  for (const Case& c : cases) EXPECT_EQ(ClusterErrors(c.toml), c.error) << c.toml;
}

TEST(ReadClusterConfigTest, ChecksOrderOfTheTimesOfTheElection) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"leaseDuration = \"11s\"", ""},
      {"leaseDuration = \"60.5s\"\nrenewDeadline = \"20s\"",
       "etc/berth.toml:2: leaderElection.leaseDuration: expected whole seconds, such as \"15s\", "
       "found 1m0.5s"},
      {"leaseDuration = \"10s\"",
       "etc/berth.toml:2: leaderElection.leaseDuration: expected more than renewDeadline, 10s, "
       "found 10s"},
      {"renewDeadline = \"14.999s\"", ""},
      {"renewDeadline = \"15s\"",
       "etc/berth.toml:2: leaderElection.renewDeadline: expected less than leaseDuration, 15s, "
       "found 15s"},
      {"leaseDuration = \"5s\"\nrenewDeadline = \"6s\"",
       "etc/berth.toml:3: leaderElection.renewDeadline: expected less than leaseDuration, 5s, "
       "found 6s"},
      {"renewDeadline = \"2.401s\"", ""},
      {"renewDeadline = \"2.4s\"",
       "etc/berth.toml:2: leaderElection.renewDeadline: expected more than 1.2 * retryPeriod, "
       "2.4s, found 2.4s"},
      {"retryPeriod = \"8.333s\"", ""},
      {"retryPeriod = \"8.334s\"",
       "etc/berth.toml:2: leaderElection.retryPeriod: expected less than renewDeadline / 1.2, "
       "8.333333333s, found 8.334s"},
      {"renewDeadline = \"6s\"\nretryPeriod = \"5s\"",
       "etc/berth.toml:3: leaderElection.retryPeriod: expected less than renewDeadline / 1.2, 5s, "
       "found 5s"},
  };
  for (const Case& c : cases) {
    const std::string toml = std::string("[leaderElection]\n") + c.toml;
    EXPECT_EQ(ClusterErrors(toml), c.error) << c.toml;
    ConfigErrors errors;
    const ClusterConfig config = ReadCluster(toml, errors);
    const bool is_set = config.lease_ns.has_value() || config.renew_deadline_ns.has_value() ||
                        config.retry_ns.has_value();
    EXPECT_EQ(is_set, errors.empty()) << c.toml;
  }
}

}  // namespace
}  // namespace berth::host
