// Libraries that must not be loaded: berth reports the reason and the place in the profile, and
// does not start.
#include <string>

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
    for (const char* command : {"simulate", "run"}) {
      std::vector<std::string> args = {command, "--cluster", kSmall, "--profile", profile};
      if (std::string(command) == "run") args.emplace_back("--embedded");
      const Outcome run = Run(args);
      EXPECT_EQ(run.exit_status, 2);
      EXPECT_THAT(run.out, IsEmpty());
      EXPECT_THAT(run.err, HasSubstr(hostile.message));
      EXPECT_THAT(run.err, HasSubstr("libhostile.so"));
    }
  }
}

TEST_F(HostileCliTest, RefusesALibraryWithTheNameOfAnotherPlugin) {
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
