#include "host/cluster/kubernetes/access/kubeconfig.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

// A kubeconfig with the members of one cluster and one user, each on a line of its own.
std::string Config(const std::string& cluster, const std::string& user = "") {
  std::string text =
      "apiVersion: v1\n"
      "kind: Config\n"
      "current-context: main\n"
      "contexts:\n"
      "- name: main\n"
      "  context: {cluster: c, user: u, namespace: team}\n"
      "clusters:\n"
      "- name: c\n"
      "  cluster:\n"
      "    server: https://10.0.0.1:6443\n";  // Line 10.
  text += cluster;
  text += "users:\n- name: u\n  user:\n";
  text += user.empty() ? "    {}\n" : user;
  return text;
}

Result<ClusterAccess> ReadOne(const std::string& text, const AccessRequest& request = {}) {
  const KubeconfigFile file = {"/etc/berth/config", text};
  return ReadKubeconfigs({&file, 1}, request);
}

ClusterAccess Access(const std::string& text, const AccessRequest& request = {}) {
  auto access = ReadOne(text, request);
  EXPECT_TRUE(access.ok()) << access.status().message();
  return access.ok() ? *std::move(access) : ClusterAccess();
}

std::string ErrorOf(const std::string& text, const AccessRequest& request = {}) {
  const auto access = ReadOne(text, request);
  EXPECT_FALSE(access.ok());
  return std::string(access.status().message());
}

TEST(Kubeconfig, ReadsContextClusterAndUser) {
  const ClusterAccess access =
      Access(Config("    tls-server-name: kubernetes\n"
                    "    certificate-authority: ca.crt\n"
                    "    proxy-url: http://joe:pw@proxy:3128\n",
                    "    client-certificate: /abs/c.crt\n"
                    "    client-key: keys/c.key\n"
                    "    tokenFile: ../token\n"
                    "    as: alice\n"
                    "    as-uid: '7'\n"
                    "    as-groups: [a, b]\n"
                    "    as-user-extra: {scopes: [x, w], other: [z]}\n"));
  EXPECT_EQ(access.endpoint.server.ToString(), "https://10.0.0.1:6443");
  EXPECT_EQ(access.endpoint.tls.server_name, "kubernetes");
  EXPECT_EQ(access.endpoint.tls.ca_file, "/etc/berth/ca.crt");
  EXPECT_FALSE(access.endpoint.tls.insecure);
  ASSERT_TRUE(access.endpoint.proxy.has_value());
  EXPECT_EQ(access.endpoint.proxy->password, "pw");
  EXPECT_EQ(access.auth.certificate_file, "/abs/c.crt");
  EXPECT_EQ(access.auth.key_file, "/etc/berth/keys/c.key");
  EXPECT_EQ(access.auth.token_file, "/etc/berth/../token");
  EXPECT_EQ(access.auth.as, "alice");
  EXPECT_EQ(access.auth.as_uid, "7");
  EXPECT_EQ(access.auth.as_groups, (std::vector<std::string>{"a", "b"}));
  const std::vector<std::pair<std::string, std::string>> extra = {
      {"scopes", "x"}, {"scopes", "w"}, {"other", "z"}};
  EXPECT_EQ(access.auth.as_extra, extra);
  EXPECT_EQ(access.ns, "team");
  EXPECT_EQ(access.source, "context main of /etc/berth/config");
  EXPECT_EQ(access.warnings, std::vector<std::string>());
}

TEST(Kubeconfig, ReadsData) {
  const ClusterAccess access = Access(Config("    certificate-authority-data: Y2E=\n",
                                             "    client-certificate-data: Y2VydA==\n"
                                             "    client-key-data: a2V5\n"
                                             "    token: abc\n"));
  EXPECT_EQ(access.endpoint.tls.ca_pem, "ca");
  EXPECT_EQ(access.auth.certificate_pem, "cert");
  EXPECT_EQ(access.auth.key_pem.Reveal(), "key");
  EXPECT_EQ(access.auth.token.Reveal(), "abc");
}

TEST(Kubeconfig, ReadsBasicAuthentication) {
  const ClusterAccess access = Access(Config("", "    username: joe\n    password: pw\n"));
  EXPECT_EQ(access.auth.user_name, "joe");
  EXPECT_EQ(access.auth.password.Reveal(), "pw");
}

