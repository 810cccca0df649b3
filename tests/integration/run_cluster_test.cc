// `berth run` as a process of its own, on the model of an API server.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "host/base/file_descriptor.h"
#include "tests/harness/api_server/model_server.h"
#include "tests/integration/process_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

// Sends one request to an HTTP server on this machine, and returns its whole answer.
std::string Ask(const std::string& address, const std::string& request,
                const std::string& body = "") {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) return "";
  const std::string text =
      request + " HTTP/1.1\r\nHost: " + address +
      "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  if (write(socket.get(), text.data(), text.size()) < 0) return "";
  std::string answer;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = read(socket.get(), part.data(), part.size())) > 0;) {
    answer.append(part.data(), static_cast<size_t>(size));
  }
  return answer;
}

class RunClusterTest : public RunProcessTest {
 protected:
  ~RunClusterTest() override {
    for (const pid_t process : processes_) {
      kill(process, SIGKILL);
      End(process);
    }
  }

  void CreateNode(const std::string& name, const std::string& cpu = "4") {
    Create("/api/v1/nodes", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                                R"("},"status":{"allocatable":{"cpu":")" + cpu +
                                R"(","memory":"8Gi","pods":"110"}}})");
  }
  void CreatePod(const std::string& name, const std::string& cpu = "1") {
    Create(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                      R"(","namespace":"default"},"spec":{"schedulerName":"default-scheduler",)"
                      R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
                      cpu + R"("}}}]}})");
  }
  // The lease expires three seconds after this process sees it.
  void CreateLeaseOfAnother() {
    Create("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
           R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{)"
           R"("name":"kube-scheduler","namespace":"kube-system"},"spec":{)"
           R"("holderIdentity":"other","leaseDurationSeconds":3,"leaseTransitions":4,)"
           R"("acquireTime":"2026-01-10T08:00:00.000000Z",)"
           R"("renewTime":"2026-01-10T08:00:00.000000Z"}})");
  }
  void Create(const std::string& target, const std::string& body) {
    const HttpResponse response = Send("POST", target, body);
    ASSERT_TRUE(response.is_success()) << response.body;
  }
  // Executes a request as another client of the server.
  HttpResponse Send(const std::string& verb, const std::string& target,
                    const std::string& body = "") {
    HttpResponse response;
    server_.Do([&](EmbeddedCluster&, ApiModel& model) {
      response = model.Serve({.verb = verb,
                              .target = target,
                              .body = body,
                              .content_type = body.empty() ? std::string_view() : kJson});
    });
    return response;
  }
  // Returns the object; a discarded value if the server refuses the request.
  Json Get(const std::string& target) {
    const HttpResponse response = Send("GET", target);
    return Json::parse(response.is_success() ? response.body : "", nullptr, false);
  }
  // Returns "<verb> <HTTP status>" of each request whose target contains `part`.
  std::vector<std::string> Served(std::string_view part) {
    std::vector<std::string> requests;
    server_.Do([&](EmbeddedCluster&, ApiModel& model) {
      for (const ApiModel::Served& served : model.served()) {
        if (served.target.find(part) == std::string::npos) continue;
        requests.push_back(served.verb + " " + std::to_string(served.http_status));
      }
    });
    return requests;
  }
  std::string NodeOf(const std::string& pod) {
    const auto object = Get(std::string(kPods) + "/" + pod);
    return object.is_object() ? object["spec"].value("nodeName", "") : "no such pod";
  }
  std::string Holder() {
    const Json lease = Get(kLease);
    if (!lease.is_object()) return "no lease";
    const Json holder = lease["spec"].value("holderIdentity", Json());
    return holder.is_string() ? holder.get<std::string>() : "";
  }

  // Starts `berth run` on the server, with a short lease.
  pid_t StartRun(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {
        "run",         "--kubeconfig", File("kubeconfig", Kubeconfig()), "--http-address",
        "127.0.0.1:0", "--config",     File("berth.toml", config_)};
    args.insert(args.end(), more.begin(), more.end());
    return StartBerth(args);
  }
  // Starts a command whose output is that of Output().
  pid_t StartBerth(const std::vector<std::string>& args) {
    const FileDescriptor out(
        open((folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    processes_.push_back(Start(args, out.get()));
    return processes_.back();
  }
  // Sends the signal and returns the exit status.
  int Stop(pid_t process, int signal = SIGTERM) {
    kill(process, signal);
    return Await(process);
  }
  int Await(pid_t process) {
    std::erase(processes_, process);
    return End(process);
  }
  // Waits until the condition holds, for at most 30 seconds.
  static bool WaitFor(const std::function<bool()>& condition) {
    for (int waited_ms = 0; waited_ms < 30'000; waited_ms += 20) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return condition();
  }
  bool WaitForLog(const std::string& text) {
    return WaitFor([&] { return Error().find(text) != std::string::npos; });
  }
  // Returns the address of the health checks, which the log names.
  std::string HttpAddress() {
    const std::string before = "metrics\" address=\"";
    EXPECT_TRUE(WaitForLog(before)) << Error();
    const std::string log = Error();
    const size_t begin = log.find(before) + before.size();
    return log.substr(begin, log.find('"', begin) - begin);
  }
  std::string Output() const { return ReadAll(folder_ + "/out"); }

  // Returns the path of a profile with a plugin whose first exception puts it in quarantine.
  std::string ProfileThatThrowsAt(const std::string& point) {
    config_ += "[quarantine]\nfaults = 1\n";
    return File("p.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"test.Thrower\"\nlibrary = "
                "\"" BERTH_TEST_PLUGIN_DIR "/libtest_thrower.so\"\npoints = [\"" +
                    point + "\"]\nargs = {at = \"" + point + "\"}\n");
  }
  // Returns the note of the event about a quarantine; empty if there is none.
  std::string QuarantineNote() {
    const Json list = Get("/apis/events.k8s.io/v1/namespaces/kube-system/events");
    for (const Json& event : list.value("items", Json::array())) {
      if (event["reason"] == "PluginQuarantined" &&
          event["regarding"]["name"] == "kube-scheduler") {
        return event.value("note", "");
      }
    }
    return "";
  }

  // Returns a kubeconfig for the server, with a token that no output may contain.
  std::string Kubeconfig() const {
    Json config = Json::parse(server_.Kubeconfig());
    config["users"][0]["user"] = {{"token", "canary-token"}};
    return config.dump();
  }

  // The resource that the client may not read. Set before the process starts.
  std::string forbidden_;
  ModelServer server_{Options()};
  std::string config_ =
      "[leaderElection]\nleaseDuration = \"3s\"\nrenewDeadline = \"2s\"\nretryPeriod = \"500ms\"\n";

 private:
  ModelServer::Options Options() {
    ModelServer::Options options;
    options.model.allows = [this](const AccessAttributes& attributes) {
      return attributes.resource != forbidden_ || attributes.verb == "create";
    };
    return options;
  }

  std::vector<pid_t> processes_;
};

// ---- Scheduling ---------------------------------------------------------------------------------

TEST_F(RunClusterTest, BindsPodAndReleasesLeaseAtTheEnd) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_NE(Holder(), "");
  EXPECT_EQ(Stop(berth), 0) << Error();
  EXPECT_EQ(Holder(), "");
  EXPECT_THAT(Served("/binding"), ::testing::SizeIs(1));
  EXPECT_THAT(Served("/events"), Contains("POST 201"));
  EXPECT_THAT(Error(), AllOf(HasSubstr("run] \"Starting\" version="),
                             HasSubstr("leaderElection] \"Leading\""),
                             HasSubstr("run] \"Scheduling\" refreshed=\"v1/Pod, v1/Node\""),
                             HasSubstr("\"Bound\" pod=\"default/web\" node=\"a\"")));
  EXPECT_EQ(Output(), "");
}

// The running pod uses 4 cpus by the rule of 1.37, and 6 by that of 1.36: one container grows while
// the other one shrinks.
TEST_F(RunClusterTest, DecidesAsTheEmulatedVersion) {
  CreateNode("a", "8");
  Create(
      kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"resized","namespace":"default"},)"
      R"("spec":{"nodeName":"a","containers":[)"
      R"({"name":"g","image":"i","resources":{"requests":{"cpu":"3"}}},)"
      R"({"name":"s","image":"i","resources":{"requests":{"cpu":"1"}}}]},)"
      R"("status":{"phase":"Running","containerStatuses":[)"
      R"({"name":"g","resources":{"requests":{"cpu":"1"}},"allocatedResources":{"cpu":"1"}},)"
      R"({"name":"s","resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"3"}}]}})");
  CreatePod("web", "4");
  const pid_t older = StartRun({"--emulated-version", "1.36"});
  ASSERT_TRUE(WaitForLog("1 Insufficient cpu")) << Error();
  EXPECT_THAT(Error(), HasSubstr("emulatedVersion=\"1.36\""));
  EXPECT_EQ(NodeOf("web"), "");
  EXPECT_EQ(Stop(older), 0) << Error();
  const pid_t newer = StartRun();
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_EQ(Stop(newer), 0) << Error();
}

