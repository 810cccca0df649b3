// A StreamDriver with plugins that hold pods back, fail, and have threads of their own.
#include "host/process/replay/stream_driver.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/time_units.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::shared_ptr<const PluginSet> Plugins() {
  static const std::shared_ptr<const PluginSet> plugins = [] {
    auto set = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    for (const std::string& directory : {TestPluginDirectory(), DefaultPluginDirectory()}) {
      const Status status = set->AddDirectory(directory);
      BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    }
    return set;
  }();
  return plugins;
}

class StreamDriverTest : public ::testing::Test {
 protected:
  StreamDriverTest() {
    Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter, Point::kEnqueueExtensions});
    Use("PrioritySort", {Point::kQueueSort});
  }
  ~StreamDriverTest() override { reporter_.StopWatch(); }

  void Use(const std::string& name, std::initializer_list<Point> points,
           nlohmann::json args = nullptr) {
    spec_.plugins.push_back({name, std::make_shared<const nlohmann::json>(std::move(args)), ""});
    for (const Point point : points) {
      spec_.points[static_cast<size_t>(point)].push_back({name, 1});
    }
  }
  void UseGang(int timeout_ms) {
    Use("acme.Gang", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit, Point::kPostBind},
        {{"timeoutMs", timeout_ms}});
    Use("DefaultBinder", {Point::kBind});
  }

  // Without EventsToRegister, every event requeues the pods that the plugin rejected.
  void UseGangWithoutEvents() {
    Use("acme.Gang", {Point::kReserve, Point::kPermit, Point::kPostBind}, {{"timeoutMs", 60'000}});
    Use("DefaultBinder", {Point::kBind});
  }

  static std::string Node(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
           R"("},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}})";
  }
  static std::string Member(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","labels":{"gang":"g","gang-size":"3"}},"spec":{"containers":[{"name":"c",)"
           R"("resources":{"requests":{"cpu":"1"}}}]}})";
  }
  void Add(const std::string& object, const std::string& after = "0s") {
    events_ += R"({"type":"ADDED","after":")" + after + R"(","object":)" + object + "}\n";
  }

  // Runs the events in virtual time.
  Status Run() {
    SchedulerOptions options;
    options.plugins = Plugins();
    options.profiles = {spec_};
    options.loop.clock = &clock_;
    options.loop.sink = &reporter_;
    options.loop.waker = &driver_.waker();
    scheduler_ = std::make_unique<EmbeddedScheduler>(std::move(options),
                                                     EmbeddedScheduler::Stream::kFollowed);
    scheduler_->SetWaitLimits(limits_);
    if (Status status = scheduler_->Start(); !status.ok()) return status;
    reporter_.StartWatch(scheduler_->cluster().client().source, scheduler_->loop());
    EventFeed feed(Events(), "events", {}, driver_.waker());
    return driver_.Run({.scheduler = scheduler_.get(),
                        .clock = &clock_,
                        .virtual_clock = &clock_,
                        .reporter = &reporter_,
                        .feed = &feed,
                        .recording = nullptr});
  }
  const SchedulingQueue& queue() const { return scheduler_->loop().queue(); }
  EmbeddedScheduler& scheduler() { return *scheduler_; }
  int64_t PassedNs() const { return clock_.NowNs() - reporter_.start_ns(); }

  // "2 Bound web" for each decision, in order.
  std::vector<std::string> decisions_;
  std::function<void(const DecisionLine& line)> on_line_;
  StreamDriver driver_{nullptr};
  WaitLimits limits_;

 private:
  FileDescriptor Events() const {
    FileDescriptor file(memfd_create("events", MFD_CLOEXEC));
    BERTH_ASSERT(write(file.get(), events_.data(), events_.size()) ==
                 static_cast<ssize_t>(events_.size()));
    lseek(file.get(), 0, SEEK_SET);
    return file;
  }
  void RecordDecision(const DecisionLine& line) {
    std::string text = std::to_string(line.time_ns / kSecond) + ' ';
    text.append(DecisionTypeName(line.type)).append(1, ' ');
    text += line.pod.substr(line.pod.find('/') + 1);
    if (!line.message.empty()) text += ": " + line.message;
    decisions_.push_back(std::move(text));
    if (on_line_) on_line_(line);
  }

  PlanSpec spec_;
  std::string events_;
  VirtualClock clock_{1'768'032'000'000'000'000};
  DecisionReporter reporter_{clock_, [this](const DecisionLine& line) { RecordDecision(line); }};
  std::unique_ptr<EmbeddedScheduler> scheduler_;
};

