// The example examples/plugins/webhook_score asks a web service for scores, in simulations and
// replays too. The pod waits, the scheduling thread does not.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/base/time_units.h"
#include "tests/harness/api_server/loopback_server.h"
#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// A web service that prefers the node "small". It answers the first request when it has received as
// many as the test wants.
class ScoreService {
 public:
  explicit ScoreService(size_t wanted = 1) : wanted_(wanted) {}
  ~ScoreService() {
    {
      const std::scoped_lock lock(mutex_);
      wanted_ = 0;
    }
    arrived_.notify_all();
  }
  ScoreService(const ScoreService&) = delete;
  ScoreService& operator=(const ScoreService&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()) + "/rate"; }
  void Stop() { server_.Stop(); }
  // Returns the bodies of the requests.
  std::vector<std::string> bodies() {
    const std::scoped_lock lock(mutex_);
    return bodies_;
  }

 private:
  void Serve(LoopbackServer::Peer& peer) {
    for (std::string request; peer.ReadRequest(request);) {
      {
        std::unique_lock lock(mutex_);
        bodies_.push_back(request.substr(request.find("\r\n\r\n") + 4));
        arrived_.notify_all();
        arrived_.wait(lock, [this] { return bodies_.size() >= wanted_; });
      }
      if (!peer.Write(HttpAnswer(200, R"({"scores":{"small":100}})"))) return;
    }
  }

  size_t wanted_;  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::string> bodies_;
  // The last member: its threads use the others.
  LoopbackServer server_{{.tls = false},
                         [this](LoopbackServer::Peer& peer, size_t) { Serve(peer); }};
};

class WebhookScoreCliTest : public RunCliTest {
 protected:
  WebhookScoreCliTest() {
    steady_ns_ = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  }
  std::string Profile(const std::string& url, const std::string& timeout_ms = "60000",
                      const std::string& more = "") {
    return File("scores.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.WebhookScore\"\n"
                "library = \"" BERTH_TEST_PLUGIN_DIR
                "/libtest_webhook_score.so\"\nweight = 100\n"
                "[plugins.args]\nurl = \"" +
                    url + "\"\ntimeoutMs = " + timeout_ms + "\n" + more);
  }
  static std::string Nodes() {
    return Line("ADDED", NodeJson("large", "64")) + Line("ADDED", NodeJson("small", "8"));
  }
  // Returns the decisions "second Bound pod node".
  std::vector<std::string> Bindings(const std::string& events, const std::string& profile) {
    std::vector<std::string> bindings;
    for (const std::string& decision : Decisions(Play(events, {"--profile", profile}).out)) {
      if (decision.find(" Bound ") != std::string::npos) bindings.push_back(decision);
    }
    return bindings;
  }
};

// Virtual time stands still until the answer.
TEST_F(WebhookScoreCliTest, ReplayPlacesPodsByTheAnswer) {
  ScoreService service;
  const std::string events = Nodes() + Line("ADDED", PodJson("p", "1"), "5s");
  EXPECT_THAT(Bindings(events, Profile(service.url())), ElementsAre("5 Bound p small"));
  EXPECT_THAT(service.bodies(),
              ElementsAre(R"({"pod":{"namespace":"default","name":"p","labels":{}},)"
                          R"("nodes":["large","small"]})"));
}

// The service answers no pod before it has been asked about all of them.
TEST_F(WebhookScoreCliTest, PodsWaitAtTheSameTime) {
  ScoreService service(3);
  const std::string events = Nodes() + Line("ADDED", PodJson("p", "1")) +
                             Line("ADDED", PodJson("q", "1")) + Line("ADDED", PodJson("r", "1"));
  EXPECT_THAT(Bindings(events, Profile(service.url())),
              UnorderedElementsAre("0 Bound p small", "0 Bound q small", "0 Bound r small"));
}

TEST_F(WebhookScoreCliTest, SimulateAsksTheServiceToo) {
  ScoreService service;
  const std::string cluster = "---\n" + NodeJson("large", "64") + "\n---\n" +
                              NodeJson("small", "8") + "\n---\n" + PodJson("p", "1") + "\n";
  const Outcome run = Run({"simulate", "--cluster", File("cluster.yaml", cluster), "--profile",
                           Profile(service.url()), "--output", "json"});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.json()["placements"][0]["node"], "small");
  EXPECT_EQ(run.json()["summary"]["end"], "AtRest");
  EXPECT_EQ(service.bodies().size(), 1U);
}

TEST_F(WebhookScoreCliTest, FailuresAreIgnoredUnlessTheProfileForbidsIt) {
  ScoreService service;
  service.Stop();
  const std::string events = Nodes() + Line("ADDED", PodJson("p", "1"));
  EXPECT_THAT(Bindings(events, Profile(service.url())), ElementsAre("0 Bound p large"));
  const std::string fails = Profile(service.url(), "60000", "ignorable = false\n");
  // Requests that fail go on until the run waits for them no longer.
  const Outcome run = Play(events, {"--profile", fails, "--max-thread-wait", "1s"});
  EXPECT_THAT(Decisions(run.out), Not(Contains(HasSubstr("Bound"))));
  EXPECT_THAT(run.out, HasSubstr("no scores of the web service: "));
}

// The answer never comes: the service waits for a second request.
TEST_F(WebhookScoreCliTest, ATimeoutIsAFailure) {
  ScoreService service(2);
  const std::string events = Nodes() + Line("ADDED", PodJson("p", "1"));
  EXPECT_THAT(Bindings(events, Profile(service.url(), "1")), ElementsAre("0 Bound p large"));
}

}  // namespace
}  // namespace berth::host