TEST(Kubeconfig, ReadsAnExecPlugin) {
  const ClusterAccess access = Access(Config("",
                                             "    exec:\n"
                                             "      apiVersion: client.authentication.k8s.io/v1\n"
                                             "      command: ./bin/login\n"
                                             "      args: [--cluster, c]\n"
                                             "      env: [{name: A, value: '1'}, {name: B}]\n"
                                             "      installHint: Install it.\n"
                                             "      provideClusterInfo: true\n"
                                             "      interactiveMode: IfAvailable\n"));
  ASSERT_TRUE(access.auth.exec.has_value());
  const ExecConfig& exec = *access.auth.exec;
  EXPECT_EQ(exec.api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(exec.command, "./bin/login");
  EXPECT_EQ(exec.args, (std::vector<std::string>{"--cluster", "c"}));
  const std::vector<std::pair<std::string, std::string>> environment = {{"A", "1"}, {"B", ""}};
  EXPECT_EQ(exec.environment, environment);
  EXPECT_EQ(exec.install_hint, "Install it.");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(exec.directory, "/etc/berth");
}

TEST(Kubeconfig, TheContextSelectsTheEntries) {
  const std::string text =
      "current-context: a\n"
      "contexts:\n"
      "- {name: a, context: {cluster: one}}\n"
      "- {name: b, context: {cluster: two, user: only-name}}\n"
      "clusters:\n"
      "- {name: one, cluster: {server: 'https://one'}}\n"
      "- {name: two, cluster: {server: 'https://two'}}\n"
      "users:\n"
      "- {name: only-name}\n"
      "- {name: broken, user: {exec: 5}}\n";
  EXPECT_EQ(Access(text).endpoint.server.host, "one");
  EXPECT_EQ(Access(text).ns, "default");
  EXPECT_EQ(Access(text, {.context = "b"}).endpoint.server.host, "two");
}

struct WrongConfig {
  const char* name;
  const char* cluster;
  const char* user;
  const char* expected;  // Without the path.
};

void ExpectErrors(std::span<const WrongConfig> cases) {
  for (const WrongConfig& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string error = ErrorOf(Config(c.cluster, c.user));
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
    EXPECT_EQ(error, std::string("/etc/berth/config") + c.expected);
  }
}

TEST(Kubeconfig, ReportsWhatIsWrongWithACluster) {
  const WrongConfig cases[] = {
      {"server twice", "    server: 5\n", "",
       ": line 11, column 5: the key \"server\" occurs twice in this mapping"},
      {"CA twice", "    certificate-authority: a\n    certificate-authority-data: YQ==\n", "",
       ":12: clusters[0].cluster.certificate-authority-data: expected either "
       "certificate-authority or certificate-authority-data, found both"},
      {"CA and insecure", "    certificate-authority: a\n    insecure-skip-tls-verify: true\n", "",
       ":12: clusters[0].cluster.insecure-skip-tls-verify: expected either a certificate authority "
       "or insecure-skip-tls-verify, found both"},
      {"type of a boolean", "    insecure-skip-tls-verify: 'true'\n", "",
       ":11: clusters[0].cluster.insecure-skip-tls-verify: expected true or false, found a string"},
      {"base64", "    certificate-authority-data: '-----BEGIN'\n", "",
       ":11: clusters[0].cluster.certificate-authority-data: expected base64, found other text"},
      {"proxy without a scheme", "    proxy-url: proxy:3128\n", "",
       ":11: clusters[0].cluster.proxy-url: expected a URL that begins with http://, https:// or "
       "socks5://"},
      {"proxy", "    proxy-url: ftp://joe:secret@proxy\n", "",
       ":11: clusters[0].cluster.proxy-url: expected a URL such as https://10.0.0.1:6443, found "
       "\"ftp://...@proxy\": the scheme is not http, https or socks5"},
  };
  ExpectErrors(cases);
}

TEST(Kubeconfig, ReportsWhatIsWrongWithAUser) {
  const WrongConfig cases[] = {
      {"number as a token", "", "    token: 12345\n",
       ":14: users[0].user.token: expected a string, found a number; write it between quotes if it "
       "is a text"},
      {"certificate without key", "", "    client-certificate: a\n",
       ":14: users[0].user: expected client-key or client-key-data with the client certificate"},
      {"key without certificate", "", "    client-key-data: a2V5\n",
       ":14: users[0].user: expected client-certificate or client-certificate-data with the client "
       "key"},
      {"certificate twice", "",
       "    client-certificate: a\n    client-certificate-data: YQ==\n    client-key: a\n",
       ":15: users[0].user.client-certificate-data: expected either client-certificate or "
       "client-certificate-data, found both"},
      {"key twice", "", "    client-certificate: a\n    client-key: a\n    client-key-data: a2V5\n",
       ":16: users[0].user.client-key-data: expected either client-key or client-key-data, found "
       "both"},
      {"token and password", "", "    token: abc\n    password: secret\n",
       ":14: users[0].user: expected either a token or username and password, found both"},
      {"colon in the name", "", "    username: a:b\n",
       ":14: users[0].user.username: expected a name without a colon"},
      {"auth provider", "", "    auth-provider: {name: gcp}\n",
       ":14: users[0].user.auth-provider: this kind of credentials is not supported; use an exec "
       "credential plugin"},
      {"impersonation", "", "    as-groups: [a]\n",
       ":14: users[0].user.as: expected the user to impersonate, because as-uid, as-groups or "
       "as-user-extra is set"},
      {"list of another type", "", "    as: a\n    as-groups: [a, 5]\n",
       ":15: users[0].user.as-groups[1]: expected a string, found a number; write it between "
       "quotes if it is a text"},
      {"no list", "", "    as: a\n    as-groups: b\n",
       ":15: users[0].user.as-groups: expected a list of strings, found a string"},
  };
  ExpectErrors(cases);
}

TEST(Kubeconfig, ReportsWhatIsWrongWithAnExecPlugin) {
  const WrongConfig cases[] = {
      {"exec version", "",
       "    exec:\n      command: a\n      apiVersion: client.authentication.k8s.io/v1alpha1\n",
       ":16: users[0].user.exec.apiVersion: expected client.authentication.k8s.io/v1 or "
       "client.authentication.k8s.io/v1beta1, found \"client.authentication.k8s.io/v1alpha1\""},
      {"exec command", "", "    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n",
       ":15: users[0].user.exec.command: expected a program, found none"},
      {"exec mode of v1", "",
       "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: a\n",
       ":15: users[0].user.exec.interactiveMode: expected Never, IfAvailable or Always, found "
       "\"\""},
      {"exec with a terminal", "",
       "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: a\n"
       "      interactiveMode: Always\n",
       ":17: users[0].user.exec.interactiveMode: the plugin requires a terminal, which a scheduler "
       "does not have"},
      {"exec variable", "",
       "    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      command: a\n"
       "      env: [{name: a=b, value: secret}]\n",
       ":17: users[0].user.exec.env[0].name: expected the name of a variable, found \"a=b\""},
  };
  ExpectErrors(cases);
}

TEST(Kubeconfig, ReportsAllErrors) {
  const std::string error =
      ErrorOf(Config("    tls-server-name: []\n", "    token: 5\n    exec: 7\n"));
  EXPECT_EQ(error,
            "/etc/berth/config:11: clusters[0].cluster.tls-server-name: expected a string, found a "
            "list\n"
            "/etc/berth/config:15: users[0].user.token: expected a string, found a number; write "
            "it between quotes if it is a text\n"
            "/etc/berth/config:16: users[0].user.exec: expected a mapping, found a number; write "
            "it between quotes if it is a text");
}

TEST(Kubeconfig, ReportsMissingEntries) {
  const struct {
    const char* text;
    const char* context;
    const char* expected;
  } cases[] = {
      {"", "",
       "/etc/berth/config: current-context: expected the name of a context, found none; set it, or "
       "use --context NAME"},
      {"current-context: prod\ncontexts: [{name: prods, context: {}}]", "",
       "/etc/berth/config:1: current-context: there is no context \"prod\"; did you mean prods?"},
      {"contexts: [{name: prod, context: {}}]", "prodd",
       "/etc/berth/config: --context: there is no context \"prodd\"; did you mean prod?"},
      {"contexts: [{name: a, context: {}}]", "a",
       "/etc/berth/config:1: contexts[0].context.cluster: expected the name of a cluster, found "
       "none"},
      {"contexts: [{name: a, context: {cluster: c, user: u}}]", "a",
       "/etc/berth/config:1: contexts[0].context.cluster: there is no cluster \"c\"\n"
       "/etc/berth/config:1: contexts[0].context.user: there is no user \"u\""},
      {"contexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c, cluster: {}}]", "a",
       "/etc/berth/config:2: clusters[0].cluster.server: expected the URL of the server, found "
       "none"},
      {"contexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c}]", "a",
       "/etc/berth/config:2: clusters[0].cluster.server: expected the URL of the server, found "
       "none"},
      {"contexts:\n- {name: a, context: {}}\n- {name: a, context: {}}", "a",
       "/etc/berth/config:3: contexts[1].name: the name \"a\" occurs twice in this list\n"
       "/etc/berth/config:2: contexts[0].context.cluster: expected the name of a cluster, found "
       "none"},
      {"contexts: [5]", "a", "/etc/berth/config: --context: there is no context \"a\""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ErrorOf(c.text, {.context = c.context}), c.expected);
  }
}

TEST(Kubeconfig, RejectsOtherFiles) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"[]",
       "/etc/berth/config: expected a mapping with the keys of a kubeconfig, such as clusters, "
       "found another value"},
      {"a: 1\n---\nb: 2\n", "/etc/berth/config: expected one YAML document, found 2"},
      {"a: [", "/etc/berth/config: line "},
      {"a: 1\na: 2\n", "/etc/berth/config: line 2, column 1: the key \"a\" occurs twice"},
      {"token: 0xdeadbeefdeadbeefdeadbeef", "/etc/berth/config: line 1, column 8: \"...\" does"},
  };
  for (const auto& c : cases) {
    const std::string error = ErrorOf(c.text);
    EXPECT_TRUE(error.starts_with(c.expected)) << error;
    EXPECT_EQ(error.find("deadbeef"), std::string::npos) << error;
  }
  const std::string other =
      ErrorOf("apiVersion: v2\nkind: Pod\ncurrent-context: a\ncontexts: [{name: a}]\n");
  EXPECT_TRUE(
      other.starts_with("/etc/berth/config:1: apiVersion: expected v1, found \"v2\"\n"
                        "/etc/berth/config:2: kind: expected Config, found \"Pod\"\n"))
      << other;
}

