#include "host/event/watch_relay.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class RecordingSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    std::string batch;
    for (const WatchEvent& event : events) {
      const bool is_synced = event.type == WatchType::kSynced;
      batch.append(is_synced ? "synced" : Base(event.object).Key()).append(";");
    }
    seen.push_back(batch);
  }
  void OnTrouble(const Status& status) override { seen.push_back(status.ToString()); }

  std::vector<std::string> seen;
};

TEST(WatchRelay, PassesBatchesAndTroubleOnInOrder) {
  Interner interner;
  Decoder decoder(interner);
  Inbox inbox(nullptr);
  RecordingSink sink;
  WatchRelay relay(inbox, sink);
  std::vector<WatchEvent> events(2);
  events[0].type = WatchType::kAdded;
  events[0].object = *decoder.DecodePod(R"({"metadata":{"name":"a"}})");
  events[1].type = WatchType::kAdded;
  events[1].object = *decoder.DecodePod(R"({"metadata":{"name":"b"}})");
  relay.OnEvents(events);
  relay.OnTrouble(Status::Unavailable("away"));
  std::vector<WatchEvent> synced(1);
  relay.OnEvents(synced);

  EXPECT_TRUE(sink.seen.empty());
  EXPECT_EQ(inbox.Drain(), 3u);
  EXPECT_THAT(sink.seen, ElementsAre("default/a;default/b;", "Unavailable: away", "synced;"));
}

}  // namespace
}  // namespace berth::host