TEST_F(StreamDriverTest, ReportsWaitingAndBoundPods) {
  UseGang(60'000);
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"), "5s");
  Add(Member("c"), "5s");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_,
              ElementsAre("0 Waiting a", "5 Waiting b", "10 Bound c", "10 Bound a", "10 Bound b"));
}

TEST_F(StreamDriverTest, TimeJumpsToEndOfAPermitTimeout) {
  UseGang(60'000);
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"), "50s");
  ASSERT_TRUE(Run().ok());
  ASSERT_THAT(decisions_, SizeIs(::testing::Ge(4U)));
  EXPECT_EQ(decisions_[0], "0 Waiting a");
  EXPECT_EQ(decisions_[1], "50 Waiting b");
  EXPECT_THAT(decisions_[2], AllOf(StartsWith("60 Refused "), HasSubstr("timeout")));
  EXPECT_THAT(decisions_[3], AllOf(StartsWith("60 Refused "), HasSubstr("lost its node")));
  EXPECT_EQ(queue().size(), 2U) << "both pods are in the queue";
}

TEST_F(StreamDriverTest, AStopReturnsWaitingPodsToTheQueue) {
  UseGang(60'000);
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  Add(Member("c"), "30s");
  on_line_ = [this](const DecisionLine& line) {
    if (line.pod == "default/b") driver_.RequestStop(SIGTERM);
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ElementsAre("0 Waiting a", "0 Waiting b"));
  EXPECT_EQ(queue().size(), 2U);
  EXPECT_EQ(queue().CountIn(QueuePlace::kInFlight), 0U);
}

TEST_F(StreamDriverTest, EndsWhenAPodFailsAgainAndAgain) {
  Use("cpp.LateBinder", {Point::kBind});
  Add(Node("n"));
  Add(Member("a"));
  ASSERT_TRUE(Run().ok());
  ASSERT_THAT(decisions_, SizeIs(StreamDriver::kMaxErrors));
  for (const std::string& line : decisions_) {
    EXPECT_THAT(line, AllOf(HasSubstr(" Error a: "), HasSubstr("the network is unreachable")));
  }
  EXPECT_THAT(decisions_.front(), StartsWith("0 "));
  EXPECT_EQ(queue().CountIn(QueuePlace::kErrorBackoff), 1U);
}

// Each timeout requeues the other pod, so that there is always a pod to be tried.
TEST_F(StreamDriverTest, EndsWhenAGroupCannotBeCompleted) {
  UseGangWithoutEvents();
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(queue().size(), 2U);
  EXPECT_TRUE(scheduler().IsStalled());
}

TEST_F(StreamDriverTest, RetriesFailingPodsUntilTheLastEvent) {
  UseGangWithoutEvents();
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  Add(Member("c"), "2h");
  ASSERT_TRUE(Run().ok());
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_THAT(decisions_, ::testing::Contains(EndsWith(" Bound " + std::string(pod))));
  }
  EXPECT_EQ(queue().size(), 0U);
}

TEST_F(StreamDriverTest, GoesOnForATimerOfAPlugin) {
  Use("acme.Later", {Point::kPreEnqueue}, {{"opensMs", 5'000}});
  Use("DefaultBinder", {Point::kBind});
  Add(Node("n"));
  Add(Member("a"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ElementsAre("0 Gated a: not yet", "5 Bound a"));
  EXPECT_FALSE(driver_.has_reached_limit());
}

TEST_F(StreamDriverTest, EndsAtTheLimitOfPeriodicTimers) {
  Use("acme.Later", {Point::kPreEnqueue}, {{"everyMs", 10'000}});
  Use("DefaultBinder", {Point::kBind});
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"), "50m");
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(driver_.has_reached_limit());
  EXPECT_EQ(queue().size(), 2U);
  EXPECT_EQ(PassedNs(), 110 * kMinute) << "an hour after the last event";
}

TEST_F(StreamDriverTest, AStalledRunGoesOnForTimers) {
  UseGangWithoutEvents();
  Use("acme.Later", {Point::kPreEnqueue}, {{"pod", "c"}, {"opensMs", 3'000'000}});
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  Add(Member("c"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ::testing::Contains("3000 Bound c"));
  EXPECT_EQ(queue().size(), 0U);
}

// The timer fires more often than the pods fail, so that they never fail five times in between.
TEST_F(StreamDriverTest, FrequentTimersDoNotHideAStall) {
  UseGangWithoutEvents();
  Use("acme.Later", {Point::kPreEnqueue}, {{"pod", "none"}, {"everyMs", 10'000}});
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(driver_.has_reached_limit());
  EXPECT_EQ(queue().size(), 2U);
}

// The run is stalled long before the event, and the timer is due before the event.
TEST_F(StreamDriverTest, TimersFireBeforeLaterEvents) {
  UseGangWithoutEvents();
  Use("acme.Later", {Point::kPreEnqueue}, {{"pod", "c"}, {"opensMs", 3'000'000}});
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  Add(Member("c"));
  Add(Node("late"), "2h");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ::testing::Contains("3000 Bound c"));
}

TEST_F(StreamDriverTest, EndsWhenATimerWithoutDelayRepeats) {
  UseGangWithoutEvents();
  Use("acme.Later", {Point::kPreEnqueue}, {{"pod", "c"}, {"everyMs", 0}});
  Add(Node("n"));
  Add(Member("a"));
  Add(Member("b"));
  Add(Member("c"));
  limits_.calls = 10'000;
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(driver_.has_reached_limit());
}

TEST_F(StreamDriverTest, TimeStandsStillForAnnouncedWork) {
  Use("acme.Later", {Point::kPreEnqueue}, {{"threadMs", 20}});
  Use("DefaultBinder", {Point::kBind});
  limits_.steady_ns = [] { return int64_t{0}; };
  Add(Node("n"));
  Add(Member("a"));
  Add(Node("late"), "1h");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ElementsAre("0 Gated a: not yet", "0 Bound a"));
}

TEST_F(StreamDriverTest, AStopEndsTheWaitForThreads) {
  Use("acme.Later", {Point::kPreEnqueue}, {{"hangs", true}});
  Use("DefaultBinder", {Point::kBind});
  limits_.steady_ns = [] { return int64_t{0}; };
  Add(Node("n"));
  Add(Member("a"));
  on_line_ = [this](const DecisionLine&) { driver_.RequestStop(SIGTERM); };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(queue().size(), 1U);
  EXPECT_FALSE(driver_.has_reached_limit());
}

TEST_F(StreamDriverTest, AStopWaitsForBindingsUnderWay) {
  Use("cpp.LateBinder", {Point::kBind});
  Add(Node("n"));
  for (int i = 0; i < 20; ++i) Add(Member("p" + std::to_string(i)));
  Add(Member("late"), "1h");
  on_line_ = [this](const DecisionLine&) { driver_.RequestStop(SIGTERM); };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(queue().CountIn(QueuePlace::kInFlight), 0U);
  EXPECT_EQ(queue().size(), 20U) << "no pod was lost, and no pod was added after the stop";
}

const DecisionLine kBound{0, DecisionType::kBound, "default/web-0", "node-a", ""};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(RecordingTest, WritesEventsAndDecisionsAsLines) {
  const std::string path = ::testing::TempDir() + "berth_recording.jsonl";
  auto recording = Recording::Create(path);
  ASSERT_TRUE(recording.ok());
  recording->AddEvent(StreamType::kAdded, 0, "{\n  \"kind\": \"a b\"\n}");
  recording->AddEvent(StreamType::kDeleted, 1'500'000'000, "{}");
  recording->AddDecision(kBound);
  recording->AddAttempt(2'000'000);
  ASSERT_TRUE(recording->Flush().ok());
  EXPECT_EQ(ReadAll(path),
            R"({"type":"ADDED","object":{"kind":"a b"}}
{"type":"DELETED","after":"1.5s","object":{}}
{"type":"DECISION","object":{"time":0.0,"type":"Bound","pod":"default/web-0","node":"node-a"}}
{"type":"ATTEMPT","after":"2ms","object":{}}
)");
  std::remove(path.c_str());
}

TEST(RecordingTest, ReportsErrorsWithThePath) {
  EXPECT_EQ(Recording::Create(::testing::TempDir() + "none/x").status().ToString(),
            "NotFound: " + ::testing::TempDir() + "none/x: No such file or directory");
  auto full = Recording::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  full->AddDecision(kBound);
  EXPECT_EQ(full->Flush().ToString(), "Unavailable: /dev/full: the recording could not be written");
}

// ---- The last try of parked pods ----------------------------------------------------------------

class LastTryTest : public StreamDriverTest {
 protected:
  // test.Deaf rejects pods without a Namespace, and no event requeues them.
  LastTryTest() {
    Use("test.Deaf", {Point::kPreFilter, Point::kEnqueueExtensions});
    Use("DefaultBinder", {Point::kBind});
  }

  static std::string Namespace(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"("}})";
  }
  static std::string PodOf(const std::string& ns, const std::string& name, const std::string& cpu) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")" + ns + R"(","name":")" +
           name + R"("},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
           R"("}}}]}})";
  }
  size_t Attempts() { return scheduler().loop().attempts(); }
};

