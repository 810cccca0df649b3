// `berth replay` on the real clock, with a stream that is still being written.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/integration/live_run.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(LiveRunTest, DecidesWhileTheStreamGoesOn) {
  Begin();
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  Write(Line("ADDED", PodJson("huge", "16")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused huge "));
  const std::string node = Line("ADDED", NodeJson("c", "32"));
  Write(node.substr(0, 40));
  Write(node.substr(40, node.size() - 41));
  EXPECT_EQ(NextDecision(), "Bound huge c") << "before the line has ended";
  CloseInput();
  const Outcome run = End();
  EXPECT_EQ(run.exit_status, 0) << run.err;
}

TEST_F(LiveRunTest, WaitsForTheTimeOfAnEvent) {
  Begin();
  const int64_t start_ns = steady_ns_();
  Write(Line("ADDED", PodJson("web", "1"), "300ms"));
  EXPECT_EQ(NextDecision(), "Bound web b");
  EXPECT_GE(steady_ns_() - start_ns, 300'000'000);
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

TEST_F(LiveRunTest, StopsWhenASignalComes) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Begin();
    Write(Line("ADDED", PodJson("huge" + std::to_string(signal), "16")));
    EXPECT_THAT(NextDecision(), StartsWith("Refused huge"));
    Stop(signal);
    const Outcome run = End();
    EXPECT_EQ(run.exit_status, 128 + signal);
    EXPECT_THAT(run.err,
                StartsWith(signal == SIGINT ? "Stopped by SIGINT.\n0 bound, 1 pending; "
                                            : "Stopped by SIGTERM.\n0 bound, 1 pending; "));
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, StopsWhileVirtualTimeWaitsForTheStream) {
  Begin({"--time", "virtual"});
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

TEST_F(LiveRunTest, StopsInVirtualTimeAfterABookmark) {
  Begin({"--time", "virtual"});
  Write(Line("ADDED", PodJson("web", "1")) + Line("BOOKMARK", "{}", "1s"));
  EXPECT_EQ(NextDecision(), "Bound web b");
  // Give the run time to read the event. This has no visible effect.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

TEST_F(LiveRunTest, AppliesMoreEventsThanOneTurnTakes) {
  Begin();
  // The events wait behind the first one, and change nothing when they are applied.
  std::string lines = Line("BOOKMARK", "{}", "200ms");
  const std::string node = NodeJson("c", "1", R"(,"resourceVersion":"7")");
  for (int i = 0; i < 5000; ++i) lines += Line("ADDED", node);
  Write(lines + Line("ADDED", PodJson("web", "1")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

// ---- The recording ------------------------------------------------------------------------------

TEST_F(LiveRunTest, FlushesTheRecordingWhileItWaits) {
  for (const char* time : {"real", "virtual"}) {
    const std::string recording = folder_ + "/" + time + ".jsonl";
    Begin({"--time", time, "--record", recording});
    // In virtual time the pod is scheduled only when the event after it is known.
    Write(Line("ADDED", PodJson(time, "1")) + Line("BOOKMARK", "{}", "1ms"));
    EXPECT_TRUE(WaitForText(recording, R"("type":"Bound")")) << time;
    EXPECT_THAT(ReadAll(recording), EndsWith("}\n"));
    Stop(SIGTERM);
    EXPECT_EQ(End().exit_status, 128 + SIGTERM);
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, StopsWhenTheRecordingCannotBeWritten) {
  for (const char* time : {"real", "virtual"}) {
    Begin({"--time", time, "--record", "/dev/full"});
    // The run waits when the pod comes, and has nothing to do after the pod.
    Write(Line("BOOKMARK", "{}"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Write(Line("ADDED", PodJson(time, "99")));
    const Outcome run = End();
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_THAT(run.err, HasSubstr("/dev/full: the recording could not be written"));
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, ReadsAheadOnlyToItsLimit) {
  // The next event is due in an hour. Later events stay in the pipe.
  Begin();
  Write(Line("ADDED", PodJson("web", "1"), "1h"));
  const std::string line = Line("BOOKMARK", R"({"kind":")" + std::string(3000, 'x') + R"("})");
  size_t written = 0;
  for (int refusals = 0; refusals < 100 && written < (size_t{64} << 20);) {
    if (write(input_write(), line.data(), line.size()) < 0) {
      ++refusals;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      written += line.size();
    }
  }
  EXPECT_LT(written, size_t{16} << 20);
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

}  // namespace
}  // namespace berth::host
