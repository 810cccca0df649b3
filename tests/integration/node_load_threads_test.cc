// A plugin that learns the load of nodes from an HTTP source, on a thread of its own, and hands it
// over to the scheduling thread.
#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/harness.h"
#include "tests/harness/load_source.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

class NodeLoadTest : public ::testing::Test {
 protected:
  NodeLoadTest() { harness_.AddNodes({"a", "b", "c"}); }

  void Start() {
    const std::string args =
        "{\"port\": " + std::to_string(source_.port()) + ", \"everyMilliseconds\": 1}";
    const Status status =
        harness_.Start(TestProfile().Use("acme.NodeLoad", {Point::kScore}, args.c_str()));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void Report(const std::string& loads) {
    source_.Set("200 OK", loads);
    source_.AwaitTwoRequests();
    harness_.Settle();
  }
  std::string NodeOf(const std::string& pod) { return harness_.Schedule({.name = pod}).node; }

  LoadSource source_;
  Harness harness_;
};

TEST_F(NodeLoadTest, PrefersTheNodeWithTheLowestReportedLoad) {
  Start();
  Report("a 90\nb 10\nc 50\n");
  EXPECT_EQ(NodeOf("p1"), "b");
  Report("a 90\nb 95\nc 50\n");
  EXPECT_EQ(NodeOf("p2"), "c");
  Report("a 5\n");
  EXPECT_EQ(NodeOf("p3"), "a") << "the loads of the other nodes stay as they were";
}

TEST_F(NodeLoadTest, KeepsTheLoadsWhileTheSourceFails) {
  Start();
  Report("a 90\nb 10\nc 50\n");
  source_.Set("500 Internal Server Error", "a 0\n");
  source_.AwaitTwoRequests();
  harness_.Settle();
  EXPECT_EQ(NodeOf("p"), "b");
}

// The thread of the plugin is inside a request when the instance ends. The answer arrives then.
TEST_F(NodeLoadTest, EndsDuringARequest) {
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    Start();
    Report("a 90\nb 10\nc 50\n");
    source_.Hold();
    source_.AwaitHeldRequest();
    harness_.Settle();
    // The thread waits for the source, so that nothing else writes lines.
    EXPECT_THAT(harness_.lines(), Contains("acme.NodeLoad: applied nodes=3"));
    harness_.lines().clear();
    std::atomic<bool> ends = false;
    std::thread answers([&] {
      while (!ends) std::this_thread::yield();
      source_.Release();
    });
    ends = true;
    harness_.Stop();
    answers.join();
    EXPECT_THAT(harness_.lines(), IsEmpty()) << "nothing is applied after the end has begun";
  }
}

}  // namespace
}  // namespace berth::host
