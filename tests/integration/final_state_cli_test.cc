// After any stream, `berth replay` leaves no pod pending that fits the final state of the cluster.
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// test.Deaf rejects pods without a Namespace, and registers no events.
constexpr const char* kDeaf =
    "extends = \"default\"\n[[plugins]]\nname = \"test.Deaf\"\n"
    "library = \"" BERTH_TEST_PLUGIN_DIR "/libtest_deaf.so\"\n";

// A stream of random events, and the objects that exist after it.
class RandomStream {
 public:
  explicit RandomStream(uint32_t seed) : random_(seed) {
    for (int i = 0; i < kEvents; ++i) Step();
  }

  const std::string& events() const { return events_; }
  // Returns the final objects, one per line. `nodes`: the node of each bound pod.
  std::string Objects(const std::map<std::string, std::string>& nodes) const {
    std::string all;
    for (const auto& [key, object] : objects_) {
      Json json = Json::parse(object);
      if (json["kind"] == "Pod") {
        const auto node = nodes.find(Key(json));
        if (node != nodes.end()) json["spec"]["nodeName"] = node->second;
      }
      all += json.dump() + "\n";
    }
    return all;
  }

 private:
  static constexpr int kEvents = 60;

  static std::string Key(const Json& object) {
    return object["metadata"].value("namespace", "default") + "/" +
           object["metadata"]["name"].get<std::string>();
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string After() { return Below(2) == 0 ? "" : std::to_string(Below(4000)) + "ms"; }
  std::string PickNamespace() { return "ns" + std::to_string(Below(3)); }

  void Step() {
    switch (Below(10)) {
      case 0:
      case 1: {
        const std::string name = "n" + std::to_string(Below(5));
        const std::string zone = R"(,"labels":{"zone":")" + std::to_string(Below(2)) + "\"}";
        return Put("node " + name, NodeJson(name, std::to_string(1 + Below(4)), zone));
      }
      case 2: return Delete("node n" + std::to_string(Below(5)));
      case 3:
      case 4: {
        const std::string name = PickNamespace();
        const std::string team = Below(2) == 0 ? R"("team":"x")" : "";
        return Put("namespace " + name,
                   R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name +
                       R"(","labels":{)" + team + "}}}");
      }
      case 5: return Delete("namespace " + PickNamespace());
      case 6: return Delete("pod p" + std::to_string(Below(pods_ + 1)));
      default: return AddPod();
    }
  }
  void AddPod() {
    const std::string name = "p" + std::to_string(pods_++);
    const std::string app = Below(2) == 0 ? "web" : "db";
    Put("pod " + name,
        PodJson(name, std::to_string(1 + Below(2)),
                R"(,"namespace":")" + PickNamespace() + R"(","labels":{"app":")" + app + "\"}",
                Below(2) == 0 ? Affinity() : ""));
  }
  std::string Affinity() {
    constexpr const char* kSelectors[] = {
        "", R"(,"namespaceSelector":{})", R"(,"namespaceSelector":{"matchLabels":{"team":"x"}})",
        R"(,"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"DoesNotExist"}]})"};
    const std::string kind = Below(3) == 0 ? "podAffinity" : "podAntiAffinity";
    return R"(,"affinity":{")" + kind +
           R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",)"
           R"("labelSelector":{"matchLabels":{"app":")" +
           (Below(2) == 0 ? "web" : "db") + "\"}}" + kSelectors[Below(4)] + "}]}}";
  }

  void Put(const std::string& key, const std::string& object) {
    const bool is_new = objects_.insert_or_assign(key, object).second;
    events_ += Line(is_new ? "ADDED" : "MODIFIED", object, After());
  }
  void Delete(const std::string& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    events_ += Line("DELETED", found->second, After());
    objects_.erase(found);
  }

  std::mt19937 random_;
  std::string events_;
  std::map<std::string, std::string> objects_;
  uint32_t pods_ = 0;
};