TEST_F(RunClusterTest, UnschedulablePodHasConditionUntilANodeFits) {
  CreateNode("small", "1");
  CreatePod("web", "2");
  const pid_t berth = StartRun();
  const auto condition = [&](const char* key) {
    const Json status = Get(std::string(kPods) + "/web").value("status", Json::object());
    const Json conditions = status.value("conditions", Json::array());
    return conditions.empty() ? "" : conditions[0].value(key, "");
  };
  ASSERT_TRUE(WaitFor([&] { return condition("status") == "False"; })) << Error();
  EXPECT_EQ(condition("type"), "PodScheduled");
  EXPECT_EQ(condition("reason"), "Unschedulable");
  EXPECT_THAT(condition("message"), HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
  CreateNode("large");
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "large"; })) << Error();
  EXPECT_EQ(Stop(berth, SIGINT), 0) << Error();
}

TEST_F(RunClusterTest, PrintsDecisionsOnlyIfAFormatIsGiven) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun({"--output", "json", "--log-format", "json"});
  ASSERT_TRUE(WaitFor([&] { return !Output().empty(); })) << Error();
  EXPECT_EQ(Stop(berth), 0);
  EXPECT_THAT(Output(), AllOf(HasSubstr(R"("type":"Bound")"), HasSubstr(R"("pod":"default/web")"),
                              HasSubstr(R"("node":"a")")));
  std::istringstream log(Error());
  int lines = 0;
  for (std::string line; std::getline(log, line); ++lines) {
    EXPECT_FALSE(Json::parse(line, nullptr, false).is_discarded()) << line;
  }
  EXPECT_GT(lines, 3);
}

