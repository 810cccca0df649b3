#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time.h"
#include "host/cluster/kubernetes/access/credentials.h"

namespace berth::host {
namespace {

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

ExecConfig Plugin(const std::string& command = "login") {
  ExecConfig config;
  config.api_version = kV1;
  config.command = command;
  return config;
}

Endpoint Server() {
  Endpoint endpoint;
  endpoint.server = *ServerUrl::Parse("https://10.0.0.1:6443", "server");
  return endpoint;
}

std::string Output(const std::string& status) {
  return std::string(R"({"kind":"ExecCredential","apiVersion":")") + kV1 + R"(","status":)" +
         status + "}";
}

TEST(ExecInfo, ContainsClusterOnlyIfPluginAsksForIt) {
  Endpoint endpoint = Server();
  endpoint.tls.ca_pem = "ca";
  endpoint.tls.server_name = "kubernetes";
  endpoint.proxy = *ServerUrl::Parse("http://joe:secret@proxy:3128", "proxy");
  ExecConfig config = Plugin();
  EXPECT_EQ(ExecInfo(config, endpoint),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
  config.provide_cluster_info = true;
  EXPECT_EQ(ExecInfo(config, endpoint),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"cluster":{"server":"https://10.0.0.1:6443",)"
            R"("tls-server-name":"kubernetes","certificate-authority-data":"Y2E=",)"
            R"("proxy-url":"http://proxy:3128"},"interactive":false}})");
  Endpoint insecure = Server();
  insecure.tls.insecure = true;
  EXPECT_EQ(ExecInfo(config, insecure),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"cluster":{"server":"https://10.0.0.1:6443",)"
            R"("insecure-skip-tls-verify":true},"interactive":false}})");
}

TEST(ExecCommand, RelativePathBelongsToFolderOfTheKubeconfig) {
  const struct {
    const char* command;
    const char* directory;
    const char* program;
  } cases[] = {{"login", "/etc/berth", "login"},
               {"./bin/login", "/etc/berth", "/etc/berth/./bin/login"},
               {"bin/login", "/etc/berth", "/etc/berth/bin/login"},
               {"bin/login", "", "bin/login"},
               {"/bin/login", "/etc/berth", "/bin/login"}};
  for (const auto& c : cases) {
    ExecConfig config = Plugin(c.command);
    config.directory = c.directory;
    EXPECT_EQ(ExecCommand(config, Server(), {}).program, c.program);
  }
}

TEST(ExecCommand, ReplacesVariables) {
  ExecConfig config = Plugin();
  config.args = {"--cluster", "c"};
  config.environment = {{"A", "1"}, {"B", "2"}, {"A", "3"}};
  const std::vector<std::string> variables = {"PATH=/bin", "A=0", "AA=0",
                                              "KUBERNETES_EXEC_INFO=old"};
  const Subprocess what = ExecCommand(config, Server(), variables);
  EXPECT_EQ(what.arguments, config.args);
  const std::vector<std::string> expected = {"PATH=/bin", "AA=0", "B=2", "A=3",
                                             "KUBERNETES_EXEC_INFO=" + ExecInfo(config, Server())};
  EXPECT_EQ(what.environment, expected);
  EXPECT_GT(what.limit_ns, 0);
}

TEST(ReadExecCredential, ReadsTokenCertificateAndExpiry) {
  const auto token = ReadExecCredential(
      Output(R"({"token":"abc","expirationTimestamp":"2026-01-10T08:00:00Z"})"), Plugin());
  ASSERT_TRUE(token.ok()) << token.status().message();
  EXPECT_EQ(token->token.Reveal(), "abc");
  EXPECT_TRUE(token->certificate.empty());
  EXPECT_EQ(token->expires_ns, *ParseTime("2026-01-10T08:00:00Z"));

  const auto certificate = ReadExecCredential(
      Output(R"({"token":null,"clientCertificateData":"chain","clientKeyData":"key"})"), Plugin());
  ASSERT_TRUE(certificate.ok()) << certificate.status().message();
  EXPECT_TRUE(certificate->token.empty());
  EXPECT_EQ(certificate->certificate.chain_pem, "chain");
  EXPECT_EQ(certificate->certificate.key_pem.Reveal(), "key");
  EXPECT_EQ(certificate->expires_ns, 0);
}

TEST(ReadExecCredential, ATimeBefore1970HasPassed) {
  for (const char* time : {"1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"}) {
    const auto credential = ReadExecCredential(
        Output(std::string(R"({"token":"a","expirationTimestamp":")") + time + "\"}"), Plugin());
    ASSERT_TRUE(credential.ok()) << credential.status().message();
    EXPECT_EQ(credential->expires_ns, 1) << time;
  }
}

TEST(ReadExecCredential, RejectsOtherOutputWithoutRepeatingIt) {
  const std::string other_version =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
      R"("status":{"token":"canary"}})";
  const struct {
    std::string output;
    const char* error;
  } cases[] = {
      {"", "expected an ExecCredential as JSON, found other text"},
      {"canary", "expected an ExecCredential as JSON, found other text"},
      {Output(R"({"token":"canary"})") + "canary",
       "expected an ExecCredential as JSON, found other text"},
      {"[\"canary\"]", "expected an ExecCredential as JSON, found other text"},
      {R"({"kind":"canary"})", "kind: expected ExecCredential, found another value"},
      {R"({"kind":5})", "kind: expected ExecCredential, found another value"},
      {other_version,
       "apiVersion: expected client.authentication.k8s.io/v1 as in the kubeconfig, found another "
       "value"},
      {Output("null"), "status: expected an object, found none"},
      {Output("\"canary\""), "status: expected an object, found none"},
      {Output("{}"), "status: expected a token or a client certificate, found none"},
      {Output(R"({"token":""})"), "status: expected a token or a client certificate, found none"},
      {Output(R"({"token":["canary"]})"), "status.token: expected a string, found another value"},
      {Output(R"({"token":"canary","clientKeyData":"canary"})"),
       "status: expected clientCertificateData and clientKeyData, found only one of them"},
      {Output(R"({"clientCertificateData":"canary"})"),
       "status: expected clientCertificateData and clientKeyData, found only one of them"},
      {Output(R"({"token":"canary","expirationTimestamp":"canary"})"),
       "status.expirationTimestamp: expected a time such as 2026-01-10T08:00:00Z, found other "
       "text"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ReadExecCredential(c.output, Plugin()).status(), Status::InvalidArgument(c.error))
        << c.output;
  }
}

}  // namespace
}  // namespace berth::host
