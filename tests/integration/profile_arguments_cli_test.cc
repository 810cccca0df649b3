// `berth profile check` reports all errors of arguments at once.
#include <string>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

// Some errors violate the schema of a plugin, others only the plugin itself can detect.
TEST_F(CliTest, ProfileCheckReportsErrorsOfSchemasAndPlugins) {
  const std::string fit = "[[plugins]]\nname = \"NodeResourcesFit\"\n[plugins.args]\n";
  const std::string groups = "ignoredResourceGroups = [\"a/b\"]\n";
  const std::string of_fit =
      "berth: a.toml:5: plugin \"NodeResourcesFit\": args.ignoredResourceGroups[0]: resource group "
      "name can't contain '/', found \"a/b\"\n";
  const std::string start = "extends = \"default\"\n";
  const struct {
    const char* name;
    std::string toml;
    std::string want;
  } cases[] = {
      {"in one plugin", fit + groups + "ignoredResources = 1\n",
       of_fit + "berth: a.toml:6: plugin \"NodeResourcesFit\": args.ignoredResources: expected an "
                "array, found 1\n"},
      {"in two plugins",
       fit + groups +
           "[[plugins]]\nname = \"InterPodAffinity\"\nargs = {hardPodAffinityWeight = "
           "1.5}\n",
       of_fit +
           "berth: a.toml:8: plugin \"InterPodAffinity\": args.hardPodAffinityWeight: expected "
           "a whole number from 0 to 100, found the number 1.5\n"},
      {"beside an error of the profile", fit + groups + "[order]\nScoer = []\n",
       of_fit + "berth: a.toml:7: order.Scoer: expected an extension point, found \"Scoer\"; did "
                "you mean Score?\n"},
      {"but not of a disabled plugin",
       "[[plugins]]\nname = \"NodeResourcesFit\"\nenabled = false\n[plugins.args]\n" + groups +
           "[order]\nScoer = []\n",
       "berth: a.toml:8: order.Scoer: expected an extension point, found \"Scoer\"; did you mean "
       "Score?\n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome run = Run({"profile", "check", File("a.toml", start + c.toml)});
    EXPECT_EQ(run.exit_status, 2);
    std::string err = run.err;
    for (size_t at = 0; (at = err.find(folder_ + "/")) != std::string::npos;) {
      err.erase(at, folder_.size() + 1);
    }
    EXPECT_EQ(err, c.want);
  }
}

}  // namespace
}  // namespace berth::host
