// `berth` as a process, with a plugin that imitates the runtime of another language.
#include <csignal>
#include <string>

#include "tests/integration/process_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ForeignRuntimeCliTest : public RunProcessTest {
 protected:
  // Runs `berth simulate` with a plugin that does this in Filter.
  int Simulate(const std::string& what) {
    launcher_ = {"env", "BERTH_TEST_FOREIGN=" + what};
    const std::string profile = File("p.toml",
                                     "extends = \"default\"\n[[plugins]]\nname = \"test.Foreign\"\n"
                                     "library = \"" BERTH_TEST_FOREIGN "\"\n");
    return RunToFile({"simulate", "--cluster", kSmall, "-o", "json", "--profile", profile});
  }
};

TEST_F(ForeignRuntimeCliTest, ReportsThePluginOnce) {
  const std::string report =
      "berth: crashed in plugin test\\.Foreign \\([^\n]*\\) at Filter, pod [^\n]*\n";
  const std::string terminate = "terminate called without a C[+][+] exception\n";
  const struct {
    const char* what;
    int signal;
    std::string error;
  } cases[] = {
      {"fault", SIGSEGV, report},
      {"throw", SIGABRT, terminate + report},
      {"abort", SIGABRT, terminate + report},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(Simulate(c.what), 128 + c.signal);
    EXPECT_THAT(Error(), MatchesRegex(c.error));
    EXPECT_EQ(Output(), "");
  }
}

TEST_F(ForeignRuntimeCliTest, PluginRecoversFromItsFaults) {
  EXPECT_EQ(Simulate("recover"), Simulate("nothing"));
  EXPECT_THAT(Error(), Not(HasSubstr("crashed")));
  EXPECT_FALSE(Json::parse(Output(), nullptr, false).is_discarded()) << Output();
}

TEST_F(ForeignRuntimeCliTest, ExitStatusIsThatOfThePlugin) {
  EXPECT_EQ(Simulate("exit"), 4);
  EXPECT_EQ(Error(), "");
}

}  // namespace
}  // namespace berth::host
