#include "host/process/assemble/cluster_session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/api_server/loopback_server.h"
#include "tests/harness/paths.h"
#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

TEST(ReadAccessFileTest, ReadsUpToLimitAndOneByteMore) {
  const TemporaryFolder folder;
  const std::string path = folder.At("config");
  for (const size_t size : {size_t{0}, size_t{5}, kMaxKubeconfigBytes}) {
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    const Result<std::string> text = ReadAccessFile(path);
    ASSERT_TRUE(text.ok()) << text.status().message();
    EXPECT_EQ(text->size(), size);
    EXPECT_LE(text->capacity(), std::max(2 * size, size_t{64})) << "a certificate is kept";
  }
  std::ofstream(path, std::ios::binary) << std::string(kMaxKubeconfigBytes + 10, 'x');
  const Result<std::string> text = ReadAccessFile(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->size(), kMaxKubeconfigBytes + 1);
}

TEST(ReadAccessFileTest, DistinguishesWhyAFileCannotBeRead) {
  const TemporaryFolder folder;
  const std::string file = folder.At("token");
  std::ofstream(file) << "secret";
  struct Case {
    std::string path;
    ErrorCode code;
    const char* message;
  };
  std::vector<Case> cases = {
      {folder.At("absent"), ErrorCode::kNotFound, "No such file or directory"},
      {file + "/below", ErrorCode::kNotFound, "Not a directory"},
      {folder.path(), ErrorCode::kInvalidArgument, "Is a directory"},
      {folder.At(std::string(300, 'n')), ErrorCode::kInvalidArgument, "File name too long"},
  };
  if (geteuid() != 0) {  // The superuser may read every file.
    ASSERT_EQ(chmod(file.c_str(), 0), 0);
    cases.push_back({file, ErrorCode::kPermissionDenied, "Permission denied"});
  }
  for (const Case& c : cases) {
    const Result<std::string> text = ReadAccessFile(c.path);
    ASSERT_FALSE(text.ok()) << c.path;
    EXPECT_EQ(text.status().code(), c.code) << c.path;
    EXPECT_EQ(text.status().message(), c.message) << c.path;
  }
}

TEST(FindClusterAccessTest, TheCommandLineHasPrecedence) {
  std::string path;
  ClusterTarget target;
  target.environment.variable = [](const std::string&) { return std::nullopt; };
  target.environment.read_file = [&path](const std::string& its_path) -> Result<std::string> {
    path = its_path;
    return Status::NotFound("no such file");
  };
  ClusterConfig config;
  const auto path_for = [&](const std::string& given) {
    target.access.kubeconfig = given;
    EXPECT_FALSE(FindClusterAccess(target, config).ok());
    return path;
  };
  EXPECT_EQ(path_for("/given"), "/given");
  config.kubeconfig = "/of/host/file";
  EXPECT_EQ(path_for("/given"), "/given");
  EXPECT_EQ(path_for(""), "/of/host/file");
}

TEST(ElectionOptionsOfTest, HasTheDefaultsOfKubeScheduler) {
  const ElectionOptions options = ElectionOptionsOf({});
  EXPECT_EQ(options.ns, "kube-system");
  EXPECT_EQ(options.name, "kube-scheduler");
  EXPECT_EQ(options.lease_ns, 15 * kSecond);
  EXPECT_EQ(options.renew_deadline_ns, 10 * kSecond);
  EXPECT_EQ(options.retry_ns, 2 * kSecond);
  EXPECT_EQ(options.stall_limit_ns, 120 * kSecond);
  EXPECT_EQ(options.identity, "");
}

TEST(ElectionOptionsOfTest, TakesEachKeyOfTheHostFile) {
  ClusterConfig config;
  config.lease_namespace = "berth";
  config.lease_name = "acme";
  config.lease_ns = 6 * kSecond;
  config.renew_deadline_ns = 4 * kSecond;
  config.retry_ns = kSecond;
  config.stall_limit_ns = 0;
  const ElectionOptions options = ElectionOptionsOf(config);
  EXPECT_EQ(options.ns, "berth");
  EXPECT_EQ(options.name, "acme");
  EXPECT_EQ(options.lease_ns, 6 * kSecond);
  EXPECT_EQ(options.renew_deadline_ns, 4 * kSecond);
  EXPECT_EQ(options.retry_ns, kSecond);
  EXPECT_EQ(options.stall_limit_ns, 0);
}

TEST(MaxOpenBindingsTest, KeepsEachConnectionBusy) {
  ClusterConfig config;
  EXPECT_EQ(MaxOpenBindings(config), 128U);
  for (const uint32_t connections : {1U, 1024U}) {
    config.connections = connections;
    EXPECT_EQ(MaxOpenBindings(config), size_t{2} * connections);
  }
}

TEST(UserAgentOfTest, NamesTheVersionAndTheMachine) {
  EXPECT_THAT(UserAgentOf("1.2.3"), ::testing::MatchesRegex("berth/1\\.2\\.3 .linux/[a-z0-9]+."));
}

class UnusedDriver final : public Driver {
 public:
  using Driver::Driver;

 private:
  bool IsDone() override { return true; }
  bool RunRound() override { return false; }
  void Wait() override {}
};

TEST(ClusterSessionTest, RequestsNameTheUserAgent) {
  std::promise<std::string> received;
  std::atomic<bool> has_received = false;
  const LoopbackServer server({.tls = false}, [&](LoopbackServer::Peer& peer, size_t) {
    std::string request;
    if (!peer.ReadRequest(request)) return;
    if (!has_received.exchange(true)) received.set_value(request);
    peer.Write(HttpAnswer(200, "{}"));
  });
  const TemporaryFolder folder;
  std::ofstream(folder.At("profile.toml"))
      << "schedulerName = \"acme\"\n[[plugins]]\nname = \"PrioritySort\"\n"
         "[[plugins]]\nname = \"DefaultBinder\"\n";
  ClusterProcessOptions options;
  options.config.profiles = {folder.At("profile.toml")};
  options.config.plugin_directories = {DefaultPluginDirectory()};
  options.temporary_directory = ::testing::TempDir();
  options.steady_ns = [] {
    return int64_t{std::chrono::steady_clock::now().time_since_epoch() /
                   std::chrono::nanoseconds(1)};
  };
  options.wall_ns = options.steady_ns;
  options.target.access = {.server = "http://127.0.0.1:" + std::to_string(server.port())};
  options.target.environment = {.variable = [](const std::string&) { return std::nullopt; },
                                .read_file = ReadAccessFile};
  options.target.credentials.steady_ns = options.steady_ns;
  options.target.credentials.wall_ns = options.wall_ns;
  options.target.credentials.read_file = ReadAccessFile;
  options.target.user_agent = "berth/test (linux)";
  TransportObserver observer;
  UnusedDriver driver{nullptr};
  ClusterSession session(options,
                         {.logger = "test", .log_level = BERTH_LOG_ERROR, .reloads = false}, driver,
                         options.steady_ns);
  ASSERT_TRUE(session.Open().ok());
  const Result<ClusterAccess> access = session.FindAccess();
  ASSERT_TRUE(access.ok()) << access.status().ToString();
  ASSERT_TRUE(session.Connect(*access, {}, observer).ok());
  session.client().Request({.verb = "GET", .path = "/version", .body = ""},
                           [](const ApiResponse&) {});
  EXPECT_THAT(received.get_future().get(), ::testing::HasSubstr("User-Agent: berth/test (linux)"));
}

}  // namespace
}  // namespace berth::host
