#include <signal.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/access/credentials.h"

namespace berth::host {
namespace {

constexpr int64_t kWallStart = 1'768'032'000 * kSecond;

// A machine with files, a plugin and clocks. TLS contexts are recorded instead of made.
class CredentialLoaderTest : public testing::Test {
 protected:
  CredentialLoaderTest() {
    access_.endpoint.server = *ServerUrl::Parse("https://10.0.0.1:6443", "server");
    access_.source = "context main";
  }

  CredentialLoader& Loader() {
    if (loader_ != nullptr) return *loader_;
    Credentials::Environment environment;
    environment.steady_ns = [this] { return now_ns_; };
    environment.wall_ns = [this] { return kWallStart + now_ns_; };
    environment.read_file = [this](const std::string& path) -> Result<std::string> {
      const auto found = files_.find(path);
      if (found == files_.end()) return Status::NotFound("No such file or directory");
      return found->second;
    };
    environment.run = [this](const Subprocess& what) -> Result<SubprocessResult> {
      ++runs_;
      last_run_ = what;
      return plugin_;
    };
    environment.variables = {"PATH=/bin"};
    const auto make_tls =
        [this](const TlsSettings& settings, const std::string& host,
               const ClientCertificate& certificate) -> Result<std::shared_ptr<const TlsContext>> {
      EXPECT_EQ(host, "10.0.0.1");
      contexts_.push_back(settings.ca_pem + "|" + certificate.chain_pem + "|" +
                          std::string(certificate.key_pem.Reveal()));
      if (!tls_error_.ok()) return tls_error_;
      return std::shared_ptr<const TlsContext>();
    };
    loader_ = std::make_unique<CredentialLoader>(access_, environment, make_tls, Log());
    return *loader_;
  }

  std::string Headers() { return std::string(Loader().current()->headers.Reveal()); }

  void SetPlugin(const std::string& status) {
    access_.auth.exec.emplace();
    access_.auth.exec->api_version = "client.authentication.k8s.io/v1";
    access_.auth.exec->command = "login";
    Print(status);
  }
  void Print(const std::string& status) {
    SubprocessResult result;
    result.output =
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
        status + "}";
    plugin_ = std::move(result);
  }

