#include "host/process/event_feed.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr int64_t kPatienceNs = 10'000'000'000;

// A pipe whose other end the test holds.
class EventFeedTest : public ::testing::Test {
 protected:
  EventFeedTest() {
    std::array<int, 2> ends{};
    BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end_ = FileDescriptor(ends[0]);
    write_end_ = FileDescriptor(ends[1]);
  }

  void Write(const std::string& text) {
    ASSERT_EQ(write(write_end_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() { write_end_ = FileDescriptor(); }

  // Waits for what is next: its text, "end", or what is wrong.
  std::string Next(EventFeed& feed) {
    JsonText object;
    while (true) {
      switch (feed.Take(object)) {
        case EventFeed::Next::kObject: return object.text;
        case EventFeed::Next::kEnd: return "end";
        case EventFeed::Next::kFailed: return feed.error().ToString();
        case EventFeed::Next::kNothingYet:
          if (!waker_.Wait(kPatienceNs)) return "nobody was woken";
      }
    }
  }

  ThreadWaker waker_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

TEST_F(EventFeedTest, PassesOnWhatComesAndSaysWhenItEnds) {
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  JsonText object;
  EXPECT_EQ(feed.Take(object), EventFeed::Next::kNothingYet);
  Write("{\"a\":1}\n{\"b\"");
  EXPECT_EQ(Next(feed), "{\"a\":1}") << "although more comes";
  EXPECT_EQ(feed.Take(object), EventFeed::Next::kNothingYet);
  Write(":2}");
  EXPECT_EQ(Next(feed), "{\"b\":2}") << "although its line has not ended";
  Close();
  EXPECT_EQ(Next(feed), "end");
  EXPECT_EQ(Next(feed), "end");
}

TEST_F(EventFeedTest, FailsBehindWhatWasComplete) {
  Write("{\"a\":1}\n{]");
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  EXPECT_EQ(Next(feed), "{\"a\":1}");
  EXPECT_EQ(Next(feed), "InvalidArgument: f:2: expected a key in quotes, found ']'");
}

TEST_F(EventFeedTest, FailsWhereTheInputEndsWithinAnObject) {
  Write("{\"a\":1");
  Close();
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  EXPECT_EQ(Next(feed),
            "InvalidArgument: f:1: expected the end of the object, found the end of the text");
}

TEST_F(EventFeedTest, FailsWhereItCannotRead) {
  EventFeed feed(FileDescriptor(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "f", {}, waker_);
  EXPECT_EQ(Next(feed), "InvalidArgument: f: Is a directory");
}

TEST_F(EventFeedTest, RefusesAnObjectThatIsTooLong) {
  Write("{\"a\":\"xxxxxxxxxxxx\"}");
  EventFeed feed(std::move(read_end_), "f", {.object_bytes = 10}, waker_);
  EXPECT_EQ(Next(feed), "OutOfRange: f:1: expected an object of at most 10 bytes, found more");
}

TEST_F(EventFeedTest, ReadsAheadToItsLimitAndNoFurther) {
  for (const EventFeed::Limits& limits :
       {EventFeed::Limits{.objects = 3}, EventFeed::Limits{.bytes = 20}}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const FileDescriptor writer(ends[1]);
    EventFeed feed(FileDescriptor{ends[0]}, "f", limits, waker_);
    // More than feed and pipe hold together: the writer must be held up.
    // Short enough to be written whole or not at all.
    const std::string object = "{\"key\":" + std::string(2000, ' ') + "1}";
    size_t written = 0;
    constexpr size_t kEnough = size_t{8} << 20;
    int refusals = 0;
    while (written < kEnough && refusals < 100) {
      const ssize_t size = write(writer.get(), object.data(), object.size());
      if (size < 0) {
        ++refusals;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else {
        ASSERT_EQ(static_cast<size_t>(size), object.size());
        written += object.size();
      }
    }
    EXPECT_LT(written, kEnough);
    for (size_t taken = 0; taken < written; taken += object.size()) {
      ASSERT_EQ(Next(feed), object);
    }
  }
}

TEST_F(EventFeedTest, EndsWhileItWaitsForInput) {
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(EventFeedTest, EndsWhileItWaitsForRoom) {
  Write("{}{}{}{}{}{}");
  EventFeed feed(std::move(read_end_), "f", {.objects = 2}, waker_);
  EXPECT_EQ(Next(feed), "{}");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace berth::host