TEST_F(RunClusterTest, ReportsAGatedPod) {
  CreateNode("a");
  Create(kPods,
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default"},)"
         R"("spec":{"schedulerName":"default-scheduler","schedulingGates":[{"name":"g"}],)"
         R"("containers":[{"name":"c","image":"i"}]}})");
  const pid_t berth = StartRun({"--output", "json"});
  EXPECT_TRUE(WaitFor([&] { return Output().find("Gated") != std::string::npos; })) << Error();
  EXPECT_EQ(Stop(berth), 0);
  EXPECT_EQ(NodeOf("web"), "");
}

// ---- The lease ----------------------------------------------------------------------------------

TEST_F(RunClusterTest, WithoutAnElectionItUsesNoLease) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun({"--leader-elect=false"});
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_EQ(Stop(berth), 0);
  EXPECT_THAT(Served("/leases"), IsEmpty());
}

TEST_F(RunClusterTest, AStandbyChangesNothingAndTakesOver) {
  CreateNode("a");
  CreateLeaseOfAnother();
  CreatePod("web");
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitForLog("Waiting for the lease")) << Error();
  EXPECT_THAT(Served("/binding"), IsEmpty());
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_NE(Holder(), "other");
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, LostLeaseEndsTheProcessWithStatus1) {
  CreateNode("a");
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitForLog("run] \"Scheduling\"")) << Error();
  // Another process that does not respect the lease. The update fails if berth renews meanwhile.
  EXPECT_TRUE(WaitFor([&] {
    auto lease = Get(kLease);
    lease["spec"]["holderIdentity"] = "other";
    return Send("PUT", kLease, lease.dump()).is_success();
  }));
  EXPECT_EQ(Await(berth), 1);
  EXPECT_THAT(Error(), HasSubstr("\"Ending, because the lease was lost\" err="));
  EXPECT_EQ(Holder(), "other");
}

