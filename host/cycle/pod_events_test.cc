#include "host/cycle/pod_events.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

constexpr int64_t kTime = 1'700'000'000'000'000'000;

TEST(PodEventsTest, SayWhatKubectlDescribeShows) {
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

  const Event failed = FailedSchedulingEvent(*pod, "0/1 nodes are available: 1 x.", kTime);
  EXPECT_EQ(failed.type, "Warning");
  EXPECT_EQ(failed.reason, "FailedScheduling");
  EXPECT_EQ(failed.action, "Scheduling");
  EXPECT_EQ(failed.note, "0/1 nodes are available: 1 x.");
}

TEST(PodEventsTest, ANoteIsCutToWhatTheServerTakes) {
  EXPECT_EQ(CutNote(""), "");
  const std::string fits(kMaxEventNoteBytes, 'a');
  EXPECT_EQ(CutNote(fits), fits);
  const std::string cut = CutNote(fits + "a");
  EXPECT_EQ(cut, std::string(kMaxEventNoteBytes - 4, 'a') + " ...");
  EXPECT_EQ(cut.size(), kMaxEventNoteBytes);
}

TEST(PodEventsTest, ANoteIsNotCutWithinACharacter) {
  // The cut falls into the middle of a character of two bytes.
  const std::string before(kMaxEventNoteBytes - 5, 'a');
  EXPECT_EQ(CutNote(before + "\xc3\xa4\xc3\xa4\xc3\xa4"), before + " ...");
  // One byte earlier, the character is kept whole.
  const std::string one_less(kMaxEventNoteBytes - 6, 'a');
  EXPECT_EQ(CutNote(one_less + "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"), one_less + "\xc3\xa4 ...");
}

}  // namespace
}  // namespace berth::host