  ClusterAccess access_;
  std::map<std::string, std::string> files_;
  int64_t now_ns_ = kHour;
  Result<SubprocessResult> plugin_ = SubprocessResult();
  int runs_ = 0;
  Subprocess last_run_;
  std::vector<std::string> contexts_;
  Status tls_error_;
  std::unique_ptr<CredentialLoader> loader_;
};

// ---- Headers ------------------------------------------------------------------------------------

TEST(CredentialHeaders, AreCompleteLines) {
  AuthConfig auth;
  EXPECT_EQ(CredentialHeaders(auth, {})->Reveal(), "");

  auth.user_name = "joe";
  auth.password = Secret("pw");
  EXPECT_EQ(CredentialHeaders(auth, {})->Reveal(), "Authorization: Basic am9lOnB3\r\n");

  auth.token = Secret("static");
  EXPECT_EQ(CredentialHeaders(auth, {})->Reveal(), "Authorization: Bearer static\r\n");
  EXPECT_EQ(CredentialHeaders(auth, Secret("new"))->Reveal(), "Authorization: Bearer new\r\n");

  AuthConfig as;
  as.as = "alice";
  as.as_uid = "7";
  as.as_groups = {"a", "b"};
  as.as_extra = {{"scopes", "x"}, {"acme.com/é:%", "y"}};
  EXPECT_EQ(CredentialHeaders(as, {})->Reveal(),
            "Impersonate-User: alice\r\n"
            "Impersonate-Uid: 7\r\n"
            "Impersonate-Group: a\r\n"
            "Impersonate-Group: b\r\n"
            "Impersonate-Extra-scopes: x\r\n"
            "Impersonate-Extra-acme.com%2F%C3%A9%3A%25: y\r\n");
}

TEST(CredentialHeaders, RejectValuesThatWouldAddHeaders) {
  for (const char* value : {"a\r\nX: y", "a\nb", "a\rb", "a\x7f", "a\x01"}) {
    AuthConfig auth;
    auth.token = Secret(value);
    EXPECT_EQ(CredentialHeaders(auth, {}).status(),
              Status::InvalidArgument("Authorization: expected a text without line ends and other "
                                      "control characters"));
    AuthConfig as;
    as.as = "a";
    as.as_groups = {value};
    EXPECT_EQ(CredentialHeaders(as, {}).status().code(), ErrorCode::kInvalidArgument);
  }
  AuthConfig auth;
  auth.as = "\ttab and ä";
  EXPECT_TRUE(CredentialHeaders(auth, {}).ok());
}

// ---- Files --------------------------------------------------------------------------------------

TEST_F(CredentialLoaderTest, StaticCredentialsNeverChange) {
  access_.auth.token = Secret("abc");
  access_.endpoint.tls.ca_pem = "ca";
  access_.auth.certificate_pem = "cert";
  access_.auth.key_pem = Secret("key");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  const auto first = Loader().current();
  EXPECT_EQ(first->generation, 1U);
  EXPECT_EQ(first->expires_ns, 0);
  EXPECT_EQ(Headers(), "Authorization: Bearer abc\r\n");
  EXPECT_EQ(contexts_, std::vector<std::string>{"ca|cert|key"});
  EXPECT_TRUE(Loader().Refresh(true).ok());
  EXPECT_EQ(Loader().current(), first);
  EXPECT_EQ(contexts_.size(), 1U);
}

TEST_F(CredentialLoaderTest, PlainHttpHasNoTls) {
  access_.endpoint.server = *ServerUrl::Parse("http://127.0.0.1:8080", "server");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Loader().current()->tls, nullptr);
  EXPECT_EQ(contexts_, std::vector<std::string>());
}

TEST_F(CredentialLoaderTest, FollowsARotatedToken) {
  access_.auth.token_file = "/token";
  access_.auth.token = Secret("unused");
  files_["/token"] = "one\n";
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Headers(), "Authorization: Bearer one\r\n");
  EXPECT_EQ(Loader().next_ns(), now_ns_ + kMinute);

  files_["/token"] = "two";
  now_ns_ += kMinute;
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Headers(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(Loader().current()->generation, 2U);
  EXPECT_EQ(contexts_.size(), 1U) << "another token needs no new connection";
  EXPECT_EQ(Loader().next_ns(), now_ns_ + kMinute);
}

TEST_F(CredentialLoaderTest, KeepsOldTokenIfFileCannotBeRead) {
  access_.auth.token_file = "/token";
  files_["/token"] = "one";
  ASSERT_TRUE(Loader().Refresh(false).ok());
  for (const char* text : {"", " \n", "two\nlines"}) {
    files_["/token"] = text;
    EXPECT_EQ(Loader().Refresh(false).code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_EQ(Headers(), "Authorization: Bearer one\r\n");
  }
  files_.erase("/token");
  EXPECT_EQ(Loader().Refresh(true),
            Status::NotFound("the token file /token: No such file or directory"));
  EXPECT_EQ(Loader().current()->generation, 1U);
}

TEST_F(CredentialLoaderTest, AnErrorAtTheStartLeavesNoCredential) {
  access_.auth.token_file = "/token";
  EXPECT_EQ(Loader().Refresh(false),
            Status::NotFound("the token file /token: No such file or directory"));
  EXPECT_EQ(Loader().current(), nullptr);
  files_["/token"] = "one";
  EXPECT_TRUE(Loader().Refresh(false).ok());
  EXPECT_NE(Loader().current(), nullptr);
}

TEST_F(CredentialLoaderTest, FollowsRotatedCertificates) {
  access_.endpoint.tls.ca_file = "/ca";
  access_.auth.certificate_file = "/cert";
  access_.auth.key_file = "/key";
  files_ = {{"/ca", "ca"}, {"/cert", "cert"}, {"/key", "key"}};
  ASSERT_TRUE(Loader().Refresh(false).ok());
  files_["/ca"] = "ca2";
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Loader().current()->generation, 2U);

  // The certificate is written before its key.
  files_["/cert"] = "cert2";
  tls_error_ = Status::InvalidArgument("the key does not belong to the certificate");
  EXPECT_EQ(Loader().Refresh(false), tls_error_);
  EXPECT_EQ(Loader().current()->generation, 2U);

  files_["/key"] = "key2";
  tls_error_ = Status();
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Loader().current()->generation, 3U);
  const std::vector<std::string> expected = {"ca|cert|key", "ca2|cert|key", "ca2|cert2|key",
                                             "ca2|cert2|key2"};
  EXPECT_EQ(contexts_, expected);
}