// Returns the node of each pod that was bound.
std::map<std::string, std::string> BoundIn(const std::string& out) {
  std::map<std::string, std::string> nodes;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const Json decision = Json::parse(line);
    if (decision["type"] == "Bound") nodes[decision["pod"]] = decision["node"];
  }
  return nodes;
}

class FinalStateCliTest : public RunCliTest {
 protected:
  const std::string profile_ = File("deaf.toml", kDeaf);
};

TEST_F(FinalStateCliTest, NoPendingPodFitsFinalState) {
  size_t pending = 0;
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    const RandomStream stream(seed);
    std::vector<std::string> profile;
    if (seed % 2 == 0) profile = {"--profile", profile_};
    const std::string recording = folder_ + "/r.jsonl";
    std::vector<std::string> args = profile;
    args.insert(args.end(), {"--record", recording});
    const Outcome run = Play(stream.events(), args);
    ASSERT_NE(run.exit_status, 2) << run.err;

    args = {"simulate", "--cluster", File("final.json", stream.Objects(BoundIn(run.out))),
            "--output", "json"};
    args.insert(args.end(), profile.begin(), profile.end());
    const Outcome fresh = Run(args);
    ASSERT_NE(fresh.exit_status, 2) << fresh.err;
    const Json document = fresh.json();
    for (const Json& pod : document["placements"]) {
      EXPECT_FALSE(pod.contains("node")) << pod << "\n" << stream.events() << run.out;
      ++pending;
    }

    const Outcome again = Play(ReadAll(recording), profile);
    EXPECT_EQ(again.out, run.out) << "the recording repeats the run with its last try";
    EXPECT_EQ(again.err, run.err);
  }
  EXPECT_GT(pending, 24u) << "the streams must leave pods pending";
}

// In real time, the recording has an ATTEMPT event for each attempt before the last try.
TEST_F(FinalStateCliTest, RealTimeRecordingRepeatsLastTry) {
  const std::string pod = R"(,"namespace":"red")";
  const std::string red = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"red"}})";
  const std::string events = Line("ADDED", NodeJson("n", "4")) +
                             Line("ADDED", PodJson("a", "1", pod)) +
                             Line("ADDED", PodJson("b", "8", pod)) + Line("ADDED", red, "100us");
  const std::string recording = folder_ + "/r.jsonl";
  const Outcome first = Run({"replay", "--events", File("e.jsonl", events), "--profile", profile_,
                             "--output", "json", "--record", recording});
  const auto without_times = [](const std::string& out) {
    std::vector<std::string> decisions = Decisions(out);
    for (std::string& decision : decisions) decision.erase(0, decision.find(' ') + 1);
    return decisions;
  };
  EXPECT_THAT(without_times(first.out),
              ElementsAre("Refused a 0/1 nodes are available: the namespace does not exist.",
                          "Refused b 0/1 nodes are available: the namespace does not exist.",
                          "Bound a n", StartsWith("Refused b 0/1 nodes are available")));
  const Outcome second = Play(ReadAll(recording), {"--profile", profile_});
  EXPECT_EQ(without_times(second.out), without_times(first.out)) << ReadAll(recording);
}

// A pod that is refused again for the same reasons is not reported again.
TEST_F(FinalStateCliTest, LastTryReportsOnlyNewResults) {
  const std::string ns = R"(,"namespace":"blue")";
  const std::string events = Line("ADDED", NodeJson("n", "4")) +
                             Line("ADDED", PodJson("a", "1", ns)) +
                             Line("MODIFIED", NodeJson("n", "8"), "10s");
  const std::string recording = folder_ + "/r.jsonl";
  const Outcome run = Play(events, {"--profile", profile_, "--record", recording});
  EXPECT_THAT(Decisions(run.out),
              ElementsAre("0 Refused a 0/1 nodes are available: the namespace does not exist."));
  EXPECT_THAT(ReadAll(recording), ::testing::Not(::testing::ContainsRegex("DECISION.*DECISION")));
}

}  // namespace
}  // namespace berth::host
