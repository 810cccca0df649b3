// Tests PreEnqueue with the queued entity, and what the host states about the profile.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// Gets the queue's data in PreEnqueue, and keeps what create() got.
class Ager : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Ager";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Holds pods back at their first attempts.";

  explicit Ager(const Host& host) : host_(host) {
    if (host.deadline_ns() == 1) throw Error("the deadline is too short");
  }
  Status PreEnqueue(const Queued& queued) {
    std::string text(host_.profile());
    for (const char* id : {BERTH_POINT_PRE_FILTER, BERTH_POINT_FILTER, BERTH_POINT_SCORE, ""}) {
      text += host_.Enables(id) ? " yes" : " no";
    }
    text += " " + std::to_string(host_.deadline_ns());
    return queued.attempts < 3 ? Status::Pending(text) : Status::Success();
  }

 private:
  Host host_;
};

TEST(QueuedEntity, IsWhatPreEnqueueMayTake) {
  testing::SmallHost host;
  testing::SmallCycle<int> cycle;
  testing::RecordedStatus recorded;
  testing::SmallInstance plugin(kEntryOf<Ager>, host);
  ASSERT_EQ(plugin.code, BERTH_SUCCESS);
  const auto* point = plugin.Point<berth_pre_enqueue>(BERTH_POINT_PRE_ENQUEUE);
  berth_queued queued = {};
  queued.pod = &cycle.pod;
  queued.attempts = 2;
  EXPECT_EQ(point->pre_enqueue(plugin.self(), &queued, recorded.abi()), BERTH_PENDING);
  EXPECT_EQ(recorded.texts,
            (std::vector<std::string>{"default-scheduler yes yes no no 5000000000"}));
  queued.attempts = 3;
  EXPECT_EQ(point->pre_enqueue(plugin.self(), &queued, recorded.abi()), BERTH_SUCCESS);
}

}  // namespace
}  // namespace berth
