#include "host/process/assemble/decision_reporter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"

namespace berth::host {
namespace {

class DecisionReporterTest : public ::testing::Test {
 protected:
  // Reports that the pod failed with this message. Returns whether the line counts as a repetition.
  bool IsRepeatedAfter(const Failure& failure) {
    sink().OnFailed(pod_, "n1", failure);
    return lines_.back().is_repeated;
  }
  DecisionSink& sink() { return reporter_; }

  TestClock clock_;
  TestObjects objects_;
  PodRef pod_ = objects_.Pod({.name = "p"});
  std::vector<DecisionLine> lines_;
  DecisionReporter reporter_{clock_, [this](const DecisionLine& line) { lines_.push_back(line); }};
};

TEST_F(DecisionReporterTest, MarksTheSameFailureAsARepetition) {
  EXPECT_FALSE(IsRepeatedAfter({.message = "no room"}));
  EXPECT_TRUE(IsRepeatedAfter({.message = "no room"}));
  EXPECT_FALSE(IsRepeatedAfter({.message = "no node"}));
}

// The pod's deletion may have been watched before its binding cycle ends, so that no event follows.
TEST_F(DecisionReporterTest, KeepsNothingOfAPodWithoutARetry) {
  const Failure last{.message = "removed", .is_final = true};
  EXPECT_FALSE(IsRepeatedAfter(last));
  EXPECT_FALSE(IsRepeatedAfter(last));
}

}  // namespace
}  // namespace berth::host
