// The flags of commands that look at a real cluster, and what berth says about mistakes in them.
#include <chrono>
#include <string>
#include <vector>

#include "tests/harness/api_server/loopback_server.h"
#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kLiveKubeconfig = R"(
apiVersion: v1
kind: Config
current-context: e2e
clusters: [{name: e2e, cluster: {server: "SERVER"}}]
users: [{name: user, user: {token: secret-token}}]
contexts: [{name: e2e, context: {cluster: e2e, user: user}}]
)";

class LiveCliTest : public CliTest {
 protected:
  std::string Kubeconfig(const std::string& server) {
    std::string text = kLiveKubeconfig;
    return File("kubeconfig", text.replace(text.find("SERVER"), 6, server));
  }
  // No process listens at this port, which needs privileges that tests do not have.
  static constexpr const char* kNobody = "http://127.0.0.1:1";
};

TEST_F(LiveCliTest, CommandsNeedOneSource) {
  const std::string kubeconfig = Kubeconfig(kNobody);
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  std::vector<Case> cases;
  for (const std::string command : {"simulate", "explain"}) {
    const auto with = [&command](std::vector<std::string> more) {
      std::vector<std::string> args = {command};
      if (command == "explain") args.insert(args.end(), {"--pod", "web"});
      args.insert(args.end(), more.begin(), more.end());
      return args;
    };
    cases.push_back({with({}), command +
                                   ": expected --cluster FILE or --kubeconfig FILE, found no "
                                   "source of pods and nodes (see berth " +
                                   command + " --help)"});
    cases.push_back({with({"--cluster", kSmall, "--kubeconfig", kubeconfig}),
                     command +
                         ": expected --cluster or --kubeconfig, found both: the pods and nodes "
                         "come from files, or from a real cluster"});
    cases.push_back({with({"--cluster", kSmall, "--context", "e2e"}),
                     command + ": expected --kubeconfig FILE with --context, found none"});
    cases.push_back({with({"--allow-plain-http"}),
                     command + ": expected --kubeconfig FILE with --allow-plain-http, found none"});
    cases.push_back({with({"--kubeconfig", folder_ + "/absent"}),
                     folder_ + "/absent: No such file or directory"});
    cases.push_back({with({"--kubeconfig", kubeconfig, "--context", "e3e"}),
                     kubeconfig + ": --context: there is no context \"e3e\"; did you mean e2e?"});
  }
  for (const Case& c : cases) {
    const Outcome run = Run(c.args);
    EXPECT_EQ(run.exit_status, 2) << c.message;
    EXPECT_EQ(run.out, "") << c.message;
    EXPECT_EQ(run.err, "berth: " + c.message + "\n");
  }
}

TEST_F(LiveCliTest, AServerThatIsAwayIsAnError) {
  for (const std::string command : {"simulate", "explain"}) {
    std::vector<std::string> args = {command, "--kubeconfig", Kubeconfig(kNobody)};
    if (command == "explain") args.insert(args.end(), {"--pod", "web"});
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err,
                AllOf(StartsWith("berth: http://127.0.0.1:1: "), HasSubstr("connection refused")));
  }
}

// The answer is named, and the server once. A URL may contain secrets.
TEST_F(LiveCliTest, AnotherServerIsAnError) {
  struct Case {
    std::string answer;
    const char* message;
  };
  const Case cases[] = {
      {"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
       "Location: https://u:secret@login.example.com/x?token=secret\r\n\r\n",
       "found the redirection 302 to \"https://login.example.com/x\""},
      {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
       "expected JSON, found an HTML page"},
  };
  steady_ns_ = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  for (const Case& c : cases) {
    LoopbackServer server({.tls = false}, [&c](LoopbackServer::Peer& peer, size_t) {
      for (std::string request; peer.ReadRequest(request);) {
        if (!peer.Write(c.answer)) return;
      }
    });
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
    const Outcome run = Run({"simulate", "--kubeconfig", Kubeconfig(url)});
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_THAT(run.err, HasSubstr(c.message));
    EXPECT_NE(run.err.find(url), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find(url), run.err.rfind(url)) << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("secret")));
  }
}