TEST(Kubeconfig, HasALimit) {
  const std::string config = Config("");
  const std::string largest = config + std::string(kMaxKubeconfigBytes - config.size(), '\n');
  EXPECT_TRUE(ReadOne(largest).ok());
  const auto larger = ReadOne(largest + "\n");
  EXPECT_EQ(larger.status(),
            Status::OutOfRange("/etc/berth/config: expected at most 4194304 bytes, found 4194305"));
}

TEST(Kubeconfig, ReportsAtMost20Errors) {
  std::string groups = "    as: a\n    as-groups:\n";
  for (int i = 0; i < 100; ++i) groups += "    - 5\n";
  const std::string error = ErrorOf(Config("", groups));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 19);
}

TEST(Kubeconfig, WarnsOfDangerousAndUnknownFields) {
  const ClusterAccess access =
      Access(Config("    insecure-skip-tls-verify: true\n",
                    "    tokn: a\n    token: abc\n    exec: {apiVersion: "
                    "client.authentication.k8s.io/v1beta1, command: a}\n"));
  EXPECT_TRUE(access.endpoint.tls.insecure);
  EXPECT_FALSE(access.auth.exec.has_value()) << "a token has precedence, as in client-go";
  const std::vector<std::string> expected = {
      "/etc/berth/config:11: clusters[0].cluster.insecure-skip-tls-verify: the certificate of the "
      "server is not verified; anyone on the network between can read and change every request",
      "/etc/berth/config:15: users[0].user: the key \"tokn\" is not read; did you mean token?",
      "/etc/berth/config:17: users[0].user.exec: the plugin is not used, because the user has "
      "other credentials"};
  EXPECT_EQ(access.warnings, expected);
}

