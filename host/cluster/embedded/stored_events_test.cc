#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/stored_objects.h"

namespace berth::host {
namespace {

constexpr size_t kMaxEvents = 2;

class StoredEventsTest : public ::testing::Test {
 protected:
  TestClock clock_;
  ResourceVersions versions_;
  StoredEvents stored_{kMaxEvents, versions_, clock_};
};

Event MakeEvent(const std::string& note) {
  Event event;
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = note;
  event.regarding.kind = "Pod";
  event.regarding.ns = "default";
  event.regarding.name = "a";
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host";
  return event;
}

TEST_F(StoredEventsTest, KeepsTheLastEvents) {
  for (const char* note : {"one", "two", "three"}) {
    EXPECT_EQ(stored_.Add(MakeEvent(note)), Status::Ok());
  }
  ASSERT_EQ(stored_.events().size(), 2u);
  EXPECT_EQ(stored_.events()[0].note, "two");
  EXPECT_EQ(stored_.events()[1].note, "three");
  EXPECT_EQ(versions_.last(), 3u);
}

TEST_F(StoredEventsTest, SetsAMissingTime) {
  Event event = MakeEvent("without a time");
  ASSERT_TRUE(stored_.Add(event).ok());
  event.time_ns = 5 * kSecond;
  ASSERT_TRUE(stored_.Add(event).ok());
  EXPECT_EQ(stored_.events()[0].time_ns, clock_.NowNs());
  EXPECT_EQ(stored_.events()[1].time_ns, 5 * kSecond);
}

TEST_F(StoredEventsTest, RejectsEventsThatAnApiServerRejects) {
  std::vector<Event> bad(6, MakeEvent("n"));
  bad[0].type = "Error";
  bad[1].reason.clear();
  bad[2].action = std::string(129, 'a');
  bad[3].reporting_controller.clear();
  bad[4].reporting_instance.clear();
  bad[5].note = std::string(1025, 'n');
  for (const Event& event : bad) {
    const Status status = stored_.Add(event);
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << status.ToString();
  }
  EXPECT_TRUE(stored_.events().empty());
  EXPECT_EQ(versions_.last(), 0u);
  Event longest = MakeEvent(std::string(1024, 'n'));
  longest.action = std::string(128, 'a');
  EXPECT_TRUE(stored_.Add(longest).ok());
}

}  // namespace
}  // namespace berth::host