constexpr const char* kNoNamespace = ": the namespace does not exist.";

TEST_F(LastTryTest, PlacesParkedPodThatFitsFinalState) {
  Add(Node("n"));
  Add(PodOf("red", "a", "1"));
  Add(Namespace("red"), "10s");
  ASSERT_TRUE(Run().ok());
  ASSERT_THAT(decisions_, SizeIs(2U));
  EXPECT_THAT(decisions_[0], AllOf(StartsWith("0 Refused a"), EndsWith(kNoNamespace)));
  EXPECT_EQ(decisions_[1], "10 Bound a") << "the clock does not advance to the flush";
  EXPECT_EQ(queue().size(), 0U);
}

TEST_F(LastTryTest, LeavesOutPodsForWhichNothingChanged) {
  Add(Node("n"));
  Add(Namespace("red"));
  Add(PodOf("blue", "a", "1"));
  Add(PodOf("red", "b", "8"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, SizeIs(2U));
  EXPECT_EQ(Attempts(), 2U);
}

// The bound pod is a change for the pod that was tried before it, and none for the one after it.
TEST_F(LastTryTest, LeavesOutPodsTriedSinceTheChange) {
  Add(Node("n"));
  Add(Namespace("red"));
  Add(PodOf("blue", "a", "1"));
  Add(PodOf("red", "b", "1"));
  Add(PodOf("blue", "c", "1"));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Attempts(), 4U) << "a, b, c, and a again";
}

