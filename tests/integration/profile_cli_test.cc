// `berth profile` and --profile as a user calls them, with profile files and the plugins of this
// build.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/loader/library_store.h"
#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGang = BERTH_TEST_PLUGIN_DIR "/libtest_gang.so";

class ProfileCliTest : public CliTest {
 protected:
  // Returns the errors of `berth profile check` for a.toml, without its folder; "" if it is valid.
  std::string Check(const std::string& toml) {
    const std::string file = File("a.toml", toml);
    const Outcome run = Run({"profile", "check", file});
    EXPECT_EQ(run.exit_status == 0, run.err.empty()) << run.out;
    std::string output = run.err;
    for (size_t at = output.find(folder_ + "/"); at != std::string::npos;
         at = output.find(folder_ + "/")) {
      output.erase(at, folder_.size() + 1);
    }
    return output;
  }

  std::vector<std::string> At(const Json& profile, const char* point) {
    std::vector<std::string> names;
    if (!profile["points"].contains(point)) return names;
    for (const Json& use : profile["points"][point]) names.push_back(use["name"]);
    return names;
  }
};

// ---- The shipped profiles -----------------------------------------------------------------------

TEST_F(ProfileCliTest, ShippedProfilesAreValidTogether) {
  std::vector<std::string> args = {"profile", "check"};
  for (const auto& file : std::filesystem::directory_iterator(BERTH_SOURCE_DIR "/profiles")) {
    if (file.path().extension() == ".toml") args.push_back(file.path().stem());
  }
  EXPECT_EQ(args.size(), 6u);
  const Outcome run = Run(args);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("default.toml: valid: schedulerName default-scheduler"),
                             HasSubstr("minimal.toml: valid: schedulerName minimal, 6 plugins")));
}

// The plugins have the order and weights of kube-scheduler 1.37.
TEST_F(ProfileCliTest, TheDefaultProfileIsThatOfKubeScheduler) {
  const Json profile = Run({"profile", "show", "default", "-o", "json"}).json()["profiles"][0];
  EXPECT_THAT(
      At(profile, "Filter"),
      ElementsAre("NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts",
                  "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeZone",
                  "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"));
  std::string scores;
  for (const Json& use : profile["points"]["Score"])
    scores += use["name"].get<std::string>() + use["weight"].dump() + " ";
  EXPECT_EQ(scores,
            "TaintToleration3 NodeAffinity2 NodeResourcesFit1 PodTopologySpread2 "
            "InterPodAffinity2 NodeResourcesBalancedAllocation1 ImageLocality1 ");
  EXPECT_THAT(At(profile, "QueueSort"), ElementsAre("PrioritySort"));
  EXPECT_FALSE(profile["points"].contains("EnqueueExtensions"));
}

