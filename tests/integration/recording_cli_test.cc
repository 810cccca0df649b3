// `berth replay --record`, and the repetition of a run from its recording.
#include <cstdint>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

using RecordingCliTest = RunCliTest;

// Pods and nodes that are added and deleted at irregular times, with room for most of the pods.
std::string RandomEvents(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&random](uint32_t n) { return random() % n; };
  std::string events;
  for (int i = 0; i < 400; ++i) {
    const std::string after = below(3) == 0 ? "" : std::to_string(below(900)) + "ms";
    const std::string name = std::to_string(below(60));
    if (below(8) == 0) {
      const std::string node =
          NodeJson("n" + std::to_string(below(8)), std::to_string(2 + below(3)));
      events += Line(below(4) == 0 ? "DELETED" : "ADDED", node, after);
    } else {
      const std::string pod = PodJson("p" + name, std::to_string(1 + below(2)), "",
                                      R"(,"priority":)" + std::to_string(below(3)));
      events += Line(below(3) == 0 ? "DELETED" : "ADDED", pod, after);
    }
  }
  return events;
}

TEST_F(RecordingCliTest, ARecordingRepeatsTheRun) {
  const std::string recording = folder_ + "/r.jsonl";
  const std::string again = folder_ + "/again.jsonl";
  const Outcome first = Play(RandomEvents(1), {"--record", recording});
  const Outcome second = Run({"replay", "--events", recording, "--time", "virtual", "--output",
                              "json", "--record", again});
  EXPECT_NE(first.exit_status, 2) << first.err;
  EXPECT_EQ(second.exit_status, first.exit_status) << second.err;
  EXPECT_GT(Decisions(first.out).size(), 100u);
  EXPECT_EQ(second.err, first.err);
  // EXPECT_TRUE does not print the texts, which are long.
  EXPECT_TRUE(second.out == first.out);
  EXPECT_TRUE(ReadAll(again) == ReadAll(recording));
  EXPECT_TRUE(Play(RandomEvents(1)).out == first.out);
}

// In real time, an event comes between two attempts. The second attempt depends on it.
TEST_F(RecordingCliTest, RepeatsARealTimeRecordingInItsOrder) {
  constexpr int kPods = 60;
  std::string events = Line("ADDED", NodeJson("small", "20"));
  for (int i = 0; i < kPods; ++i) {
    events += Line("ADDED", PodJson("p" + std::to_string(i), "1"));
  }
  // Every call of the clock takes a microsecond.
  events += Line("ADDED", NodeJson("large", "100"), "100us");
  const std::string recording = folder_ + "/r.jsonl";
  const Outcome first = Run(
      {"replay", "--events", File("e.jsonl", events), "--output", "json", "--record", recording});
  ASSERT_EQ(first.exit_status, 0) << first.err;

  std::istringstream lines(ReadAll(recording));
  size_t attempts = 0;
  size_t attempts_before = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    attempts += event["type"] == "ATTEMPT" ? 1 : 0;
    if (line.find("\"large\"") != std::string::npos && event["type"] == "ADDED") {
      attempts_before = attempts;
    }
  }
  ASSERT_GT(attempts_before, 0u) << "the node must come between two attempts";
  ASSERT_LT(attempts_before, attempts);

  const auto without_times = [](const std::string& out) {
    std::vector<std::string> decisions = Decisions(out);
    for (std::string& decision : decisions) decision.erase(0, decision.find(' ') + 1);
    return decisions;
  };
  const std::string again = folder_ + "/again.jsonl";
  const Outcome second = Run({"replay", "--events", recording, "--time", "virtual", "--output",
                              "json", "--record", again});
  EXPECT_EQ(second.exit_status, 0) << second.err;
  EXPECT_EQ(without_times(second.out), without_times(first.out));
  const Outcome third = Run({"replay", "--events", again, "--time", "virtual", "--output", "json"});
  EXPECT_EQ(third.out, second.out) << "a recording of the repetition repeats it too";
}

// A pod that is ready, but whose attempt is recorded for later, does not hold up timers.
TEST_F(RecordingCliTest, TimersFireBetweenRecordedAttempts) {
  const std::string profile = File("waiter.toml",
                                   "extends = \"default\"\n[[plugins]]\nname = \"acme.Waiter\"\n"
                                   "library = \"" BERTH_WAITER "\"\n");
  const std::string events = Line("ADDED", NodeJson("n", "4")) +
                             Line("ADDED", PodJson("web", "1"), "1s") + Line("ATTEMPT", "{}") +
                             Line("ADDED", PodJson("db", "1"), "1s") +
                             Line("ATTEMPT", "{}", "200s");
  const Outcome run = Play(events, {"--profile", profile});
  EXPECT_THAT(Decisions(run.out), Contains("61 Refused web n")) << run.out;
}

