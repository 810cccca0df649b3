// `berth profile convert` as a user calls it.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

// A configuration that is converted without warnings.
const std::string kPlugins =
    "  plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
    "{name: NodeResourcesFit, weight: 3}, {name: DefaultBinder}]}}\n";

class ProfileConvertTest : public CliTest {
 protected:
  std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

TEST_F(ProfileConvertTest, WritesProfilesThatAreValidAndDecide) {
  const std::string config = File("k.yaml", kHead +
                                                "profiles:\n"
                                                "- schedulerName: full\n" +
                                                kPlugins +
                                                "  pluginConfig:\n"
                                                "  - name: NodeResourcesFit\n"
                                                "    args:\n"
                                                "      kind: NodeResourcesFitArgs\n"
                                                "      scoringStrategy: {type: MostAllocated}\n"
                                                "- schedulerName: empty\n" +
                                                kPlugins);
  const std::string folder = folder_ + "/out/profiles";
  const Outcome run = Run({"profile", "convert", config, "--output-dir", folder, "--strict"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.out, folder + "/full.toml\n" + folder + "/empty.toml\n");
  EXPECT_EQ(run.err, "");
  const std::string full = folder + "/full.toml";
  const std::string empty = folder + "/empty.toml";
  const Outcome check = Run({"profile", "check", full, empty});
  EXPECT_EQ(check.exit_status, 0) << check.err;

  // Node "a" has less room than "b".
  const std::string cluster =
      File("cluster.yaml", kNodes + PodOf("first", "1", "  schedulerName: full\n") +
                               PodOf("second", "1", "  schedulerName: empty\n"));
  const Outcome placed = Run({"simulate", "--cluster", cluster, "--profile", full, empty});
  EXPECT_EQ(placed.exit_status, 0) << placed.err;
  EXPECT_THAT(placed.out,
              AllOf(::testing::ContainsRegex("first +a"), ::testing::ContainsRegex("second +b")));
}

TEST_F(ProfileConvertTest, PrintsOneProfileToStandardOutput) {
  const std::string text = kHead + "profiles:\n- schedulerName: one\n" + kPlugins;
  const Outcome one = Run({"profile", "convert", "-"}, text);
  EXPECT_EQ(one.exit_status, 0) << one.err;
  EXPECT_EQ(one.out,
            "# Converted from <stdin>, profiles[0], with the defaults of kube-scheduler 1.37.\n"
            "schedulerName = \"one\"\n\n"
            "[[plugins]]\nname = \"PrioritySort\"\n\n"
            "[[plugins]]\nname = \"NodeResourcesFit\"\nweight = 3\n\n"
            "[[plugins]]\nname = \"DefaultBinder\"\n");
  // Two profiles in one output would not be a valid file.
  const Outcome two = Run({"profile", "convert", "-"}, text + "- schedulerName: two\n" + kPlugins);
  EXPECT_EQ(two.exit_status, 2);
  EXPECT_EQ(two.out, "");
  EXPECT_EQ(
      two.err,
      "berth: <stdin>: profiles: expected one profile for standard output (use --output-dir DIR "
      "to write one file for each), found 2\n");
}

TEST_F(ProfileConvertTest, OverwritesExistingFilesOnlyWithForce) {
  const std::string config = File("k.yaml", kHead + "profiles:\n- schedulerName: one\n" + kPlugins +
                                                "- schedulerName: two\n" + kPlugins);
  const std::string mine = File("two.toml", "mine");
  const std::vector<std::string> args = {"profile", "convert", config, "--output-dir", folder_};
  const Outcome refused = Run(args);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(refused.err, "berth: " + mine + " exists; use --force to overwrite it\n");
  EXPECT_EQ(Read(mine), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/one.toml"))
      << "either all files are written or none";

  std::vector<std::string> forced = args;
  forced.emplace_back("--force");
  EXPECT_EQ(Run(forced).exit_status, 0);
  EXPECT_THAT(Read(mine), HasSubstr("schedulerName = \"two\""));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/one.toml"));
}

TEST_F(ProfileConvertTest, StrictTreatsWarningsAsErrors) {
  const std::string config =
      File("k.yaml", kHead + "parallelism: 16\nprofiles:\n- schedulerName: one\n" + kPlugins);
  const std::string warning = "berth: warning: " + config +
                              ":3: parallelism: ignored: this version schedules on one thread\n";
  const Outcome warned = Run({"profile", "convert", config});
  EXPECT_EQ(warned.exit_status, 0);
  EXPECT_EQ(warned.err, warning);
  EXPECT_THAT(warned.out, HasSubstr("schedulerName = \"one\""));
  const Outcome strict = Run({"profile", "convert", config, "--strict", "--output-dir", folder_});
  EXPECT_EQ(strict.exit_status, 2);
  EXPECT_EQ(strict.err,
            warning + "berth: --strict: nothing was written because of the warnings above\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/one.toml"));
}

TEST_F(ProfileConvertTest, ReportsErrorsAndWritesNothing) {
  EXPECT_THAT(Run({"profile", "convert", folder_ + "/none.yaml"}).err,
              HasSubstr("none.yaml: No such file or directory"));
  const std::string config =
      File("k.yaml", kHead +
                         "profiles:\n- schedulerName: ../one\n  pluginConfig:\n"
                         "  - {name: NodeResourcesFit, args: {scoringStrategy: {type: Most}}}\n");
  const Outcome run = Run({"profile", "convert", config, "--output-dir", folder_ + "/out"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr(config + ":4: profiles[0].schedulerName: expected a valid file name, for "
                             "--output-dir, found \"../one\"\n"),
          HasSubstr(config + ":6: profiles[0].pluginConfig[0].args.scoringStrategy.type: expected "
                             "one of \"LeastAllocated\", \"MostAllocated\", "
                             "\"RequestedToCapacityRatio\", found \"Most\"")));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out"));
}

// Arguments that fit the schema may still be refused by the plugin. The conversion reports that.
TEST_F(ProfileConvertTest, LetsThePluginsCheckTheirArguments) {
  const std::string args =
      "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n";
  const std::string config =
      File("k.yaml", kHead + "profiles:\n- schedulerName: one\n" + kPlugins + args +
                         "        type: RequestedToCapacityRatio\n- schedulerName: two\n" +
                         kPlugins + args +
                         "        type: MostAllocated\n      ignoredResources:\n"
                         "      - a b\n");
  const Outcome run = Run({"profile", "convert", config, "--output-dir", folder_ + "/out"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(
      run.err,
      "berth: " + config +
          ":9: profiles[0].pluginConfig[0]: plugin \"NodeResourcesFit\": "
          "args.scoringStrategy.requestedToCapacityRatio: must be specified when type is "
          "RequestedToCapacityRatio\nberth: " +
          config +
          ":19: profiles[1].pluginConfig[0]: plugin \"NodeResourcesFit\": "
          "args.ignoredResources[0]: expected a qualified name, such as example.com/gpu, found "
          "\"a b\"\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out"));
}

TEST_F(ProfileConvertTest, ConvertsTheOnlyEntryOfAConfigMap) {
  const auto config_map = [](const std::string& entries) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scheduler}\ndata:\n" + entries;
  };
  const auto entry = [](const std::string& name, const std::string& parallelism) {
    return "  " + name +
           ": |\n    apiVersion: kubescheduler.config.k8s.io/v1\n"
           "    kind: KubeSchedulerConfiguration\n    parallelism: " +
           parallelism + "\n    profiles:\n    - schedulerName: one\n    " + kPlugins;
  };
  const std::string config = File("k.yaml", config_map(entry("config.yaml", "1")));
  const Outcome run = Run({"profile", "convert", config, "--strict"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "berth: converts " + config +
                         ", data.config.yaml, the only KubeSchedulerConfiguration of the "
                         "ConfigMap; lines count from its first line\n");
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("# Converted from " + config + ", data.config.yaml, profiles[0], "),
                    HasSubstr("schedulerName = \"one\"")));

