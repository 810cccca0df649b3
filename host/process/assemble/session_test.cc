#include "host/process/assemble/session.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSessionProfile = R"(
schedulerName = "acme"
[[plugins]]
name = "PrioritySort"
[[plugins]]
name = "DefaultBinder"
)";

class NoRequests final : public ProcessRequests {
 public:
  void OnStop(std::function<void(int signal)>) override {}
};

class IdleDriver final : public Driver {
 public:
  using Driver::Driver;

 private:
  bool IsDone() override { return true; }
  bool RunRound() override { return false; }
  void Wait() override {}
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    std::ofstream(profile_) << kSessionProfile;
    options_.requests = [this](const std::function<void()>& reload) {
      can_reload_ = static_cast<bool>(reload);
      return std::make_unique<NoRequests>();
    };
  }
  ~SessionTest() override {
    std::filesystem::remove(profile_);
    std::filesystem::remove(host_file_);
  }

  void WriteHostFile(const std::string& text) {
    std::ofstream(host_file_) << text;
    options_.config.host_file = host_file_;
  }

  const std::string start_ = ::testing::TempDir() + "berth_session_" + std::to_string(getpid());
  const std::string profile_ = start_ + "_profile.toml";
  const std::string host_file_ = start_ + "_berth.toml";
  ProcessOptions options_{.config = {.host_file = "",
                                     .profiles = {profile_},
                                     .plugin_directories = {DefaultPluginDirectory()},
                                     .executable = "/nowhere/berth"},
                          .seed = 7,
                          .checks_reuse = true,
                          .temporary_directory = ::testing::TempDir(),
                          .steady_ns = [] { return int64_t{0}; },
                          .wall_ns = [] { return int64_t{0}; }};
  const Session::Settings settings_ = {
      .logger = "test", .log_level = BERTH_LOG_WARN, .reloads = true};
  TestClock clock_;
  IdleDriver driver_{nullptr};
  TestLog log_;
  bool can_reload_ = false;
};

TEST_F(SessionTest, SetsTheOptionsThatEveryProcessHas) {
  WriteHostFile("podMaxBackoffSeconds = 33\n");
  Session session(options_, settings_, driver_);
  EXPECT_TRUE(can_reload_);
  ASSERT_TRUE(session.ReadConfig().ok());
  session.OpenLog(log_);
  const SchedulerOptions options = session.TakeSchedulerOptions(clock_);
  ASSERT_EQ(options.profiles.size(), 1U);
  EXPECT_EQ(options.profiles[0].scheduler_name, "acme");
  EXPECT_TRUE(options.plugins->catalog().plugins().contains("DefaultBinder"));
  EXPECT_EQ(options.loop.seed, 7U);
  EXPECT_TRUE(options.loop.reuse.is_checked);
  EXPECT_EQ(options.loop.clock, &clock_);
  EXPECT_EQ(options.loop.waker, &driver_.waker());
  EXPECT_EQ(options.loop.queue.max_backoff_ns, 33'000'000'000);
  EXPECT_EQ(session.set().plugins, nullptr) << "the session keeps no plugin";
}

TEST_F(SessionTest, ReportsAnErrorOfTheConfiguration) {
  std::ofstream(profile_, std::ios::app) << "[[plugins]]\nname = \"acme.Missing\"\n";
  Session session(options_, settings_, driver_);
  EXPECT_THAT(session.ReadConfig().message(), HasSubstr("acme.Missing"));
}

TEST_F(SessionTest, CommandLineThenHostFileSelectLogLevel) {
  struct Case {
    const char* name;
    const char* host_file;
    std::optional<uint32_t> given;
    uint32_t level;
  };
  const Case cases[] = {{"neither", "", std::nullopt, BERTH_LOG_WARN},
                        {"host file", "logLevel = \"debug\"\n", std::nullopt, BERTH_LOG_DEBUG},
                        {"both", "logLevel = \"debug\"\n", BERTH_LOG_TRACE, BERTH_LOG_TRACE}};
  for (const Case& c : cases) {
    WriteHostFile(c.host_file);
    options_.log_level = c.given;
    Session session(options_, settings_, driver_);
    ASSERT_TRUE(session.ReadConfig().ok()) << c.name;
    session.OpenLog(log_);
    EXPECT_EQ(LowestLevel(&session.sink()), c.level) << c.name;
  }
}

TEST_F(SessionTest, SubscribesToNoReloadWithoutReloading) {
  const Session session(options_, {.logger = "", .log_level = BERTH_LOG_WARN, .reloads = false},
                        driver_);
  EXPECT_FALSE(can_reload_);
}

}  // namespace
}  // namespace berth::host