TEST_F(ProfileCliTest, ShowsACompleteProfile) {
  const Outcome run = Run({"profile", "show", "binpack", "--output", "json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const Json profile = run.json()["profiles"][0];
  EXPECT_EQ(profile["schedulerName"], "binpack");
  EXPECT_THAT(At(profile, "Score"),
              ElementsAre("TaintToleration", "NodeAffinity", "NodeResourcesFit",
                          "PodTopologySpread", "InterPodAffinity"));
  const auto fit = std::ranges::find_if(
      profile["plugins"], [](const Json& plugin) { return plugin["name"] == "NodeResourcesFit"; });
  EXPECT_EQ((*fit)["weight"], 5);
  EXPECT_EQ((*fit)["args"]["scoringStrategy"]["type"], "MostAllocated");
#ifndef __clang__  // A plugin that clang 14 compiled does not state the defaults of its lists.
  EXPECT_EQ((*fit)["args"]["scoringStrategy"]["resources"].size(), 2u) << "defaults are included";
#endif
  const Outcome table = Run({"profile", "show", "binpack"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("NodeResourcesFit (weight 5)"),
                               HasSubstr("Disabled: NodeResourcesBalancedAllocation, "
                                         "ImageLocality")));
}

TEST_F(ProfileCliTest, ProfileWrittenAsOneFileHasSamePlan) {
  File("base.toml",
       "extends = \"default\"\n"
       "[[plugins]]\nname = \"acme.Gang\"\nlibrary = \"libgang.so\"\nbefore = \"NodeName\"\n"
       "[order]\nScore = [\"ImageLocality\", \"TaintToleration\"]\nFilter = [\"NodePorts\"]\n");
  std::filesystem::copy_file(kGang, folder_ + "/libgang.so");
  const std::string mine =
      File("mine.toml",
           "schedulerName = \"mine\"\nextends = \"base.toml\"\n"
           "[[plugins]]\nname = \"TaintToleration\"\npoints = [\"Filter\"]\ndeadline = \"1.5s\"\n"
           "[[plugins]]\nname = \"NodePorts\"\nenabled = false\nafter = \"DefaultBinder\"\n"
           "[[plugins]]\nname = \"NodeResourcesFit\"\nargs = {ignoredResources = [\"a.b/c\"]}\n");
  std::filesystem::create_directories(folder_ + "/elsewhere");
  for (const std::string& name : {std::string("default"), std::string("binpack"),
                                  std::string("spread"), std::string("minimal"), mine}) {
    const Outcome toml = Run({"profile", "show", name, "--output", "toml"});
    EXPECT_EQ(toml.exit_status, 0) << toml.err;
    EXPECT_THAT(toml.out, ::testing::Not(HasSubstr("extends =")));
    const std::string whole = File("elsewhere/whole.toml", toml.out);
    Json was = Run({"profile", "show", name, "--output", "json"}).json()["profiles"][0];
    const Outcome shown = Run({"profile", "show", whole, "--output", "json"});
    ASSERT_EQ(shown.exit_status, 0) << name << shown.err << toml.out;
    Json is = shown.json()["profiles"][0];
    EXPECT_NE(was["file"], is["file"]);
    was.erase("file");
    is.erase("file");
    // A weight without effect is not written.
    for (Json& plugin : was["plugins"]) {
      if (name == mine && plugin["name"] == "TaintToleration") plugin.erase("weight");
    }
    EXPECT_EQ(was.dump(1), is.dump(1)) << toml.out;
    const Outcome again = Run({"profile", "show", whole, "-o", "toml"});
    EXPECT_EQ(again.out.substr(again.out.find('\n')), toml.out.substr(toml.out.find('\n')));
  }
  EXPECT_THAT(Run({"profile", "show", mine}).out,
              ::testing::ContainsRegex("PLUGIN +DEADLINE\nTaintToleration +1.5s\n"));
  const Outcome two = Run({"profile", "show", "default", mine, "--output", "toml"});
  EXPECT_EQ(two.exit_status, 2);
  EXPECT_EQ(two.err, "berth: --output toml: expected one profile, found 2\n");
}

// ---- The effect of profiles ---------------------------------------------------------------------

// Node "a" has less room than "b": binpack fills it first, spread selects the other.
TEST_F(ProfileCliTest, TwoProfilesInOneProcessDecideDifferently) {
  std::string pods;
  for (const char* name : {"binpack", "spread"}) {
    for (const char* number : {"1", "2"}) {
      pods +=
          PodOf(std::string(name) + number, "500m", "  schedulerName: " + std::string(name) + "\n");
    }
  }
  pods += PodOf("nobodys", "1", "  schedulerName: other\n");
  const std::string cluster = File("c.yaml", kNodes + pods);
  const std::vector<std::string> profiles = {"--profile", "binpack", "spread"};
  for (const char* command : {"simulate", "replay"}) {
    std::vector<std::string> args = {command, "--cluster", cluster, "--output", "json"};
    args.insert(args.end(), profiles.begin(), profiles.end());
    if (args[0] == "replay") args.insert(args.end(), {"--time", "virtual"});
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    std::map<std::string, std::string> node_of;
    if (args[0] == "simulate") {
      const Json report = run.json();
      for (const Json& placed : report["placements"]) node_of[placed["name"]] = placed["node"];
      EXPECT_EQ(report["summary"]["others"], 1);
    } else {
      std::istringstream lines(run.out);
      for (std::string line; std::getline(lines, line);) {
        const Json decision = Json::parse(line);
        if (decision["type"] == "Bound") {
          const std::string pod = decision["pod"];
          node_of[pod.substr(pod.find('/') + 1)] = decision["node"];
        }
      }
    }
    EXPECT_EQ(node_of,
              (std::map<std::string, std::string>{
                  {"binpack1", "a"}, {"binpack2", "a"}, {"spread1", "b"}, {"spread2", "b"}}))
        << command;
  }
}

TEST_F(ProfileCliTest, ExplainUsesTheProfileOfThePod) {
  const std::string cluster =
      File("c.yaml", kNodes + PodOf("p", "500m", "  schedulerName: binpack\n"));
  const auto explain = [&](const std::vector<std::string>& profiles) {
    std::vector<std::string> args = {"explain", "--cluster", cluster, "--pod",
                                     "p",       "--output",  "json",  "--profile"};
    args.insert(args.end(), profiles.begin(), profiles.end());
    return Run(args).json();
  };
  EXPECT_EQ(explain({"spread", "binpack"})["chosen"], "a");
  EXPECT_FALSE(explain({"spread", "binpack"}).contains("note"));
  const Json other = explain({"spread", "default"});
  EXPECT_EQ(other["chosen"], "b");
  EXPECT_THAT(
      other["note"].get<std::string>(),
      HasSubstr("The pod belongs to the scheduler binpack; this is the decision of spread."));
}

TEST_F(ProfileCliTest, DisablingAPluginChangesTheDecision) {
  const std::string cordoned =
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {unschedulable: true}\n"
      "status: {allocatable: {cpu: \"2\", memory: 4Gi, pods: \"10\"}}\n";
  const std::string cluster = File("c.yaml", cordoned + PodOf("p", "1"));
  const std::string off = File("off.toml",
                               "extends = \"default\"\n[[plugins]]\nname = \"NodeUnschedulable\"\n"
                               "enabled = false\n");
  EXPECT_EQ(Run({"simulate", "--cluster", cluster}).exit_status, 1);
  EXPECT_EQ(Run({"simulate", "--cluster", cluster, "--profile", off}).exit_status, 0);
}

TEST_F(ProfileCliTest, OrderAndPointsDetermineThePlan) {
  const std::string file = File("a.toml",
                                "extends = \"minimal\"\n"
                                "[[plugins]]\nname = \"NodeName\"\nbefore = \"TaintToleration\"\n"
                                "[[plugins]]\nname = \"TaintToleration\"\n"
                                "points = [\"Score\", \"Filter\", \"PreScore\"]\nweight = 0\n"
                                "[order]\nFilter = [\"NodeResourcesFit\", \"NodeName\"]\n");
  const Outcome run = Run({"profile", "show", file, "--output", "json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const Json profile = run.json()["profiles"][0];
  EXPECT_THAT(At(profile, "Filter"),
              ElementsAre("NodeResourcesFit", "NodeName", "NodeUnschedulable", "TaintToleration"));
  EXPECT_EQ(profile["points"]["Score"].dump(), R"([{"name":"TaintToleration","weight":1}])");
}

// A profile with fewer points need not repeat the order of the profile that it extends.
TEST_F(ProfileCliTest, InheritedOrderIgnoresPluginsWithoutThePoint) {
  const std::string order = "[order]\nScore = [\"ImageLocality\", \"NodeAffinity\"]\n";
  const std::string points = "[[plugins]]\nname = \"NodeAffinity\"\npoints = [\"Filter\"]\n";
  File("base.toml", "extends = \"default\"\n" + order);
  const std::string file = File("b.toml", "extends = \"base.toml\"\n" + points);
  const Outcome run = Run({"profile", "show", file, "--output", "json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(
      At(run.json()["profiles"][0], "Score"),
      ElementsAre("ImageLocality", "TaintToleration", "NodeResourcesFit", "PodTopologySpread",
                  "InterPodAffinity", "NodeResourcesBalancedAllocation"));
  EXPECT_THAT(Check("extends = \"default\"\n" + points + order),
              HasSubstr("a.toml:6: order.Score: expected a plugin that runs at Score, found "
                        "\"NodeAffinity\", which runs at Filter\n"));
}

// ---- Libraries of third parties -----------------------------------------------------------------

TEST_F(ProfileCliTest, LoadsTheLibrariesOfAProfile) {
  std::filesystem::copy_file(kGang, folder_ + "/libgang.so");
  const Outcome described = Run({"plugin", "describe", kGang, "--output", "json"});
  const std::string digest = described.json()["sha256"];
  const std::string name = described.json()["plugins"][0]["name"];
  const std::string plugin =
      "extends = \"default\"\n[[plugins]]\nname = \"" + name + "\"\nlibrary = \"libgang.so\"\n";
  EXPECT_EQ(Check(plugin), "");
  EXPECT_EQ(Check(plugin + "sha256 = \"" + digest + "\"\n"), "");
  EXPECT_EQ(Check(plugin + "sha256 = \"" + std::string(64, '0') + "\"\n"),
            "berth: a.toml:5: plugin \"" + name + "\": sha256: libgang.so: expected sha256 " +
                std::string(64, '0') + ", found " + digest + " [pin-mismatch]\n");
  const std::string wrong_pin = "berth: a.toml:5: plugin \"" + name + "\": sha256: expected 64 ";
  EXPECT_EQ(Check(plugin + "sha256 = \"" + digest.substr(2) + "\"\n"),
            wrong_pin + "hexadecimal digits, found 62\n");
  EXPECT_EQ(Check(plugin + "sha256 = 12\n[order]\nFilter = [\"" + name + "\"]\n"),
            wrong_pin + "hexadecimal digits, found 12\n");
  EXPECT_THAT(Check("extends = \"default\"\n[[plugins]]\nname = \"acme.X\"\nlibrary = \"no.so\"\n"),
              HasSubstr("berth: a.toml:4: plugin \"acme.X\": library: no.so: expected "));
  EXPECT_EQ(
      Check("extends = \"default\"\n[[plugins]]\nname = \"acme.X\"\nlibrary = \"libgang.so\"\n"),
      "berth: a.toml:4: plugin \"acme.X\": library: expected a library with this plugin, found "
      "libgang.so with " +
          name + "\n");
  EXPECT_EQ(Check("extends = \"default\"\n[[plugins]]\nname = \"acme.X\"\nlibrary = \"no.so\"\n"
                  "enabled = false\n"),
            "")
      << "a broken plugin can be disabled too";
  EXPECT_EQ(
      Check("extends = \"default\"\n[[plugins]]\nname = \"acme.X\"\nlibrary = \"libgang.so\"\n"
            "enabled = false\n"),
      "berth: a.toml:4: plugin \"acme.X\": library: expected a library with this plugin, found "
      "libgang.so with " +
          name + "\n");
}

// A disabled plugin counts as installed: the pod fields that it handles are ignored, not refused.
TEST_F(ProfileCliTest, ADisabledPluginIsStillInstalled) {
  const std::string cluster =
      File("c.yaml", kNodes + PodOf("p", "1", "  schedulingGroup: {podGroupName: g}\n"));
  const auto simulate = [&](const std::string& library) {
    const std::string profile =
        File("a.toml",
             "extends = \"default\"\n[[plugins]]\nname = \"acme.Gang\"\nenabled = false\n"
             "library = \"" +
                 library + "\"\n");
    return Run({"simulate", "--cluster", cluster, "--profile", profile});
  };
  const Outcome off = simulate(kGang);
  EXPECT_EQ(off.exit_status, 0) << off.out << off.err;
  const Outcome gone = simulate("gone.so");
  EXPECT_EQ(gone.exit_status, 1) << gone.err;
  EXPECT_THAT(gone.out,
              HasSubstr("pod uses spec.schedulingGroup, which no installed plugin handles"));
}

// ---- Errors -------------------------------------------------------------------------------------

// Replaces PLUGINS by the folder of this build's plugins.
std::string WithPluginDirectory(std::string text) {
  for (size_t at = text.find("PLUGINS"); at != std::string::npos; at = text.find("PLUGINS")) {
    text.replace(at, 7, BERTH_BINARY_DIR "/plugins");
  }
  return text;
}

TEST_F(ProfileCliTest, ReportsErrorsInPlugins) {
  struct Case {
    const char* toml;  // Added after `extends = "default"`.
    const char* error;
  };
  const Case cases[] = {
      {"[[plugins]]\nname = \"ImageLocalty\"",
       "berth: a.toml:2: plugin \"ImageLocalty\": name: expected a plugin of PLUGINS, or a "
       "`library` that contains it, found no plugin of this name; did you mean ImageLocality?\n"},
      {"[[plugins]]\nname = \"ImageLocalty\"\nenabled = false",
       "berth: a.toml:2: plugin \"ImageLocalty\": name: expected a plugin of PLUGINS, or a "
       "`library` that contains it, found no plugin of this name; did you mean ImageLocality?\n"},
      {"[[plugins]]\nname = \"NodeName\"\npoints = [\"Filtr\"]",
       "berth: a.toml:4: plugin \"NodeName\": points: expected an extension point, found "
       "\"Filtr\"; did you mean Filter?\n"},
      {"[[plugins]]\nname = \"NodeName\"\npoints = [\"Filter\", \"EnqueueExtensions\"]",
       "berth: a.toml:4: plugin \"NodeName\": points: expected an extension point, found "
       "\"EnqueueExtensions\", which cannot be selected: it runs for every plugin that implements "
       "it\n"},
      {"[[plugins]]\nname = \"NodeName\"\nweight = 2",
       "berth: a.toml:4: plugin \"NodeName\": weight: expected a plugin that runs at Score, "
       "found a plugin that runs only at PreFilter, Filter\n"},
      {"[[plugins]]\nname = \"ImageLocality\"\nweight = 92233720368547758",
       "berth: a.toml:4: plugin \"ImageLocality\": weight: expected weights whose sum is at most "
       "92233720368547758, found 92233720368547758 in addition to the other weights\n"},
      {"[order]\nFilter = [\"ImageLocality\"]",
       "berth: a.toml:3: order.Filter: expected a plugin that runs at Filter, found "
       "\"ImageLocality\", which runs at PreScore, Score\n"},
      {"[order]\nScoer = [\"ImageLocality\"]",
       "berth: a.toml:3: order.Scoer: expected an extension point, found \"Scoer\"; did you mean "
       "Score?\n"},
      {"[[plugins]]\nname = \"NodeResourcesFit\"\n[plugins.args.scoringStrategy]\n"
       "typ = \"MostAllocated\"",
       "berth: a.toml:4: plugin \"NodeResourcesFit\": args.scoringStrategy.type: expected a "
       "string, "
       "found none\n"
       "berth: a.toml:5: plugin \"NodeResourcesFit\": args.scoringStrategy.typ: expected a known "
       "key, found \"typ\"; did you mean type?\n"},
      {"[[plugins]]\nname = \"NodeName\"\nargs = {x = 1}",
       "berth: a.toml:4: plugin \"NodeName\": args.x: unknown key \"x\"\n"},
      // Only the plugin itself can detect this error.
      {"[[plugins]]\nname = \"NodeResourcesFit\"\n[plugins.args]\n"
       "ignoredResources = [\"a b\"]\n",
       "berth: a.toml:5: plugin \"NodeResourcesFit\": args.ignoredResources[0]: "},
      {"[[plugins]]\nname = \"PrioritySort\"\nenabled = false\n[[plugins]]\nname = "
       "\"DefaultBinder\"\nenabled = false",
       "berth: a.toml: plugins: expected exactly one plugin that runs at QueueSort, found none\n"
       "berth: a.toml: plugins: expected at least one plugin that runs at Bind, found none\n"},
      // The plugin runs at no point, so the weight is not an error.
      {"[[plugins]]\nname = \"NodePorts\"\npoints = [\"Score\"]\nweight = 1",
       "berth: a.toml:4: plugin \"NodePorts\": points: expected one of PreFilter, Filter, found "
       "\"Score\"\n"},
      // All errors are reported at once.
      {"shedulerName = \"x\"\n[[plugins]]\nname = \"NodeNmae\"\n[[plugins]]\nname = "
       "\"NodePorts\"\nweight = 1",
       "berth: a.toml:2: shedulerName: expected a known key, found \"shedulerName\"; did you mean "
       "schedulerName?\n"
       "berth: a.toml:3: plugin \"NodeNmae\": name: expected a plugin of PLUGINS, or a `library` "
       "that contains it, found no plugin of this name; did you mean NodeName?\n"
       "berth: a.toml:7: plugin \"NodePorts\": weight: expected a plugin that runs at Score, "
       "found a plugin that runs only at PreFilter, Filter\n"},
  };
  for (const Case& c : cases) {
    const std::string error = WithPluginDirectory(c.error);
    const std::string err = Check(std::string("extends = \"default\"\n") + c.toml + "\n");
    EXPECT_EQ(err.substr(0, error.ends_with('\n') ? err.size() : error.size()), error) << c.toml;
  }
}

TEST_F(ProfileCliTest, ProfilesOfOneProcessMustBeCompatible) {
  const std::string one = File("one.toml", "extends = \"default\"\nschedulerName = \"x\"\n");
  const std::string two = File("two.toml", "schedulerName = \"x\"\nextends = \"one.toml\"\n");
  const Outcome names = Run({"profile", "check", one, two});
  EXPECT_EQ(names.exit_status, 2);
  EXPECT_EQ(names.err, "berth: " + two +
                           ": schedulerName: expected a unique name for each "
                           "profile, found \"x\" (" +
                           two + ":1) as in " + one + " (" + one + ":2)\n");

  const std::string puppet = BERTH_TEST_PLUGIN_DIR "/libtest_shapes.so";
  const std::string other = File("other.toml",
                                 "schedulerName = \"y\"\nextends = \"default\"\n"
                                 "[[plugins]]\nname = \"PrioritySort\"\nenabled = false\n"
                                 "[[plugins]]\nname = \"cpp.ByKey\"\nlibrary = \"" +
                                     puppet + "\"\n");
  const Outcome sorts = Run({"profile", "check", "default", other});
  EXPECT_EQ(sorts.exit_status, 2);
  EXPECT_THAT(sorts.err, AllOf(HasSubstr(other + ":6: plugin \"cpp.ByKey\": QueueSort: expected "
                                                 "\"PrioritySort\", as in "),
                               HasSubstr("because all profiles share one queue, found "
                                         "\"cpp.ByKey\"\n")));
  EXPECT_EQ(Run({"profile", "check", other}).exit_status, 0);
}

TEST_F(ProfileCliTest, ProfileHasAtMostOnePluginWithEntity) {
  const auto profile = [&](const std::string& name, const std::string& second) {
    const std::string library = "library = \"" BERTH_TEST_PLUGIN_DIR "/libtest_shapes.so\"\n";
    return File(name + ".toml", "schedulerName = \"" + name + "\"\nextends = \"default\"\n" +
                                    "[[plugins]]\nname = \"cpp.ByJob\"\n" + library +
                                    "[[plugins]]\nname = \"" + second + "\"\n" + library);
  };
  const std::string two = profile("two", "cpp.ByTeam");
  const Outcome run = Run({"profile", "check", two});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "berth: " + two +
                         ": plugins: expected at most one plugin that implements Entity, found "
                         "cpp.ByJob, cpp.ByTeam\n");
  EXPECT_EQ(Run({"profile", "check", profile("one", "cpp.PerNode")}).exit_status, 0);
}

// All profiles share one queue, which is sorted by one plugin with one set of arguments.
TEST_F(ProfileCliTest, ProfilesMustHaveTheSameQueueSortArguments) {
  const auto sorted = [&](const std::string& name, const std::string& args) {
    return File(name + ".toml",
                "schedulerName = \"" + name + "\"\nextends = \"default\"\n" +
                    "[[plugins]]\nname = \"PrioritySort\"\nenabled = false\n"
                    "[[plugins]]\nname = \"test.Thrower\"\npoints = [\"QueueSort\"]\n"
                    "library = \"" BERTH_TEST_PLUGIN_DIR "/libtest_thrower.so\"\n" +
                    args);
  };
  const std::string one = sorted("one", "args = {at = \"nowhere\"}\n");
  const std::string same = sorted("same", "[plugins.args]\nat = \"nowhere\"\n");
  const std::string other = sorted("other", "args = {at = \"elsewhere\"}\n");
  const std::string none = sorted("none", "");
  EXPECT_EQ(Run({"profile", "check", one, same}).exit_status, 0);
  const std::string error = "plugin \"test.Thrower\": args: expected the same arguments as in " +
                            one +
                            ", because all profiles share one queue, found different arguments\n";
  const Outcome run = Run({"profile", "check", one, same, other, none});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "berth: " + other + ":10: " + error + "berth: " + none + ":6: " + error);
}

TEST_F(ProfileCliTest, EachProfilesErrorsAreReported) {
  const std::string off = "\nenabled = false\n";
  const std::string sort = "[[plugins]]\nname = \"PrioritySort\"";
  const std::string bind = "[[plugins]]\nname = \"DefaultBinder\"";
  const std::string by_key = "[[plugins]]\nname = \"cpp.ByKey\"\nlibrary = \"" BERTH_TEST_PLUGIN_DIR
                             "/libtest_shapes.so\"\n";
  const std::string typo = File("typo.toml", "schedulerName = \"x y\"\nextends = \"default\"\n" +
                                                 sort + off + "[[plugins]]\nname = \"NodeNmae\"\n");
  const std::string weight =
      File("weight.toml", "extends = \"default\"\n" + bind + "\nweight = -1" + off);
  const std::string other = File(
      "other.toml", "schedulerName = \"other\"\nextends = \"default\"\n" + sort + off + by_key);
  const std::string none = File("none.toml", "extends = \"gone.toml\"\n");
  const std::string last = File("last.toml", "schedulerName = \"last\"\nextends = \"default\"\n");
  const Outcome run = Run({"profile", "check", typo, weight, other, none, last});
  EXPECT_EQ(run.exit_status, 2);
  std::string output = run.err;
  for (size_t at = 0; (at = output.find(folder_ + "/")) != std::string::npos;) {
    output.erase(at, folder_.size() + 1);
  }
  const std::string expected_name =
      "name: expected a plugin of " BERTH_BINARY_DIR "/plugins, or a `library` that contains it, ";
  EXPECT_EQ(
      output,
      "berth: typo.toml:1: schedulerName: expected the name of a scheduler, without spaces "
      "and control characters, found \"x y\"\n"
      "berth: typo.toml:6: plugin \"NodeNmae\": " +
          expected_name +
          "found no plugin of this name; did you mean NodeName?\n"
          "berth: weight.toml: plugins: expected at least one plugin that runs at Bind, found "
          "none\n"
          "berth: weight.toml:4: plugin \"DefaultBinder\": weight: expected a whole number of at "
          "least 0, found -1\n"
          "berth: none.toml:1: extends: expected a profile, found none at gone.toml: No such file "
          "or directory\n"
          "berth: other.toml:6: plugin \"cpp.ByKey\": QueueSort: expected \"PrioritySort\", as in "
          "weight.toml, because all profiles share one queue, found \"cpp.ByKey\"\n");
}

TEST_F(ProfileCliTest, RefusesAnInvalidProfileBeforeScheduling) {
  const std::string bad = File("bad.toml", "extends = \"default\"\nx = \n");
  for (const char* command : {"simulate", "explain", "replay"}) {
    std::vector<std::string> args = {command, "--cluster", kSmall, "--profile", bad};
    if (args[0] == "explain") args.insert(args.end(), {"--pod", "p"});
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, 2) << command;
    EXPECT_EQ(run.out, "") << command;
    EXPECT_THAT(run.err, ::testing::StartsWith("berth: " + bad + ":2: not TOML: ")) << command;
  }
  EXPECT_THAT(Run({"simulate", "--cluster", kSmall, "--profile", "binpak"}).err,
              HasSubstr("did you mean binpack?"));
  EXPECT_THAT(Run({"simulate", "--cluster", kSmall, "--profile", folder_ + "/none.toml"}).err,
              HasSubstr("No such file or directory"));
  EXPECT_THAT(Run({"simulate", "--cluster", kSmall, "--profile", folder_ + "/"}).err,
              HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace berth::host
