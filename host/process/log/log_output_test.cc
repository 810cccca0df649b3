#include "host/process/log/log_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

// Logs that write into a pipe which the test reads.
class LogOutputTest : public ::testing::Test {
 protected:
  LogOutputTest() {
    std::array<int, 2> ends{};
    BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    read_end_ = FileDescriptor(ends[0]);
    write_end_ = FileDescriptor(ends[1]);
  }

  LogOutput::Options Options() {
    return {.wall_ns = [] { return int64_t{0}; }, .descriptor = write_end_.get(), .pid = 7};
  }

  // Reads what the pipe holds now.
  std::string ReadAll() {
    std::string text;
    std::array<char, 4096> piece;
    ssize_t size = 0;
    while ((size = read(read_end_.get(), piece.data(), piece.size())) > 0) {
      text.append(piece.data(), static_cast<size_t>(size));
    }
    return text;
  }

  // Fills the pipe, so that a write must wait until the test reads.
  void Fill() {
    const std::string piece(4096, 'x');
    while (write(write_end_.get(), piece.data(), piece.size()) > 0) {
    }
  }

  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

TEST_F(LogOutputTest, WritesOneLinePerRecordInOrder) {
  LogOutput log(Options());
  log.Write({.logger = "a", .message = "one"});
  log.Write({.level = BERTH_LOG_ERROR, .logger = "b", .message = "two", .error = "e"});
  EXPECT_TRUE(log.Flush());
  EXPECT_EQ(ReadAll(),
            "I0101 00:00:00.000000       7 a] \"one\"\n"
            "E0101 00:00:00.000000       7 b] \"two\" err=\"e\"\n");
  EXPECT_EQ(log.dropped(), 0u);
}

TEST_F(LogOutputTest, TheLevelChangesWhileItRuns) {
  LogOutput output(Options());
  LogFilter log(output, BERTH_LOG_INFO);
  EXPECT_FALSE(log.IsOn(BERTH_LOG_DEBUG));
  EXPECT_TRUE(log.IsOn(BERTH_LOG_INFO));
  log.Write({.level = BERTH_LOG_DEBUG, .logger = "p", .message = "left out"});
  log.SetLevel(BERTH_LOG_DEBUG);
  EXPECT_EQ(LowestLevel(&log), uint32_t{BERTH_LOG_DEBUG});
  log.Write({.level = BERTH_LOG_DEBUG, .logger = "p", .message = "written"});
  EXPECT_TRUE(output.Flush());
  EXPECT_EQ(ReadAll(), "I0101 00:00:00.000000       7 p] \"written\"\n");
}

TEST_F(LogOutputTest, TheDestructorWritesWhatWaits) {
  {
    LogOutput log(Options());
    for (int i = 0; i < 100; ++i) log.Write({.logger = "p", .message = "m"});
  }
  const std::string text = ReadAll();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100);
}

TEST_F(LogOutputTest, WritesALineLongerThanThePipeWhole) {
  const std::string message(size_t{200} << 10, 'm');
  std::string text;
  std::thread reader;
  {
    LogOutput log(Options());
    reader = std::thread([&] {
      while (text.empty() || text.back() != '\n') {
        std::array<pollfd, 1> wait = {{{.fd = read_end_.get(), .events = POLLIN, .revents = 0}}};
        if (poll(wait.data(), wait.size(), 10'000) <= 0) return;
        text += ReadAll();
      }
    });
    log.Write({.logger = "p", .message = message});
    reader.join();
  }
  EXPECT_EQ(text, "I0101 00:00:00.000000       7 p] \"" + message + "\"\n");
}

TEST_F(LogOutputTest, StalledReaderLosesOldestRecordsWithoutBlocking) {
  LogOutput::Options options = Options();
  options.queue_records = 4;
  Fill();
  LogOutput log(options);
  constexpr uint64_t kRecords = 100;
  for (uint64_t i = 0; i < kRecords; ++i) {
    log.Write({.logger = "p", .message = std::to_string(i)});
  }
  // The queue holds four records, and spdlog's thread at most one.
  EXPECT_GE(log.dropped(), kRecords - 5);
  std::string text = ReadAll();
  EXPECT_TRUE(log.Flush());
  text += ReadAll();
  EXPECT_NE(text.find("\"99\"\n"), std::string::npos) << "the newest record is kept";
  uint64_t reported = 0;
  const std::string_view mark = "log is too slow\" count=\"";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    reported += std::stoull(text.substr(at + mark.size()));
  }
  EXPECT_EQ(reported, log.dropped()) << text;
}

TEST_F(LogOutputTest, DestructorDoesNotWaitForAStalledReader) {
  Fill();
  {
    LogOutput log(Options());
    log.Write({.logger = "p", .message = "m"});
    EXPECT_FALSE(log.Flush());
  }
  EXPECT_EQ(ReadAll().find('m'), std::string::npos);
}

TEST_F(LogOutputTest, CountsRecordsWhoseWriteFails) {
  const FileDescriptor read_only(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(read_only.ok());
  LogOutput::Options options = Options();
  options.descriptor = read_only.get();
  LogOutput log(options);
  log.Write({.logger = "p", .message = "m"});
  EXPECT_TRUE(log.Flush());
  EXPECT_EQ(log.dropped(), 1u);
}

TEST_F(LogOutputTest, LinesOfSeveralThreadsStayWhole) {
  LogOutput log(Options());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) log.Write({.logger = "p", .message = "same"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(log.Flush());
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += "I0101 00:00:00.000000       7 p] \"same\"\n";
  EXPECT_EQ(ReadAll(), expected);
}

}  // namespace
}  // namespace berth::host