// A recording may have more attempts than pods that can be tried.
TEST_F(RecordingCliTest, ARecordingWithoutItsPodsEnds) {
  const std::string events = Line("ADDED", NodeJson("n", "4")) + Line("ATTEMPT", "{}", "1s") +
                             Line("ADDED", PodJson("web", "1"), "1s") +
                             Line("ATTEMPT", "{}", "1s") + Line("ATTEMPT", "{}", "1s");
  const Outcome run = Play(events);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(Decisions(run.out), ElementsAre("3 Bound web n"));
}

TEST_F(RecordingCliTest, TheSeedSelectsAmongEqualNodes) {
  std::string events;
  for (int i = 0; i < 8; ++i) events += Line("ADDED", NodeJson("n" + std::to_string(i), "4"));
  for (int i = 0; i < 8; ++i) events += Line("ADDED", PodJson("p" + std::to_string(i), "1"), "1s");
  std::set<std::string> outs;
  for (const char* seed : {"1", "2", "3"}) {
    const Outcome run = Play(events, {"--seed", seed});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    EXPECT_TRUE(Play(events, {"--seed", seed}).out == run.out) << seed;
    outs.insert(run.out);
  }
  EXPECT_EQ(outs.size(), 3u);
}

TEST_F(RecordingCliTest, RecordingRepeatsRunAtAnotherWallClockTime) {
  const std::string node = R"(,"nodeName":"n")";
  const auto gone_at = [](const char* time) {
    return std::string(R"(,"uid":"u1","deletionTimestamp":")") + time + '"';
  };
  for (const char* time : {"2023-11-14T22:13:19Z", "2023-11-14T22:13:25Z"}) {
    wall_ns_ = 1'700'000'000'000'000'000;  // 2023-11-14T22:13:20Z
    const std::string recording = folder_ + "/r.jsonl";
    const Outcome first =
        Play(Line("ADDED", NodeJson("n", "3")) +
                 Line("ADDED", PodJson("old", "2", gone_at(time), node)) +
                 Line("ADDED", PodJson("web", "2")) +
                 Line("MODIFIED", PodJson("old", "1", gone_at(time), node), "20s") +
                 Line("DELETED", PodJson("old", "1", gone_at(time), node), "40s") +
                 Line("ADDED", PodJson("late", "1"), "1s"),
             {"--record", recording});
    EXPECT_THAT(Decisions(first.out), ElementsAre(std::string("0 Refused web ") + kNoCpu,
                                                  "20 Bound web n", "61 Bound late n"))
        << "the stream deletes the pod, not the clock";
    for (const int64_t years : {-1, 1, 10}) {
      wall_ns_ = 1'700'000'000'000'000'000 + years * 31'536'000'000'000'000;
      const std::string again = folder_ + "/again.jsonl";
      const Outcome second = Run({"replay", "--events", recording, "--time", "virtual", "--output",
                                  "json", "--record", again});
      EXPECT_EQ(second.out, first.out) << years;
      EXPECT_EQ(second.err, first.err) << years;
      EXPECT_EQ(ReadAll(again), ReadAll(recording)) << years;
    }
  }
}

TEST_F(RecordingCliTest, RecordsEventsAndDecisionsInOrder) {
  const std::string recording = folder_ + "/r.jsonl";
  Play("{\"type\": \"ADDED\",\n \"object\": " + NodeJson("n", "3") + "}" +
           Line("BOOKMARK", "{}", "1s") + Line("ADDED", PodJson("web", "2"), "1s") +
           Line("DELETED", PodJson("web", "2"), "1s"),
       {"--record", recording});
  std::ifstream file(recording);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_THAT(
      lines,
      ElementsAre(R"({"type":"ADDED","object":)" + NodeJson("n", "3") + "}",
                  R"({"type":"ADDED","after":"2s","object":)" + PodJson("web", "2") + "}",
                  R"({"type":"DECISION","object":{"time":2.0,"type":"Bound","pod":"default/web",)"
                  R"("node":"n"}})",
                  R"({"type":"DELETED","after":"1s","object":)" + PodJson("web", "2") + "}"));
}

}  // namespace
}  // namespace berth::host
