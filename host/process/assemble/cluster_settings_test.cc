#include "host/process/assemble/cluster_settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(WithHostFileTest, TheCommandLineHasPrecedence) {
  ClusterConfig config;
  EXPECT_EQ(WithHostFile({.kubeconfig = "given"}, config).kubeconfig, "given");
  EXPECT_EQ(WithHostFile({}, config).kubeconfig, "");
  config.kubeconfig = "configured";
  EXPECT_EQ(WithHostFile({.kubeconfig = "given"}, config).kubeconfig, "given");
  const AccessRequest request = WithHostFile({.context = "prod", .allow_plain_http = true}, config);
  EXPECT_EQ(request.kubeconfig, "configured");
  EXPECT_EQ(request.context, "prod");
  EXPECT_TRUE(request.allow_plain_http);
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

}  // namespace
}  // namespace berth::host
