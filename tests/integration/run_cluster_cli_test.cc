// `berth run` on a real cluster: the errors that end it before it connects.
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

constexpr const char* kKubeconfig = R"(apiVersion: v1
kind: Config
current-context: test
contexts:
- name: test
  context: {cluster: test, user: test}
clusters:
- name: test
  cluster: {server: "SERVER"}
users:
- name: test
  user: {token: secret}
)";

class RunClusterCliTest : public CliTest {
 protected:
  std::string Kubeconfig(const std::string& server) {
    std::string text = kKubeconfig;
    text.replace(text.find("SERVER"), 6, server);
    return File("kubeconfig", text);
  }
};

TEST_F(RunClusterCliTest, RefusesAnInvalidAccess) {
  struct Case {
    std::string name;
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"no access", {}, "no kubeconfig: use --kubeconfig FILE, set KUBECONFIG, or run in a pod"},
      {"no file", {"--kubeconfig", folder_ + "/none"}, folder_ + "/none: "},
      {"empty path", {"--kubeconfig", ""}, "expected the path of a file"},
      {"no such context",
       {"--kubeconfig", Kubeconfig("https://127.0.0.1:1"), "--context", "tset"},
       "there is no context \"tset\"; did you mean test?"},
      {"unknown log format",
       {"--kubeconfig", Kubeconfig("https://127.0.0.1:1"), "--log-format", "xml"},
       "--log-format"},
      {"host file", {"--config", folder_ + "/none.toml"}, folder_ + "/none.toml: "},
  };
  for (const Case& c : cases) {
    std::vector<std::string> args = {"run"};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 2) << c.name;
    EXPECT_THAT(run.err, HasSubstr(c.message)) << c.name;
    EXPECT_EQ(run.out, "") << c.name;
  }
}

TEST_F(RunClusterCliTest, MissingTokenFileIsOneError) {
  std::string text = kKubeconfig;
  text.replace(text.find("SERVER"), 6, "https://127.0.0.1:1");
  text.replace(text.find("token: secret"), 13, "tokenFile: none");
  const std::string error =
      "berth: the token file " + folder_ + "/none: No such file or directory\n";
  for (const char* command : {"run", "shadow"}) {
    std::vector<std::string> args = {command, "--kubeconfig", File("kubeconfig", text)};
    if (args.front() == "run") args.insert(args.end(), {"--http-address", "none"});
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 2) << command;
    EXPECT_EQ(run.err, error) << command;
  }
}

TEST_F(RunClusterCliTest, RefusesPlainHttpToAnotherMachine) {
  const Outcome run = Run({"run", "--kubeconfig", Kubeconfig("http://10.0.0.1:8080")});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("expected https, found http://10.0.0.1:8080"));
  EXPECT_THAT(run.err, HasSubstr("--allow-plain-http"));
}

}  // namespace
}  // namespace berth::host