TEST_F(LiveCliTest, PlainHttpToAnotherMachineNeedsAFlag) {
  const Outcome run = Run({"doctor", "--kubeconfig", Kubeconfig("http://10.0.0.1:8080")});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("--allow-plain-http"));
}

// ---- doctor -------------------------------------------------------------------------------------

TEST_F(LiveCliTest, DoctorNeedsAKubeconfigThatExists) {
  const Outcome absent = Run({"doctor", "--kubeconfig", folder_ + "/absent"});
  EXPECT_EQ(absent.exit_status, 2);
  EXPECT_EQ(absent.err, "berth: " + folder_ + "/absent: No such file or directory\n");
  const Outcome none = Run({"doctor"});
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_EQ(none.err,
            "berth: no kubeconfig: use --kubeconfig FILE, set KUBECONFIG, or run in a pod with a "
            "service account\n");
  const Outcome config = Run({"doctor", "--config", folder_ + "/absent.toml"});
  EXPECT_EQ(config.exit_status, 2);
  EXPECT_EQ(config.err, "berth: " + folder_ + "/absent.toml: No such file or directory\n");
}

TEST_F(LiveCliTest, DoctorReportsAConfigurationWithErrors) {
  const std::string profile = File("acme.toml", "schedulerNam = \"acme\"\n");
  const Outcome run = Run({"doctor", "--profile", profile, "--kubeconfig", Kubeconfig(kNobody)});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, AllOf(StartsWith("CHECK           RESULT   FOUND\nconfiguration   FAILED"),
                             HasSubstr("acme.toml:1: "), Not(HasSubstr("connection"))));
  EXPECT_EQ(run.err, "");
}

TEST_F(LiveCliTest, DoctorReportsAServerThatIsAway) {
  const Outcome run = Run({"doctor", "--kubeconfig", Kubeconfig(kNobody)});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, MatchesRegex("CHECK  .*\n"
                                    "configuration   ok  *1 profile, [0-9]+ plugins\n"
                                    "connection      FAILED .*connection refused.*"
                                    "check that context e2e of .*\n"));
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("secret-token")));
}

TEST_F(LiveCliTest, DoctorReadsTheKubeconfigOfTheHostFile) {
  Kubeconfig(kNobody);
  const std::string config =
      File("berth.toml", "[clientConnection]\nkubeconfig = \"kubeconfig\"\n");
  const Outcome run = Run({"doctor", "--config", config, "--output", "json"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_EQ(run.json()["server"], "http://127.0.0.1:1");
  EXPECT_EQ(run.json()["findings"][1]["result"], "failed");
}

TEST_F(LiveCliTest, DoctorFindsPluginsThatRefuseTheirArguments) {
  const std::string profile =
      File("acme.toml",
           "extends = \"default\"\n[[plugins]]\nname = \"NodeResourcesFit\"\n"
           "[plugins.args.scoringStrategy]\ntype = \"Nonsense\"\n");
  const Outcome run = Run({"doctor", "--profile", profile, "--kubeconfig", Kubeconfig(kNobody)});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("FAILED"), HasSubstr("Nonsense")));
}

TEST_F(LiveCliTest, HelpNamesTheSources) {
  for (const std::string command : {"simulate", "explain", "doctor"}) {
    const Outcome help = Run({command, "--help"});
    EXPECT_EQ(help.exit_status, 0);
    EXPECT_THAT(help.out, AllOf(HasSubstr("--kubeconfig FILE"), HasSubstr("--context NAME"),
                                HasSubstr("--allow-plain-http")));
  }
  EXPECT_THAT(Run({"doctor", "--help"}).out,
              AllOf(HasSubstr("$KUBECONFIG"), HasSubstr("Exit status: 0 no check failed")));
}

}  // namespace
}  // namespace berth::host