TEST_F(LastTryTest, RepeatsWhileAPodIsBound) {
  Add(Node("n"));
  Add(PodOf("red", "a", "1"));
  Add(PodOf("blue", "b", "1"));
  Add(Namespace("red"), "10s");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_.back(), EndsWith(kNoNamespace));
  // Two attempts, the first round with both pods in this order, and the second round for none: b
  // failed after a was bound.
  EXPECT_EQ(Attempts(), 4U);
  EXPECT_EQ(queue().size(), 1U);
  EXPECT_EQ(PassedNs(), 10 * kSecond);
}

TEST_F(LastTryTest, TriesInTheOrderOfPriorities) {
  Add(Node("n"));
  Add(PodOf("red", "low", "4"));
  std::string high = PodOf("red", "high", "4");
  high.replace(high.find(R"("spec":{)"), 8, R"("spec":{"priority":5,)");
  Add(high);
  Add(Namespace("red"), "10s");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(decisions_, ::testing::Contains("10 Bound high"));
  EXPECT_EQ(queue().size(), 1U);
}

// The group would wait for its timeout again, but nothing has changed apart from its own pods.
TEST_F(LastTryTest, LeavesOutAGroupThatTimedOut) {
  Use("acme.Gang", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit, Point::kPostBind},
      {{"timeoutMs", 60'000}});
  Add(Node("n"));
  Add(Namespace("default"));
  Add(Member("a"));
  Add(Member("b"));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(queue().size(), 2U);
  const size_t attempts = Attempts();
  EXPECT_EQ(decisions_.size(), 2 * attempts) << "Waiting and Refused for each attempt";
  EXPECT_FALSE(scheduler().has_tried_parked_again());
}

TEST_F(LastTryTest, AStopPreventsIt) {
  Add(Node("n"));
  Add(PodOf("red", "a", "1"));
  Add(Namespace("red"), "10s");
  on_line_ = [this](const DecisionLine& /*line*/) { driver_.RequestStop(SIGTERM); };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Attempts(), 1U);
}

}  // namespace
}  // namespace berth::host
