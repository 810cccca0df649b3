#include "host/process/replay/replay.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kOneNodeCluster = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: small}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
)";
constexpr const char* kProfile = R"(
[[plugins]]
name = "PrioritySort"
[[plugins]]
name = "NodeResourcesFit"
points = ["PreFilter", "Filter"]
[[plugins]]
name = "DefaultBinder"
)";

// Records "Bound small" for each decision.
class Recorder final : public ReplayObserver {
 public:
  void OnReadingFile(std::string_view name) override { files.emplace_back(name); }
  void OnNote(const std::string& note) override { notes.push_back(note); }
  bool OnDecision(const DecisionLine& line) override {
    decisions.push_back(std::string(DecisionTypeName(line.type)) + ' ' +
                        line.pod.substr(line.pod.find('/') + 1));
    return can_write;
  }
  void OnReload(const ReloadResult&) override {}
  bool OnIdle() override { return true; }
  LogSink& log() override { return log_; }

  bool can_write = true;
  std::vector<std::string> files;
  std::vector<std::string> notes;
  std::vector<std::string> decisions;

 private:
  TestLog log_;
};

// A run in virtual time over the cluster above, which comes from standard input.
class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() { std::ofstream(profile_) << kProfile; }
  ~ReplayTest() override { std::filesystem::remove(profile_); }

  Status Open() { return run_.emplace(options_, recorder_).Open(); }

  const std::string profile_ =
      ::testing::TempDir() + "berth_replay_" + std::to_string(getpid()) + ".toml";
  std::istringstream in_{kOneNodeCluster};
  ReplayOptions options_{{.config = {.host_file = "",
                                     .profiles = {profile_},
                                     .plugin_directories = {DefaultPluginDirectory()},
                                     .executable = "/nowhere/berth"},
                          .temporary_directory = ::testing::TempDir(),
                          .steady_ns = [] { return int64_t{0}; },
                          .wall_ns = [] { return int64_t{1'768'032'000'000'000'000}; }},
                         {"-"},
                         "",
                         "",
                         true,
                         std::nullopt,
                         std::nullopt,
                         &in_};
  Recorder recorder_;
  std::optional<Replay> run_;
};

TEST_F(ReplayTest, SchedulesTheClusterAndSumsUp) {
  Status status = Open();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(recorder_.files, ElementsAre("standard input"));
  status = run_->Run();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(recorder_.decisions, ElementsAre("Refused large", "Bound small"));
  const ReplaySummary summary = run_->Summary();
  EXPECT_EQ(summary.signal, 0);
  EXPECT_EQ(summary.bound, 1U);
  EXPECT_EQ(summary.pending, 1U);
  EXPECT_EQ(summary.nodes, 1U);
  EXPECT_THAT(summary.pending_by_reason,
              ElementsAre(Pair("0/1 nodes are available: 1 Insufficient cpu.", 1U)));
}

// Requests a stop as soon as the run asks for it.
class StopAtOnce final : public ProcessRequests {
 public:
  void OnStop(std::function<void(int signal)> stop) override { stop(15); }
};

TEST_F(ReplayTest, StopsOnRequest) {
  options_.requests = [](const std::function<void()>&) { return std::make_unique<StopAtOnce>(); };
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(run_->Run().ok());
  EXPECT_EQ(run_->Summary().signal, 15);
  EXPECT_THAT(recorder_.decisions, IsEmpty());
}

TEST_F(ReplayTest, StopsWhenADecisionCannotBeWritten) {
  recorder_.can_write = false;
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(run_->Run().ok());
  EXPECT_EQ(recorder_.decisions.size(), 1U);
  EXPECT_EQ(run_->Summary().signal, 0);
}

TEST_F(ReplayTest, OpenReportsAPluginThatIsMissing) {
  std::ofstream(profile_, std::ios::app) << "[[plugins]]\nname = \"acme.Missing\"\n";
  EXPECT_THAT(Open().message(), HasSubstr("acme.Missing"));
}

TEST_F(ReplayTest, OpenReportsAStreamThatDoesNotExist) {
  options_.events = "no/such/events.jsonl";
  EXPECT_EQ(Open(), Status::NotFound("no/such/events.jsonl: No such file or directory"));
}

}  // namespace
}  // namespace berth::host
