// Libraries that must not be loaded: berth reports the reason and the place in the profile, and
// does not start.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"
#include "tests/integration/hostile_libraries.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostileCliTest : public CliTest {};

TEST_F(HostileCliTest, RefusesEachLibraryWithItsPathAndReason) {
  const std::string library = folder_ + "/libhostile.so";
  for (const HostileLibrary& hostile : HostileLibraries()) {
    SCOPED_TRACE(hostile.name);
    Plant(hostile, library);
    const std::string profile = File("p.toml", ProfileWith(hostile));
    for (const char* command : {"simulate", "replay"}) {
      const Outcome run = Run({command, "--cluster", kSmall, "--profile", profile});
      EXPECT_EQ(run.exit_status, 2);
      EXPECT_THAT(run.out, IsEmpty());
      EXPECT_THAT(run.err, HasSubstr(hostile.message));
      EXPECT_THAT(run.err, HasSubstr("libhostile.so"));
    }
  }
}

// Libraries that end or block the process that loads them.
constexpr struct {
  const char* variant;
  const char* message;
  bool is_slow = false;
} kDeadly[] = {
    {"aborts", "libhostile.so: the library ends the process with SIGABRT while it is loaded"},
    {"exits", "libhostile.so: the library ends the process with status "},
    {"bad_pointer", "libhostile.so: the library ends the process with SIGSEGV while it is loaded"},
    {"hangs", "libhostile.so: the library has not finished loading after 10 s", true},
};

TEST_F(HostileCliTest, EveryCommandSurvivesLibraryThatEndsTheProcess) {
  const auto start = std::chrono::steady_clock::now();
  steady_ns_ = [start] {  // Reaches the limit of 10 s in two seconds.
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count() * 5;
  };
  const std::string plugins = folder_ + "/plugins";
  const std::string library = plugins + "/libhostile.so";
  std::filesystem::create_directory(plugins);
  const std::string profile = File("p.toml",
                                   "extends = \"default\"\n[[plugins]]\nname = \"test.Variant\"\n"
                                   "library = \"plugins/libhostile.so\"\n");
  const std::vector<std::vector<std::string>> commands = {
      {"plugin", "list", "--plugin-dir", plugins},
      {"plugin", "list", "--plugin-dir", plugins, "--output", "json"},
      {"plugin", "describe", library},
      {"plugin", "describe", "test.Variant", "--plugin-dir", plugins},
      {"profile", "check", profile},
      {"profile", "show", profile},
      {"explain", "--cluster", kSmall, "--profile", profile, "--pod", "web-1"},
  };
  for (const auto& deadly : kDeadly) {
    SCOPED_TRACE(deadly.variant);
    Plant({.name = "", .variant = deadly.variant, .damage = nullptr, .more = "", .message = ""},
          library);
    for (const std::vector<std::string>& command : commands) {
      if (deadly.is_slow && command.front() != "profile") continue;
      const Outcome run = Run(command);
      EXPECT_EQ(run.exit_status, 2) << ::testing::PrintToString(command);
      EXPECT_THAT(run.out + run.err, HasSubstr(deadly.message));
    }
  }
}

TEST_F(HostileCliTest, RefusesLibraryWithTheNameOfAnotherPlugin) {
  const std::string profile =
      File("p.toml", std::string("extends = \"default\"\n[[plugins]]\n") +
                         "name = \"NodeName\"\nlibrary = \"" + BERTH_TEST_TALKER + "\"\n");
  const Outcome run = Run({"simulate", "--cluster", kSmall, "--profile", profile});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("NodeName"));
  EXPECT_THAT(run.err, HasSubstr(BERTH_TEST_TALKER));
}

}  // namespace
}  // namespace berth::host