TEST(Kubeconfig, PlainHttpNeedsAFlag) {
  std::string text = Config("", "    token: abc\n");
  text.replace(text.find("https://10"), 8, "http://");
  EXPECT_EQ(ErrorOf(text),
            "/etc/berth/config:10: clusters[0].cluster.server: expected https, found "
            "http://10.0.0.1:6443; use --allow-plain-http if no other party can read the network "
            "between");
  const ClusterAccess access = Access(text, {.allow_plain_http = true});
  ASSERT_EQ(access.warnings.size(), 1U);
  EXPECT_EQ(access.warnings[0],
            "/etc/berth/config:14: users[0].user: the credentials are sent over plain HTTP; anyone "
            "on the network between can read them");
}

TEST(Kubeconfig, RefusesUserInTheUrlOfTheServer) {
  constexpr const char* kError =
      "expected a URL without a user and a password, found https://10.0.0.1:6443 with them; remove "
      "them, and set a token, a client certificate, or username and password in the user of a "
      "kubeconfig";
  std::string text = Config("", "    token: abc\n");
  text.replace(text.find("https://10"), 8, "https://joe:secret@");
  EXPECT_EQ(ErrorOf(text),
            std::string("/etc/berth/config:10: clusters[0].cluster.server: ") + kError);
  EXPECT_EQ(ErrorOf(Config(""), {.server = "https://joe:secret@10.0.0.1:6443"}),
            std::string("--master: ") + kError);
}

TEST(Kubeconfig, MasterReplacesTheServer) {
  const ClusterAccess access = Access(Config("", "    token: abc\n"), {.server = "https://other"});
  EXPECT_EQ(access.endpoint.server.ToString(), "https://other:443");
  EXPECT_EQ(access.auth.token.Reveal(), "abc");
  EXPECT_EQ(ErrorOf(Config(""), {.server = "http://other"}),
            "--master: expected https, found http://other:80; use --allow-plain-http if no other "
            "party can read the network between");
  EXPECT_TRUE(ErrorOf(Config(""), {.server = "ftp://other"}).starts_with("--master: expected a"));
}

}  // namespace
}  // namespace berth::host