// ---- The server ---------------------------------------------------------------------------------

TEST_F(RunClusterTest, TriesAnAbsentServerAgain) {
  CreateNode("a");
  CreatePod("web");
  server_.Stop();
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitForLog("connection refused")) << Error();
  EXPECT_THAT(Ask(HttpAddress(), "GET /livez"), HasSubstr("200 OK"));
  EXPECT_THAT(Ask(HttpAddress(), "GET /readyz"), HasSubstr("500 "));
  server_.Start();
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, NamesAMissingPermission) {
  forbidden_ = "csinodes";
  CreateNode("a");
  const pid_t berth = StartRun();
  EXPECT_TRUE(WaitForLog("resources: [csinodes]")) << Error();
  EXPECT_THAT(Error(), HasSubstr("the plugin NodeVolumeLimits"));
  // The log may be written before the state that /readyz shows.
  const std::string address = HttpAddress();
  EXPECT_TRUE(WaitFor(
      [&] { return Ask(address, "GET /readyz?verbose").find("csinodes") != std::string::npos; }));
  EXPECT_THAT(Ask(address, "GET /readyz?verbose"), HasSubstr("[-]sched-handler-sync failed"));
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, ProcessWithoutLeaseRulesIsNotReady) {
  forbidden_ = "leases";
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun();
  const std::string rule = "resourceNames: [kube-scheduler], verbs: [get, update]";
  EXPECT_TRUE(WaitForLog(rule)) << Error();
  const std::string address = HttpAddress();
  EXPECT_TRUE(WaitFor([&] {
    return Ask(address, "GET /readyz?verbose").find("[-]lease failed") != std::string::npos;
  }));
  EXPECT_THAT(Ask(address, "GET /readyz?verbose"),
              AllOf(HasSubstr("500 Internal Server Error"), HasSubstr(rule),
                    HasSubstr("[+]sched-handler-sync ok")));
  EXPECT_THAT(Ask(address, "GET /livez"), HasSubstr("200 OK"));
  EXPECT_EQ(NodeOf("web"), "");
  EXPECT_EQ(Stop(berth), 0) << Error();
}

// ---- Health, metrics, configuration -------------------------------------------------------------

TEST_F(RunClusterTest, ServesHealthAndMetrics) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  const std::string address = HttpAddress();
  EXPECT_TRUE(WaitFor([&] {
    return Ask(address, "GET /readyz").find("200 OK") != std::string::npos;
  })) << Ask(address, "GET /readyz?verbose");
  EXPECT_THAT(Ask(address, "GET /healthz?verbose"),
              AllOf(HasSubstr("200 OK"), HasSubstr("[+]leaderElection ok")));
  EXPECT_THAT(
      Ask(address, "GET /metrics"),
      AllOf(HasSubstr("leader_election_master_status{name=\"kube-scheduler\"} 1\n"),
            HasSubstr("rest_client_requests_total{"), HasSubstr("berth_client_connections"),
            HasSubstr("rest_client_request_size_bytes_bucket{"),
            HasSubstr("emulated_version=\"1.37\""), HasSubstr("process_resident_memory_bytes")));
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, ChangesTheLogLevelWhileItRuns) {
  CreateNode("a");
  const pid_t berth = StartRun();
  ASSERT_TRUE(WaitForLog("run] \"Scheduling\"")) << Error();
  CreatePod("first");
  ASSERT_TRUE(WaitFor([&] { return NodeOf("first") == "a"; })) << Error();
  EXPECT_THAT(Ask(HttpAddress(), "PUT /debug/flags/v", "debug"), HasSubstr("200 OK"));
  CreatePod("second");
  EXPECT_TRUE(WaitForLog("\"Assumed\" pod=\"default/second\"")) << Error();
  EXPECT_THAT(Error(), Not(HasSubstr("\"Assumed\" pod=\"default/first\"")));
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, RefusesAnHttpAddressThatIsInUse) {
  const pid_t first = StartRun();
  const std::string address = HttpAddress();
  EXPECT_EQ(RunToFile({"run", "--kubeconfig", folder_ + "/kubeconfig", "--http-address", address}),
            2);
  EXPECT_THAT(Error(), HasSubstr("Address already in use"));
  EXPECT_EQ(Stop(first), 0);
}

