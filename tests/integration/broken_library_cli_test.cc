// Libraries in a plugin directory that cannot be loaded, libraries that are no plugins, and several
// plugin directories.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"
#include "tests/integration/hostile_libraries.h"

namespace berth::host {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A plugin directory with the plugins of this build.
class BrokenLibraryTest : public CliTest {
 protected:
  BrokenLibraryTest() { AddBuiltPlugins(plugins_); }

  static void AddBuiltPlugins(const std::string& directory) {
    fs::create_directories(directory);
    for (const auto& library : fs::directory_iterator(BERTH_BINARY_DIR "/plugins")) {
      if (library.path().extension() != ".so") continue;
      fs::create_symlink(library.path(), directory + "/" + library.path().filename().string());
    }
  }
  // Copies a library of tests/loader to the directory. Returns the path of the copy.
  std::string Add(const std::string& variant) const {
    const std::string path = plugins_ + "/lib" + variant + ".so";
    Plant({.name = "", .variant = variant.c_str(), .damage = nullptr, .more = "", .message = ""},
          path);
    return path;
  }
  // Commands that use the default profile, and their exit statuses.
  struct Case {
    std::vector<std::string> args;
    int exit_status;
  };
  std::vector<Case> Commands() {
    return {{{"simulate", "--cluster", kSmall}, 1},
            {{"explain", "--cluster", kSmall, "--pod", "web-1"}, 0},
            {{"replay", "--cluster", kSmall, "--time", "virtual"}, 1},
            {{"profile", "check", "default"}, 0},
            {{"profile", "show", "default"}, 0},
            {{"profile", "convert",
              File("k.yaml",
                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                   "kind: KubeSchedulerConfiguration\n")},
             0}};
  }
  Outcome RunWith(std::vector<std::string> args) {
    args.insert(args.end(), {"--plugin-dir", plugins_});
    return Run(args);
  }

  const std::string plugins_ = folder_ + "/plugins";
};

size_t CountIn(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(BrokenLibraryTest, AWarningIfNoProfileUsesIt) {
  const std::string aborts = Add("aborts");
  const std::string old = Add("wrong_major");
  File("plugins/libtext.so", "INPUT(-lm)\n");
  Add("no_note");
  for (const Case& c : Commands()) {
    SCOPED_TRACE(c.args.front() + " " + c.args[1]);
    const Outcome run = RunWith(c.args);
    EXPECT_EQ(run.exit_status, c.exit_status) << run.err;
    EXPECT_NE(run.out, "");
    for (const std::string& warning :
         {aborts +
              ": the library ends the process with SIGABRT while it is loaded [probe-failed]\n",
          old + ": expected ", plugins_ + "/libtext.so: expected an ELF file"}) {
      EXPECT_EQ(CountIn(run.err, "berth: warning: not loaded: " + warning), 1u) << run.err;
    }
    EXPECT_EQ(CountIn(run.err, "not loaded"), 3u) << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("libno_note.so")));
  }
}

TEST_F(BrokenLibraryTest, NoWarningWithoutABrokenLibrary) {
  Add("no_note");
  for (const Case& c : Commands()) {
    EXPECT_THAT(RunWith(c.args).err, Not(HasSubstr("not loaded"))) << c.args.front();
  }
}

TEST_F(BrokenLibraryTest, ErrorIfAProfileNamesAMissingPlugin) {
  const std::string aborts = Add("aborts");
  const std::string old = Add("wrong_major");
  const std::string profile =
      File("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"test.Variant\"\n");
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "--cluster", kSmall, "--profile", profile},
      {"replay", "--cluster", kSmall, "--profile", profile},
      {"profile", "check", profile},
  };
  for (const std::vector<std::string>& command : commands) {
    const Outcome run = RunWith(command);
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_THAT(run.out, IsEmpty());
    EXPECT_THAT(run.err,
                AllOf(StartsWith("berth: " + profile + ":2: plugin \"test.Variant\": name: "),
                      HasSubstr("no plugin of this name"),
                      HasSubstr("\nberth: not loaded: " + aborts + ": the library ends"),
                      HasSubstr("\nberth: not loaded: " + old + ": expected ")));
    EXPECT_THAT(run.err, Not(HasSubstr("warning")));
  }
}

TEST_F(BrokenLibraryTest, ErrorIfEnabledPluginIsInTwoLibraries) {
  fs::create_symlink(BERTH_TEST_TALKER, plugins_ + "/libzz_talker.so");
  const std::string duplicate =
      "not loaded: " + plugins_ + "/libzz_talker.so: plugin \"NodeName\": ";
  const Outcome used = RunWith({"simulate", "--cluster", kSmall});
  EXPECT_EQ(used.exit_status, 2);
  EXPECT_THAT(used.err, StartsWith("berth: " + duplicate));
  const std::string profile =
      File("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"NodeName\"\nenabled = false\n");
  const Outcome unused = RunWith({"profile", "check", profile});
  EXPECT_EQ(unused.exit_status, 0);
  EXPECT_THAT(unused.err, StartsWith("berth: warning: " + duplicate));
}

