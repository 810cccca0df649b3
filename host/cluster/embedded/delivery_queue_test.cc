#include "host/cluster/embedded/delivery_queue.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeliveryQueueTest : public ::testing::Test {
 protected:
  // Adds a callback that records `text`.
  void Reply(const std::string& text) {
    queue_.Reply<std::string>([this](std::string answer) { sink_.seen.push_back(answer); }, text);
  }
  void Notify(const char* name) {
    queue_.Notify(kPodKind, {WatchType::kAdded, objects_.Pod({.name = name}), {}, false});
  }
  std::vector<std::string> Deliver() {
    while (queue_.DeliverOne()) {
    }
    return std::exchange(sink_.seen, {});
  }

  TestObjects objects_;
  RecordingSink sink_;
  DeliveryQueue queue_;
};

TEST_F(DeliveryQueueTest, DeliversEventsAndCallbacksInOrderOfAddition) {
  const auto watch = queue_.StartWatch(kPodKind, sink_, {objects_.Pod({.name = "a"})});
  Reply("first");
  Notify("b");
  Reply("second");
  EXPECT_EQ(queue_.waiting(), 5u);
  EXPECT_THAT(sink_.seen, IsEmpty());
  EXPECT_THAT(Deliver(), ElementsAre("+default/a@", "synced", "first", "+default/b@", "second"));
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(DeliveryQueueTest, NotifiesOnlyTheWatchesOfTheKind) {
  const auto nodes = queue_.StartWatch(kNodeKind, sink_, {});
  Notify("a");
  EXPECT_THAT(Deliver(), ElementsAre("synced"));
}

TEST_F(DeliveryQueueTest, DropsEventsOfAWatchThatHasEnded) {
  auto watch = queue_.StartWatch(kPodKind, sink_, {});
  Reply("answer");
  watch.reset();
  Notify("a");
  EXPECT_THAT(Deliver(), ElementsAre("answer"));
}

TEST_F(DeliveryQueueTest, DeliversOnlyCallbacksWhenItStops) {
  const auto watch = queue_.StartWatch(kPodKind, sink_, {});
  Reply("answer");
  queue_.Stop();
  EXPECT_THAT(sink_.seen, ElementsAre("answer"));
  const auto late = queue_.StartWatch(kPodKind, sink_, {});
  Notify("a");
  EXPECT_EQ(queue_.waiting(), 0u);
  Reply("late");
  EXPECT_THAT(Deliver(), ElementsAre("answer", "late"));
}

}  // namespace
}  // namespace berth::host