TEST_F(RunClusterTest, ReloadsProfileAndKeepsRunningOneAfterError) {
  CreateNode("a");
  const std::string profile = File("p.toml", "schedulerName = \"acme\"\nextends = \"default\"\n");
  const pid_t berth = StartRun({"--profile", profile});
  ASSERT_TRUE(WaitForLog("run] \"Scheduling\"")) << Error();
  CreatePod("web");
  File("p.toml", "schedulerName = \n");
  ASSERT_TRUE(WaitForLog("Cannot reload; the running configuration is kept")) << Error();
  EXPECT_EQ(NodeOf("web"), "");
  File("p.toml", "extends = \"default\"\n");
  EXPECT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  EXPECT_THAT(Error(), HasSubstr("\"Reloaded\" profiles=\"default-scheduler\""));
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, TellsOfAQuarantine) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun({"--profile", ProfileThatThrowsAt("Filter")});
  const std::string text =
      "test.Thrower of the profile default-scheduler is in quarantine for 30s: ";
  EXPECT_TRUE(WaitFor([&] { return QuarantineNote().starts_with(text); })) << Error();
  EXPECT_THAT(Ask(HttpAddress(), "GET /readyz?verbose"), HasSubstr("note: " + text));
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, ANewLeaderTellsOfItsQuarantine) {
  CreateLeaseOfAnother();
  CreatePod("web");
  const pid_t berth = StartRun({"--profile", ProfileThatThrowsAt("PreEnqueue")});
  ASSERT_TRUE(WaitForLog("in quarantine")) << Error();
  EXPECT_EQ(QuarantineNote(), "");
  EXPECT_EQ(Holder(), "other");
  EXPECT_TRUE(WaitFor([&] { return !QuarantineNote().empty(); })) << Error();
  EXPECT_NE(Holder(), "other");
  EXPECT_EQ(Stop(berth), 0);
}

TEST_F(RunClusterTest, WritesNoTokenToTheLog) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartRun({"-vv"});
  ASSERT_TRUE(WaitFor([&] { return NodeOf("web") == "a"; })) << Error();
  const std::string metrics = Ask(HttpAddress(), "GET /metrics");
  EXPECT_EQ(Stop(berth), 0);
  EXPECT_THAT(Error() + metrics, Not(HasSubstr("canary-token")));
}

// ---- Shadow mode --------------------------------------------------------------------------------

TEST_F(RunClusterTest, ShadowJudgesBindingsAndWritesNothing) {
  CreateNode("a");
  CreatePod("web");
  const pid_t berth = StartBerth({"shadow", "--kubeconfig", File("kubeconfig", Kubeconfig()), "-v",
                                  "--window", "10ms", "--output", "json"});
  ASSERT_TRUE(WaitForLog("shadow] \"Judging placements\" emulatedVersion=\"1.37\" nodes=\"1\""))
      << Error();
  Create(std::string(kPods) + "/web/binding",
         R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web"},)"
         R"("target":{"apiVersion":"v1","kind":"Node","name":"a"}})");
  EXPECT_TRUE(WaitFor([&] { return Output().find("\"verdict\":\"same\"") != std::string::npos; }))
      << Error();
  EXPECT_EQ(Stop(berth), 0) << Error();
  EXPECT_THAT(Output(), HasSubstr("\"judged\":1"));
  EXPECT_EQ(Holder(), "no lease");
  EXPECT_THAT(Served("/events"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace berth::host