// Both libraries have two plugins, and the profile enables the second one.
TEST_F(BrokenLibraryTest, EveryPluginInTwoLibrariesIsAmbiguous) {
  fs::create_symlink(BERTH_WAITER, plugins_ + "/libyy_waiter.so");
  const std::string other = plugins_ + "/libzz_waiter.so";
  fs::copy_file(BERTH_WAITER, other);
  std::ofstream(other, std::ios::app) << "x";  // A library with other content.
  const auto profile = [this](const std::string& plugin) {
    return File("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"" + plugin + "\"\n");
  };
  for (const char* plugin : {"acme.Waiter", "acme.Sleeper"}) {
    EXPECT_EQ(RunWith({"profile", "show", profile(plugin)}).exit_status, 2) << plugin;
  }
  EXPECT_EQ(RunWith({"profile", "show", "default"}).exit_status, 0);
}

// ---- plugin list --------------------------------------------------------------------------------

TEST_F(BrokenLibraryTest, IsInTheListOfPlugins) {
  const std::string aborts = Add("aborts");
  const Outcome table = RunWith({"plugin", "list"});
  EXPECT_EQ(table.exit_status, 2);
  EXPECT_THAT(table.out, AllOf(HasSubstr("libnode_name.so"),
                               HasSubstr("\nNot loaded:\n  " + aborts + ": the library ends")));
  EXPECT_EQ(table.err, "");
  const Outcome json = RunWith({"plugin", "list", "--output", "json"});
  EXPECT_EQ(json.exit_status, 2);
  ASSERT_EQ(json.json()["broken"].size(), 1u);
  EXPECT_EQ(json.json()["broken"][0]["library"], aborts);
  EXPECT_EQ(json.json()["broken"][0]["code"], "probe-failed");
}

TEST_F(BrokenLibraryTest, LibraryWithoutNoteIsInListOfPlugins) {
  Add("no_note");
  const Outcome table = RunWith({"plugin", "list"});
  EXPECT_EQ(table.exit_status, 0);
  EXPECT_THAT(table.out,
              EndsWith("\nignored: libno_note.so: it has no Berth plugin note (.note.berth)\n"));
  const Outcome json = RunWith({"plugin", "list", "--output", "json"});
  EXPECT_EQ(json.json()["ignored"],
            Json::array({{{"library", "libno_note.so"},
                          {"reason", "it has no Berth plugin note (.note.berth)"}}}));
  EXPECT_TRUE(json.json()["broken"].empty());
}

// ---- Several plugin directories -----------------------------------------------------------------

class PluginDirectoriesTest : public BrokenLibraryTest {
 protected:
  PluginDirectoriesTest() {
    fs::create_directories(more_);
    Plant({.name = "", .variant = "good", .damage = nullptr, .more = "", .message = ""},
          more_ + "/libgood.so");
  }

  const std::string more_ = folder_ + "/more";
  const std::string profile_ =
      File("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"test.Variant\"\n");
};

TEST_F(PluginDirectoriesTest, CommandsTakeThemAsTheirHelpPrints) {
  const std::vector<std::string> simulate = {"simulate", "--cluster", kSmall, "--profile",
                                             profile_};
  const std::vector<std::string> check = {"profile", "check"};
  const struct {
    std::vector<std::string> command;
    std::vector<std::string> more;
    int exit_status;
  } cases[] = {
      {simulate, {"--plugin-dir", plugins_, more_}, 1},
      {simulate, {"--plugin-dir", plugins_, "--plugin-dir", more_}, 1},
      {simulate, {"--plugin-dir=" + plugins_, "--plugin-dir=" + more_}, 1},
      {simulate, {"--plugin-dir", plugins_}, 2},
      {check, {"--plugin-dir", plugins_, "--plugin-dir", more_, profile_}, 0},
      {check, {profile_, "--plugin-dir", plugins_, "--plugin-dir", more_}, 0},
      {check, {"--plugin-dir", more_, profile_, "--plugin-dir", plugins_}, 0},
      {check, {"--plugin-dir", plugins_, profile_}, 2},
  };
  for (const auto& c : cases) {
    std::vector<std::string> args = c.command;
    args.insert(args.end(), c.more.begin(), c.more.end());
    const Outcome run = Run(args);
    EXPECT_EQ(run.exit_status, c.exit_status) << ::testing::PrintToString(args) << run.err;
    EXPECT_EQ(CountIn(run.err, "no plugin of this name"), c.exit_status == 2 ? 1u : 0u);
  }
}

TEST_F(PluginDirectoriesTest, HelpShowsHowManyValuesEachCommandTakes) {
  for (const char* command : {"run", "replay", "shadow", "simulate", "explain"}) {
    EXPECT_THAT(Run({command, "--help"}).out, HasSubstr("--plugin-dir DIR ...")) << command;
  }
  for (const char* command : {"check", "show", "convert"}) {
    EXPECT_THAT(Run({"profile", command, "--help"}).out,
                AllOf(HasSubstr("--plugin-dir DIR "), Not(HasSubstr("--plugin-dir DIR ...")),
                      HasSubstr("times")))
        << command;
  }
  EXPECT_THAT(Run({"plugin", "check", "--help"}).out,
              AllOf(HasSubstr("--args [NAME=]JSON "), Not(HasSubstr("JSON ..."))));
}

}  // namespace
}  // namespace berth::host
