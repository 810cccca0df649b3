// Passes a recognizable secret through every way by which credentials enter the process, valid and
// broken, and searches for it in every line of the log, every error and the metrics.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/base64.h"
#include "host/base/log.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cycle/cycle_meter.h"
#include "host/http/tls_context.h"
#include "host/process/log/log_format.h"
#include "host/serve/metrics_page.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCanary = "canary-4f1d7c";

// Formats each record in every form of the log.
class AllForms final : public LogSink {
 public:
  explicit AllForms(std::string& text) : text_(text) {}

  bool IsOn(uint32_t /*level*/) const override { return true; }
  void Write(const LogRecord& record) override {
    ++records_;
    for (const LogFormat form : {LogFormat::kKlog, LogFormat::kJsonLines, LogFormat::kPlain}) {
      text_ += FormatRecord(record, form, 0, 1) + '\n';
    }
  }
  size_t records() const { return records_; }

 private:
  std::string& text_;
  size_t records_ = 0;
};

class SecretCanaryTest : public ::testing::Test {
 protected:
  static std::string Kubeconfig(const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
           "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]\n"
           "users:\n- name: u\n  user: {" +
           user + "}\n";
  }

  // Reads the kubeconfig and loads its credentials. Returns the headers; empty after an error.
  std::string Load(const std::string& user) {
    const KubeconfigFile file = {"/etc/berth/config", Kubeconfig(user)};
    const Result<ClusterAccess> access = ReadKubeconfigs({&file, 1}, {});
    if (!access.ok()) {
      Note(access.status());
      return "";
    }
    for (const std::string& warning : access->warnings) log_.Warning(warning);
    log_.Info("Starting", {{"access", access->source}});
    Credentials::Environment environment;
    environment.steady_ns = [this] { return now_ns_; };
    environment.wall_ns = [this] { return now_ns_; };
    environment.read_file = [this](const std::string&) { return file_; };
    environment.run = [this](const Subprocess&) { return plugin_; };
    CredentialLoader loader(*access, std::move(environment), TlsContext::Create, log_);
    Note(loader.Refresh(false));
    const auto credential = loader.current();
    Break(loader);
    return credential != nullptr ? std::string(credential->headers.Reveal()) : "";
  }

  // Reads again what cannot be used any more, as after a rotation, so that warnings are logged.
  void Break(CredentialLoader& loader) {
    const auto file = std::exchange(file_, std::string(kCanary) + "\x01\n");
    const auto plugin = std::exchange(plugin_, Ended(1 << 8, kCanary));
    now_ns_ += 3600 * kSecond;
    Note(loader.Refresh(true));
    file_ = Status::PermissionDenied("Permission denied");
    plugin_ = Ended(0, kCanary);
    now_ns_ += 3600 * kSecond;
    Note(loader.Refresh(true));
    file_ = file;
    plugin_ = plugin;
  }

  static Result<SubprocessResult> Ended(int status, const std::string& output) {
    SubprocessResult result;
    result.output = output;
    result.status = status;
    return result;
  }

  void Note(const Status& status) {
    if (!status.ok()) log_.Error("Cannot load the credentials", status.message());
  }

  std::string text_;
  AllForms sink_{text_};
  const Log log_{sink_, "credentials"};
  int64_t now_ns_ = 1'768'032'000 * kSecond;
  Result<std::string> file_ = std::string(kCanary);
  Result<SubprocessResult> plugin_ =
      Ended(0, std::string(R"({"apiVersion":"client.authentication.k8s.io/v1",)"
                           R"("kind":"ExecCredential","status":{"token":")") +
                   kCanary + "\"}}");
};

constexpr const char* kExec =
    "exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: Never}";

TEST_F(SecretCanaryTest, ValidSecretsReachTheHeadersAndNothingElse) {
  const std::string canary = kCanary;
  EXPECT_THAT(Load("token: " + canary), HasSubstr(canary));
  EXPECT_THAT(Load("tokenFile: token"), HasSubstr(canary));
  EXPECT_THAT(Load(kExec), HasSubstr(canary));
  EXPECT_THAT(Load("username: joe, password: " + canary), HasSubstr(EncodeBase64("joe:" + canary)));
  EXPECT_GT(sink_.records(), 8u);
  EXPECT_THAT(text_, Not(HasSubstr(canary)));
  EXPECT_THAT(text_, Not(HasSubstr(EncodeBase64("joe:" + canary))));
}

TEST_F(SecretCanaryTest, BrokenSecretsAreInNoMessage) {
  const std::string canary = kCanary;
  const std::string users[] = {
      "token: [" + canary + "]",
      "token: {a: " + canary + "}",
      "token: \"" + canary + "\\n\"",
      "password: [" + canary + "]",
      "token: " + canary + ", token: " + canary,
      "client-key-data: '" + canary + "!'",
      "client-key-data: " + EncodeBase64(canary) +
          ", client-certificate-data: " + EncodeBase64("no certificate"),
      "client-key: key, client-certificate: certificate",
      "auth-provider: {name: gcp, config: {access-token: " + canary + "}}",
      "exec: {apiVersion: v1, command: login, env: [{name: TOKEN, value: " + canary + "}]}",
      "exec: {apiVersion: v1, command: login, env: [{name: TOKEN, value: [" + canary + "]}]}"};
  for (const std::string& user : users) {
    text_.clear();
    EXPECT_EQ(Load(user), "") << user;
    EXPECT_NE(text_, "") << user;
    EXPECT_THAT(text_, Not(HasSubstr(canary))) << user;
    EXPECT_THAT(text_, Not(HasSubstr(EncodeBase64(canary)))) << user;
  }
}

TEST_F(SecretCanaryTest, TheMetricsShowNoSecretOfTheProcess) {
  MetricTable table;
  const SchedulerMetrics metrics(table);
  EXPECT_THAT(Load(kExec), HasSubstr(kCanary));
  EXPECT_THAT(MetricsPage(table, nullptr), Not(HasSubstr(kCanary)));
}

}  // namespace
}  // namespace berth::host
