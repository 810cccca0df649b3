#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Records what it receives after its own name: "a: +p1 +p2", "a: synced", "a: NotFound: text".
class MailboxSink final : public WatchSink {
 public:
  MailboxSink(std::string name, std::vector<std::string>& seen)
      : name_(std::move(name)), seen_(seen) {}

  void OnEvents(std::span<WatchEvent> events) override {
    std::string text = name_ + ":";
    for (const WatchEvent& event : events) {
      text += event.has_object() ? " +" + std::string(Base(event.object).name()) : " synced";
    }
    seen_.push_back(text);
    if (on_events) std::exchange(on_events, {})();
  }
  void OnWatchError(const Status& status) override {
    seen_.push_back(name_ + ": " + status.ToString());
  }

  std::function<void()> on_events;

 private:
  const std::string name_;
  std::vector<std::string>& seen_;
};

class EventMailboxTest : public ::testing::Test {
 protected:
  WatchEvent Added(const char* name) {
    return {WatchType::kAdded, objects_.Pod({.name = name}), {}, false};
  }
  std::function<void()> Note(const char* text) {
    return [this, text] { seen_.emplace_back(text); };
  }

  TestObjects objects_;
  static constexpr size_t kLimit = 1000;

  int wakes_ = 0;
  int rooms_ = 0;
  std::vector<std::string> seen_;
  EventMailbox mailbox_{[this] { ++wakes_; }, kLimit, [this] { ++rooms_; }};
  MailboxSink a_{"a", seen_};
  MailboxSink b_{"b", seen_};
};

TEST_F(EventMailboxTest, DeliversCallsInOrderWithTheirEventsTogether) {
  const auto a = mailbox_.Add(a_);
  const auto b = mailbox_.Add(b_);
  mailbox_.PutEvents(a, {Added("p1"), Added("p2")});
  mailbox_.PutTask(Note("task"));
  mailbox_.PutEvents(b, {WatchEvent()});
  mailbox_.PutError(a, Status::NotFound("text"));
  mailbox_.PutEvents(a, {Added("p3")});
  EXPECT_THAT(seen_, IsEmpty());
  EXPECT_EQ(mailbox_.waiting(), 6u);
  EXPECT_EQ(mailbox_.Deliver(), 6u);
  EXPECT_THAT(seen_, ElementsAre("a: +p1 +p2", "task", "b: synced", "a: NotFound: text", "a: +p3"));
  EXPECT_EQ(mailbox_.waiting(), 0u);
  EXPECT_EQ(mailbox_.Deliver(), 0u);
}

TEST_F(EventMailboxTest, WakesOnceUntilItIsDelivered) {
  const auto a = mailbox_.Add(a_);
  mailbox_.PutEvents(a, {});
  EXPECT_EQ(wakes_, 0);
  mailbox_.PutEvents(a, {Added("p1")});
  mailbox_.PutTask(Note("task"));
  EXPECT_EQ(wakes_, 1);
  mailbox_.Deliver();
  mailbox_.PutError(a, {});
  EXPECT_EQ(wakes_, 2);
}

TEST_F(EventMailboxTest, DropsTheEventsOfARemovedWatch) {
  const auto a = mailbox_.Add(a_);
  const auto b = mailbox_.Add(b_);
  mailbox_.PutEvents(a, {Added("p1")});
  mailbox_.PutError(a, Status::NotFound("text"));
  mailbox_.PutEvents(b, {Added("p2")});
  mailbox_.Remove(a);
  mailbox_.PutEvents(a, {Added("p3")});
  mailbox_.Deliver();
  EXPECT_THAT(seen_, ElementsAre("b: +p2"));
  // An id is never used again.
  EXPECT_NE(mailbox_.Add(a_), a);
}

TEST_F(EventMailboxTest, SinkMayRemoveSinksAndAddAWatch) {
  const auto a = mailbox_.Add(a_);
  const auto b = mailbox_.Add(b_);
  mailbox_.PutEvents(a, {Added("p1")});
  mailbox_.PutEvents(a, {Added("p2")});
  mailbox_.PutEvents(b, {Added("p3")});
  EventMailbox::WatchId added = 0;
  a_.on_events = [&] {
    mailbox_.Remove(a);
    mailbox_.Remove(b);
    added = mailbox_.Add(b_);
    mailbox_.PutEvents(added, {Added("p4")});
  };
  mailbox_.Deliver();
  EXPECT_THAT(seen_, ElementsAre("a: +p1"));
  EXPECT_EQ(mailbox_.waiting(), 1u);
  mailbox_.Deliver();
  EXPECT_THAT(seen_, ElementsAre("a: +p1", "b: +p4"));
}

TEST_F(EventMailboxTest, DeliversWhatDeliveryPutsInTheNextDelivery) {
  mailbox_.PutTask([this] {
    mailbox_.PutTask(Note("second"));
    seen_.emplace_back("first");
  });
  EXPECT_EQ(mailbox_.Deliver(), 1u);
  EXPECT_THAT(seen_, ElementsAre("first"));
  EXPECT_EQ(wakes_, 2);
  EXPECT_EQ(mailbox_.Deliver(), 1u);
  EXPECT_THAT(seen_, ElementsAre("first", "second"));
}

TEST_F(EventMailboxTest, TellsWhenFullAndWhenItHasRoom) {
  const auto a = mailbox_.Add(a_);
  EXPECT_FALSE(mailbox_.PutEvents(a, std::vector<WatchEvent>(kLimit - 2)));
  mailbox_.PutTask(Note("task"));
  EXPECT_FALSE(mailbox_.PutEvents(a, {}));
  EXPECT_EQ(mailbox_.Deliver(), kLimit - 1);
  EXPECT_EQ(rooms_, 0) << "it was not full";
  EXPECT_FALSE(mailbox_.PutEvents(a, std::vector<WatchEvent>(kLimit - 1)));
  EXPECT_TRUE(mailbox_.PutEvents(a, {Added("p1")}));
  EXPECT_TRUE(mailbox_.PutEvents(a, {Added("p2")})) << "nothing is refused";
  a_.on_events = [&] { EXPECT_EQ(rooms_, 0) << "what is delivered still needs memory"; };
  EXPECT_EQ(mailbox_.Deliver(), kLimit + 1);
  EXPECT_EQ(rooms_, 1);
  mailbox_.Deliver();
  EXPECT_EQ(rooms_, 1);
}

TEST_F(EventMailboxTest, TakesEventsOfAnotherThreadInTheirOrder) {
  constexpr size_t kBatches = 2000;
  const auto a = mailbox_.Add(a_);
  const WatchEvent event = Added("p");
  std::thread writer([&] {
    for (size_t i = 0; i < kBatches; ++i) {
      mailbox_.PutEvents(a, std::vector<WatchEvent>(i % 3 + 1, event));
    }
  });
  size_t delivered = 0;
  while (seen_.size() < kBatches) delivered += mailbox_.Deliver();
  writer.join();
  size_t expected = 0;
  for (size_t i = 0; i < kBatches; ++i) {
    std::string text = "a:";
    for (size_t j = 0; j <= i % 3; ++j) text += " +p";
    ASSERT_EQ(seen_[i], text);
    expected += i % 3 + 1;
  }
  EXPECT_EQ(delivered, expected);
}

}  // namespace
}  // namespace berth::host
