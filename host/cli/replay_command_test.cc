#include <signal.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cli/commands.h"
#include "host/process/replay/replay.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string Text(const ReplaySummary& summary) {
  std::string out;
  AppendSummary(summary, std::nullopt, out);
  return out;
}

TEST(ReplaySummaryTest, CountsPodsNodesAndEvents) {
  EXPECT_EQ(Text({.bound = 1204, .nodes = 1, .events = 2, .took_ns = 1'500'999'999}),
            "1,204 bound, 0 pending; 1 node; 2 events in 1.5s.\n");
}

TEST(ReplaySummaryTest, NamesSignalPodsOfOtherSchedulersAndReloads) {
  EXPECT_EQ(Text({.signal = SIGTERM,
                  .other_schedulers = 3,
                  .nodes = 2,
                  .events = 1,
                  .reloaded = 1,
                  .failed_reloads = 2}),
            "Stopped by SIGTERM.\n"
            "0 bound, 0 pending, 3 of other schedulers; 2 nodes; 1 event in 0s.\n"
            "1 reload succeeded, 2 failed.\n");
}

TEST(ReplaySummaryTest, CountsRejectedEvents) {
  EXPECT_EQ(Text({.nodes = 2, .events = 3, .rejected_events = 1}),
            "0 bound, 0 pending; 2 nodes; 3 events in 0s; 1 event rejected.\n");
  EXPECT_EQ(Text({.nodes = 2, .events = 3, .rejected_events = 1204}),
            "0 bound, 0 pending; 2 nodes; 3 events in 0s; 1,204 events rejected.\n");
}

TEST(ReplaySummaryTest, ListsTheMostFrequentReasonsFirst) {
  EXPECT_THAT(Text({.pending = 3, .pending_by_reason = {{"a", 1}, {"b", 2}}}),
              EndsWith("\n\nPODS   REASON\n2      b\n1      a\n"));
}

TEST(ReplaySummaryTest, LeavesOutReasonsBeyondTheTwentieth) {
  ReplaySummary summary;
  for (int i = 0; i < 22; ++i) summary.pending_by_reason["reason " + std::to_string(100 + i)] = 1;
  EXPECT_THAT(Text(summary), HasSubstr("reason 119\n... and 2 other reasons\n"));
}

}  // namespace
}  // namespace berth::host
