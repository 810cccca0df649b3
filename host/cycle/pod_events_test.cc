#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/cycle/failure_handler.h"

namespace berth::host {
namespace {

constexpr int64_t kTime = 1'700'000'000'000'000'000;

TEST(PodEventsTest, FillInTheFieldsThatKubectlDescribeShows) {
  TestObjects objects;
  const PodRef pod = objects.Pod({.name = "web-0", .spec = R"("schedulerName":"blue")"});

  const Event bound = ScheduledEvent(*pod, "n1", kTime);
  EXPECT_EQ(bound.type, "Normal");
  EXPECT_EQ(bound.reason, "Scheduled");
  EXPECT_EQ(bound.action, "Binding");
  EXPECT_EQ(bound.note, "Successfully assigned default/web-0 to n1");
  EXPECT_EQ(bound.reporting_controller, "blue");
  EXPECT_EQ(bound.time_ns, kTime);
  EXPECT_EQ(bound.regarding.api_version, "v1");
  EXPECT_EQ(bound.regarding.kind, "Pod");
  EXPECT_EQ(bound.regarding.ns, "default");
  EXPECT_EQ(bound.regarding.name, "web-0");
  EXPECT_EQ(bound.regarding.uid, "uid-web-0");
  EXPECT_TRUE(bound.is_unique);

  const Event failed = FailedSchedulingEvent(*pod, "0/1 nodes are available: 1 x.", kTime);
  EXPECT_EQ(failed.type, "Warning");
  EXPECT_EQ(failed.reason, "FailedScheduling");
  EXPECT_EQ(failed.action, "Scheduling");
  EXPECT_EQ(failed.note, "0/1 nodes are available: 1 x.");
  EXPECT_FALSE(failed.is_unique) << "it is reported again after each attempt";
  EXPECT_EQ(FailedSchedulingEvent(*pod, std::string(1025, 'a'), kTime).note,
            std::string(1020, 'a') + " ...");
}

}  // namespace
}  // namespace berth::host