TEST_F(CredentialLoaderTest, FollowsARotatedTokenDespiteAnUnusableCa) {
  access_.endpoint.tls.ca_file = "/ca";
  access_.auth.token_file = "/token";
  files_ = {{"/ca", "ca"}, {"/token", "one"}};
  ASSERT_TRUE(Loader().Refresh(false).ok());
  files_ = {{"/ca", "half of a CA"}, {"/token", "two"}};
  tls_error_ = Status::InvalidArgument("/ca: expected certificates in PEM, found other text");
  EXPECT_EQ(Loader().Refresh(false), tls_error_);
  EXPECT_EQ(Headers(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(Loader().current()->generation, 2U);

  files_["/ca"] = "ca2";
  tls_error_ = Status();
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(contexts_, (std::vector<std::string>{"ca||", "half of a CA||", "ca2||"}));
}

TEST_F(CredentialLoaderTest, FileThatFailsDoesNotStopTheOthers) {
  access_.auth.token_file = "/token";
  access_.endpoint.tls.ca_file = "/ca";
  files_ = {{"/ca", "ca"}, {"/token", "one"}};
  ASSERT_TRUE(Loader().Refresh(false).ok());
  files_ = {{"/ca", " "}, {"/token", "two"}};
  EXPECT_EQ(Loader().Refresh(false), Status::InvalidArgument("/ca: the file is empty"));
  EXPECT_EQ(Headers(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(contexts_.size(), 1U) << "the old CA stays";
}

// ---- Plugins ------------------------------------------------------------------------------------

TEST_F(CredentialLoaderTest, RunsThePluginAtTheStart) {
  SetPlugin(R"({"token":"one","clientCertificateData":"cert","clientKeyData":"key"})");
  access_.auth.exec->provide_cluster_info = true;
  access_.endpoint.tls.ca_file = "/ca";
  files_["/ca"] = "ca";
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Headers(), "Authorization: Bearer one\r\n");
  EXPECT_EQ(contexts_, std::vector<std::string>{"ca|cert|key"});
  EXPECT_EQ(last_run_.program, "login");
  ASSERT_EQ(last_run_.environment.size(), 2U);
  EXPECT_NE(last_run_.environment[1].find("Y2E="), std::string::npos)
      << "the CA of the file: " << last_run_.environment[1];

  now_ns_ += kHour;
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(runs_, 1) << "the credential does not expire";
}

TEST_F(CredentialLoaderTest, KubeconfigCertificatePrecedesThatOfThePlugin) {
  struct Case {
    const char* name;
    const char* status;
  };
  const Case cases[] = {
      {"the plugin returns a token", R"({"token":"one"})"},
      {"the plugin returns both",
       R"({"token":"one","clientCertificateData":"other","clientKeyData":"other"})"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SetPlugin(c.status);
    access_.auth.certificate_pem = "cert";
    access_.auth.key_file = "/key";
    files_["/key"] = "key";
    contexts_.clear();
    loader_.reset();
    ASSERT_TRUE(Loader().Refresh(false).ok());
    EXPECT_EQ(Headers(), "Authorization: Bearer one\r\n");
    EXPECT_EQ(contexts_, std::vector<std::string>{"|cert|key"});
  }
}

TEST_F(CredentialLoaderTest, RunsThePluginTenSecondsBeforeTheExpiry) {
  const std::string expiry = FormatTime(kWallStart + now_ns_ + 40 * kSecond);
  SetPlugin(R"({"token":"one","expirationTimestamp":")" + expiry + "\"}");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Loader().current()->expires_ns, kWallStart + now_ns_ + 40 * kSecond);
  EXPECT_EQ(Loader().next_ns(), now_ns_ + 30 * kSecond);
  Print(R"({"token":"two"})");

  now_ns_ += 30 * kSecond - 1;
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(runs_, 1);
  now_ns_ += 1;
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(Headers(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(Loader().next_ns(), now_ns_ + kMinute);
}

TEST_F(CredentialLoaderTest, RunsThePluginAfterA401) {
  SetPlugin(R"({"token":"one"})");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  Print(R"({"token":"two"})");
  now_ns_ += 10 * kSecond - 1;
  EXPECT_EQ(Loader().Refresh(true),
            Status::Unavailable("login: the credential plugin was run less than 10s ago"));
  now_ns_ += 1;
  EXPECT_TRUE(Loader().Refresh(true).ok());
  EXPECT_EQ(Headers(), "Authorization: Bearer two\r\n");
  EXPECT_EQ(runs_, 2);
}

TEST_F(CredentialLoaderTest, PausesForAPluginThatReturnsExpiredTokens) {
  SetPlugin(R"({"token":"one","expirationTimestamp":"2020-01-01T00:00:00Z"})");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(Loader().next_ns(), now_ns_ + 10 * kSecond);
  EXPECT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(runs_, 1);
  now_ns_ += 10 * kSecond;
  EXPECT_TRUE(Loader().Refresh(false).ok());
  EXPECT_EQ(runs_, 2);
}

TEST_F(CredentialLoaderTest, APluginThatFailsLeavesTheOldCredential) {
  const std::string expiry = FormatTime(kWallStart + now_ns_ + 40 * kSecond);
  SetPlugin(R"({"token":"one","expirationTimestamp":")" + expiry + "\"}");
  ASSERT_TRUE(Loader().Refresh(false).ok());
  now_ns_ += 30 * kSecond;
  plugin_ = Status::Unavailable("login: the program did not end within 30000ms");
  EXPECT_EQ(Loader().Refresh(false).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(Headers(), "Authorization: Bearer one\r\n");
  EXPECT_EQ(Loader().next_ns(), now_ns_ + 10 * kSecond) << "the plugin is tried again";
}

TEST_F(CredentialLoaderTest, ReportsWhyThePluginFailed) {
  const auto ended = [](int status, const std::string& errors) {
    SubprocessResult result;
    result.output = "canary";
    result.errors = errors;
    result.status = status;
    return result;
  };
  const struct {
    Result<SubprocessResult> result;
    ErrorCode code;
    const char* message;
  } cases[] = {
      {Status::NotFound("no such program"), ErrorCode::kNotFound,
       "login: no such program\nGet it from https://...@sso/get?..."},
      {Status::PermissionDenied("Permission denied"), ErrorCode::kPermissionDenied,
       "login: Permission denied"},
      {ended(1 << 8, "not logged in\n"), ErrorCode::kUnavailable,
       "login: the program ended with status 1: \"not logged in\""},
      {ended(1 << 8, "GET https://joe:pw@sso/a?token=b: 403, access_token=abc"),
       ErrorCode::kUnavailable,
       "login: the program ended with status 1: \"GET https://...@sso/a?... 403, "
       "access_token=...\""},
      {ended(2 << 8, ""), ErrorCode::kUnavailable, "login: the program ended with status 2"},
      {ended(SIGKILL, ""), ErrorCode::kUnavailable, "login: the program was ended by SIGKILL"},
      {ended(0, ""), ErrorCode::kUnavailable,
       "login: expected an ExecCredential as JSON, found other text"},
  };
  SetPlugin("{}");
  access_.auth.exec->install_hint = "Get it from https://joe:pw@sso/get?token=b";
  for (const auto& c : cases) {
    plugin_ = c.result;
    EXPECT_EQ(Loader().Refresh(false), Status(c.code, c.message));
    EXPECT_EQ(Loader().current(), nullptr);
  }
}

}  // namespace
}  // namespace berth::host
