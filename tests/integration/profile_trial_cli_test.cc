// `berth profile check` lets each profile decide about a pod.
#include <chrono>
#include <string>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using ProfileTrialCliTest = CliTest;

// A profile may be valid and still fail for every pod.
TEST_F(ProfileTrialCliTest, ReportsWhatFailsForEveryPod) {
  const auto with = [](const std::string& plugin, const std::string& points) {
    return "extends = \"default\"\n[[plugins]]\nname = \"" + plugin + "\"\npoints = [" + points +
           "]\n";
  };
  const std::string fails = "a.toml: the attempt to place a pod without requests fails: ";
  const struct {
    const char* name;
    std::string profile;
    std::string error;  // "": the profile is valid, and a pod can be placed or is rejected.
    int exit_status;
  } cases[] = {
      {"all points", with("NodePorts", "\"PreFilter\", \"Filter\""), "", 0},
      {"Filter without PreFilter", with("NodePorts", "\"Filter\""),
       fails + "running \"NodePorts\" filter plugin: Filter requires the State of the plugin", 1},
      {"Score without PreScore", with("ImageLocality", "\"Score\""),
       fails + "running Score plugins: plugin \"ImageLocality\" failed with: Score requires the "
               "State of the plugin",
       1},
      {"PreFilter without Filter", with("NodePorts", "\"PreFilter\""), "", 0},
      {"Filter that needs no state", with("NodeAffinity", "\"Filter\""), "", 0},
      {"a plugin that rejects every pod",
       with("acme.Door", "\"Filter\"") + "library = \"" BERTH_SHUT_DOOR "\"\n", "", 0},
      {"a plugin that fails at Permit",
       with("test.Thrower", "\"Permit\"") + "library = \"" BERTH_TEST_PLUGIN_DIR
                                            "/libtest_thrower.so\"\nargs = {at = \"Permit\"}\n",
       fails + "running Permit plugin \"test.Thrower\": thrown at Permit", 1},
      {"a plugin that fails at PreEnqueue",
       with("test.Thrower", "\"PreEnqueue\"") +
           "library = \"" BERTH_TEST_PLUGIN_DIR
           "/libtest_thrower.so\"\nargs = {at = \"PreEnqueue\"}\n",
       fails + "running PreEnqueue plugin \"test.Thrower\": thrown at PreEnqueue", 1},
      {"no plugin at Bind", with("DefaultBinder", ""), "expected at least one plugin", 2},
      {"no plugin at QueueSort", with("PrioritySort", ""), "expected exactly one plugin", 2},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome run = Run({"profile", "check", "minimal", File("a.toml", c.profile)});
    EXPECT_EQ(run.exit_status, c.exit_status) << run.err;
    EXPECT_THAT(run.err, HasSubstr(c.error));
    EXPECT_EQ(run.err.empty(), c.error.empty()) << run.err;
    EXPECT_EQ(run.out.find("minimal.toml: valid") != std::string::npos, c.exit_status != 2);
  }
}

// The watchdog cancels a call that is late, by the deadline that the profile sets for the plugin.
TEST_F(ProfileTrialCliTest, CancelsALateCall) {
  const std::string profile = File("a.toml",
                                   "extends = \"default\"\n[[plugins]]\nname = \"acme.Sleeper\"\n"
                                   "deadline = \"100ms\"\nlibrary = \"" BERTH_WAITER "\"\n");
  steady_ns_ = [] {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  const Outcome run = Run({"profile", "check", profile});
  EXPECT_EQ(run.exit_status, 1) << run.out;
  EXPECT_THAT(run.err, HasSubstr("acme.Sleeper"));
}

// A plugin whose PreFilter or PreScore does not run works without it, or reports what is missing.
TEST_F(ProfileTrialCliTest, PluginWorksWithSomeOfItsExtensionPoints) {
  const std::string cluster = File("c.yaml", kNodes + PodOf("p", "1"));
  size_t tried = 0;
  for (const char* points : {"Filter", "Score"}) {
    const Json shown = Run({"profile", "show", "default", "--output", "json"}).json();
    for (const Json& use : shown["profiles"][0]["points"][points]) {
      const std::string plugin = use["name"];
      const std::string file = File("a.toml", "extends = \"default\"\n[[plugins]]\nname = \"" +
                                                  plugin + "\"\npoints = [\"" + points + "\"]\n");
      const Outcome run = Run({"simulate", "--cluster", cluster, "--profile", file});
      if (run.exit_status != 0) {
        EXPECT_THAT(
            run.out,
            AllOf(HasSubstr(plugin), HasSubstr(points + std::string(" requires the ")),
                  HasSubstr(std::string("the profile must run the plugin at Pre") + points)));
      }
      ++tried;
    }
  }
  EXPECT_EQ(tried, 19u);
}

}  // namespace
}  // namespace berth::host
