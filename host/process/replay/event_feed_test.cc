#include "host/process/replay/event_feed.h"

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

constexpr int64_t kTimeoutNs = 10'000'000'000;

// Feeds read from a pipe that the test writes to.
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

  // Waits for the next object and returns its text; "end" at the end; otherwise the error.
  std::string Next(EventFeed& feed) {
    JsonText object;
    while (true) {
      switch (feed.Take(object)) {
        case EventFeed::Next::kObject: return object.text;
        case EventFeed::Next::kEnd: return "end";
        case EventFeed::Next::kFailed: return feed.error().ToString();
        case EventFeed::Next::kNothingYet:
          if (!waker_.Wait(kTimeoutNs)) return "the feed does not wake the waker";
      }
    }
  }

  ThreadWaker waker_;
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

TEST_F(EventFeedTest, ReturnsCompleteObjectsAtOnceThenTheEnd) {
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  JsonText object;
  EXPECT_EQ(feed.Take(object), EventFeed::Next::kNothingYet);
  Write("{\"a\":1}\n{\"b\"");
  EXPECT_EQ(Next(feed), "{\"a\":1}") << "before the next object is complete";
  EXPECT_EQ(feed.Take(object), EventFeed::Next::kNothingYet);
  Write(":2}");
  EXPECT_EQ(Next(feed), "{\"b\":2}") << "before its line has ended";
  Close();
  EXPECT_EQ(Next(feed), "end");
  EXPECT_EQ(Next(feed), "end");
}

TEST_F(EventFeedTest, ReturnsCompleteObjectsBeforeASyntaxError) {
  Write("{\"a\":1}\n{]");
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  EXPECT_EQ(Next(feed), "{\"a\":1}");
  EXPECT_EQ(Next(feed), "InvalidArgument: f:2: expected a key in quotes, found ']'");
}

TEST_F(EventFeedTest, FailsIfTheInputEndsWithinAnObject) {
  Write("{\"a\":1");
  Close();
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  EXPECT_EQ(Next(feed),
            "InvalidArgument: f:1: expected the end of the object, found the end of the text");
}

TEST_F(EventFeedTest, FailsIfTheFileCannotBeRead) {
  EventFeed feed(FileDescriptor(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "f", {}, waker_);
  EXPECT_EQ(Next(feed), "InvalidArgument: f: Is a directory");
}

TEST_F(EventFeedTest, RefusesAnObjectThatIsTooLong) {
  Write("{\"a\":\"xxxxxxxxxxxx\"}");
  EventFeed feed(std::move(read_end_), "f", {.object_bytes = 10}, waker_);
  EXPECT_EQ(Next(feed), "OutOfRange: f:1: expected an object of at most 10 bytes, found more");
}

TEST_F(EventFeedTest, DoesNotReadAheadBeyondItsLimits) {
  for (const EventFeed::Limits& limits :
       {EventFeed::Limits{.objects = 3}, EventFeed::Limits{.bytes = 20}}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const FileDescriptor writer(ends[1]);
    EventFeed feed(FileDescriptor{ends[0]}, "f", limits, waker_);
    // Write more than the feed and the pipe hold together, so that the pipe must refuse a write. An
    // object is short enough to be written completely or not at all.
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

TEST_F(EventFeedTest, CanBeDestroyedWhileItWaitsForInput) {
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(EventFeedTest, CanBeDestroyedWhileItWaitsForRoom) {
  Write("{}{}{}{}{}{}");
  EventFeed feed(std::move(read_end_), "f", {.objects = 2}, waker_);
  EXPECT_EQ(Next(feed), "{}");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(EventFeedTest, NamesWhatAFileWithoutObjectsLooksLike) {
  const std::string expected =
      "; expected watch events as JSON: use kubectl get --watch --output-watch-events -o json";
  struct Case {
    const char* text;
    std::string error;
  };
  const Case cases[] = {
      {"<html><body>404</body></html>\n", "1: this looks like an HTML page" + expected},
      {"NAME    READY   STATUS\nweb-0   1/1     Running\n",
       "1: this looks like a table that kubectl prints" + expected},
      {"\nkind: Pod\n", "2: expected an object, found 'k'" + expected},
      {"[{}]", "1: expected an object, found '['" + expected},
      {"{\"a\" 1}", "1: expected ':', found '1'"},
      {"{\n", "1: expected the end of the object, found the end of the text"},
  };
  for (const Case& c : cases) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end_ = FileDescriptor(ends[0]);
    write_end_ = FileDescriptor(ends[1]);
    Write(c.text);
    Close();
    EventFeed feed(std::move(read_end_), "f", {}, waker_);
    EXPECT_EQ(Next(feed), "InvalidArgument: f:" + c.error);
  }
}

TEST_F(EventFeedTest, ReportsOnlyTheErrorAfterAnObject) {
  Write("{} <html>");
  Close();
  EventFeed feed(std::move(read_end_), "f", {}, waker_);
  EXPECT_EQ(Next(feed), "{}");
  EXPECT_EQ(Next(feed), "InvalidArgument: f:1: expected an object, found '<'");
}

}  // namespace
}  // namespace berth::host