  const Outcome wrong =
      Run({"profile", "convert", File("k.yaml", config_map(entry("config.yaml", "many")))});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("berth: " + config + ", data.config.yaml:3: parallelism: "));

  const Outcome two =
      Run({"profile", "convert",
           File("k.yaml", config_map(entry("a.yaml", "1") + entry("b.yaml", "1")))});
  EXPECT_EQ(two.exit_status, 2);
  EXPECT_EQ(two.out, "");
  EXPECT_THAT(two.err, AllOf(HasSubstr(config + ":4: data: expected one entry of the ConfigMap"),
                             HasSubstr("jsonpath='{.data.a\\.yaml}'")));
}

TEST_F(ProfileConvertTest, ResourcesOfExtendersAreIgnored) {
  const std::string config =
      File("k.yaml", kHead +
                         "extenders:\n- urlPrefix: http://a\n  managedResources: [{name: "
                         "example.com/gpu, ignoredByScheduler: true}]\n"
                         "profiles:\n- schedulerName: one\n" +
                         kPlugins);
  const Outcome run = Run({"profile", "convert", config, "--output-dir", folder_});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const std::string cluster = File(
      "cluster.yaml", std::string(kNodes) +
                          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
                          "  schedulerName: one\n  containers: [{name: c, resources: {requests: "
                          "{example.com/gpu: 1}}}]\n");
  const Outcome placed =
      Run({"simulate", "--cluster", cluster, "--profile", folder_ + "/one.toml"});
  EXPECT_EQ(placed.exit_status, 0) << placed.out << placed.err;

  const std::string wrong =
      File("w.yaml", kHead +
                         "extenders:\n- managedResources: [{name: a b, ignoredByScheduler: true}]\n"
                         "profiles:\n- schedulerName: one\n" +
                         kPlugins);
  EXPECT_THAT(Run({"profile", "convert", wrong}).err,
              HasSubstr("berth: " + wrong +
                        ":4: extenders: plugin \"NodeResourcesFit\": args.ignoredResources[0]: "
                        "expected a qualified name"));
}

// A plugin is found if its folder is given with --plugin-dir.
TEST_F(ProfileConvertTest, FindsPluginsInTheGivenFolders) {
  const std::string config =
      File("k.yaml", kHead +
                         "profiles:\n- schedulerName: gangs\n  plugins: {multiPoint: {enabled: "
                         "[{name: acme.Gang}]}, preBind: {disabled: [{name: acme.Gang}]}}\n");
  const Outcome without = Run({"profile", "convert", config});
  EXPECT_EQ(without.exit_status, 0);
  EXPECT_THAT(without.out, HasSubstr("# name = \"acme.Gang\"\n"));
  EXPECT_THAT(without.err, HasSubstr("there is no plugin \"acme.Gang\""));
  const Outcome with =
      Run({"profile", "convert", config, "--plugin-dir", BERTH_BINARY_DIR "/plugins",
           "--plugin-dir", std::filesystem::path(BERTH_TEST_PLUGIN_DIR).string()});
  EXPECT_EQ(with.exit_status, 0) << with.err;
  EXPECT_THAT(with.out, HasSubstr("\nname = \"acme.Gang\"\n"));
  EXPECT_THAT(with.err, Not(HasSubstr("acme.Gang")));
}

}  // namespace
}  // namespace berth::host
