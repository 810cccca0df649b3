#include "host/config/profile_reader.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

using Files = std::map<std::string, std::string>;

ProfileFiles From(const Files& files) {
  ProfileFiles from;
  from.read = [files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Status::NotFound("No such file or directory");
    return found->second;
  };
  from.shipped_folder = "share/profiles";
  from.shipped_names = {"binpack", "default"};
  return from;
}

std::string ProfileErrors(const Files& files, const std::string& name = "p/a.toml") {
  ConfigErrors errors;
  const auto profile = ReadProfile(name, From(files), errors);
  EXPECT_TRUE(profile.has_value() || !errors.empty());
  return std::string(errors.ToStatus().message());
}

Profile Read(const Files& files, const std::string& name = "p/a.toml") {
  ConfigErrors errors;
  auto profile = ReadProfile(name, From(files), errors);
  EXPECT_EQ(errors.ToStatus().message(), "");
  return profile.value_or(Profile());
}

std::vector<std::string> Names(const Profile& profile) {
  std::vector<std::string> names;
  for (const ProfilePlugin& plugin : profile.plugins) names.push_back(plugin.name.value);
  return names;
}

// Three plugins. Another table may be appended to the text.
constexpr const char* kBase =
    "[[plugins]]\n"
    "name = \"A\"\n"
    "weight = 3\n"
    "[[plugins]]\n"
    "name = \"B\"\n"
    "[plugins.args]\n"
    "limit = 5\n"
    "list = [1, 2]\n"
    "[plugins.args.deep]\n"
    "x = 1\n"
    "y = 2\n"
    "[[plugins]]\n"
    "name = \"C\"\n"
    "enabled = false\n";

// ---- Keys ---------------------------------------------------------------------------------------

TEST(ReadProfileTest, ReadsEveryKey) {
  const Profile profile = Read({{"p/a.toml",
                                 "schedulerName = \"mine\"\n"
                                 "[[plugins]]\n"
                                 "name = \"acme.X\"\n"
                                 "enabled = true\n"
                                 "weight = 7\n"
                                 "library = \"lib/x.so\"\n"
                                 "sha256 = \"" +
                                     std::string(64, 'A') +
                                     "\"\n"
                                     "points = [\"Filter\", \"Score\"]\n"
                                     "args = {a = 1, b = {c = [true, 2.5, \"t\"]}}\n"
                                     "[[plugins]]\n"
                                     "name = \"Y\"\n"
                                     "library = \"/opt/y.so\"\n"
                                     "[order]\n"
                                     "Score = [\"Y\"]\n"
                                     "Filter = [\"Y\", \"acme.X\"]\n"}});
  EXPECT_EQ(profile.file, "p/a.toml");
  EXPECT_EQ(profile.scheduler_name.value, "mine");
  EXPECT_THAT(Names(profile), ElementsAre("acme.X", "Y"));
  const ProfilePlugin& plugin = profile.plugins[0];
  EXPECT_TRUE(plugin.is_enabled());
  EXPECT_EQ(plugin.name.place.ToString(), "p/a.toml:2");
  EXPECT_EQ(plugin.weight->value, 7);
  EXPECT_EQ(plugin.weight->place.ToString(), "p/a.toml:5");
  EXPECT_EQ(plugin.library->value, "p/lib/x.so");
  EXPECT_EQ(plugin.sha256->value, std::string(64, 'A'));
  EXPECT_EQ(plugin.points->size(), 2u);
  EXPECT_EQ(plugin.args.value.dump(), R"({"a":1,"b":{"c":[true,2.5,"t"]}})");
  EXPECT_EQ(plugin.args.PlaceOf("/b/c/2").ToString(), "p/a.toml:9");
  EXPECT_EQ(profile.plugins[1].library->value, "/opt/y.so");
  EXPECT_TRUE(profile.plugins[1].args.value.is_null());
  EXPECT_FALSE(profile.plugins[1].weight.has_value());
  ASSERT_EQ(profile.order.size(), 2u);
  EXPECT_EQ(profile.order[0].point.value, "Filter");
  EXPECT_EQ(profile.order[0].plugins[1].value, "acme.X");
}

TEST(ReadProfileTest, AnEmptyFileIsAnEmptyProfile) {
  const Profile profile = Read({{"p/a.toml", ""}});
  EXPECT_EQ(profile.scheduler_name.value, "default-scheduler");
  EXPECT_TRUE(profile.plugins.empty());
}

// ---- extends ------------------------------------------------------------------------------------

TEST(ReadProfileTest, InheritsWhatItDoesNotSet) {
  const Profile profile = Read({{"base.toml", std::string("schedulerName = \"base\"\n") + kBase},
                                {"p/a.toml",
                                 "extends = \"../base.toml\"\n"
                                 "[[plugins]]\n"
                                 "name = \"D\"\n"
                                 "[[plugins]]\n"
                                 "name = \"B\"\n"
                                 "weight = 4\n"
                                 "[plugins.args]\n"
                                 "list = [3]\n"
                                 "deep = {y = 20, z = 30}\n"
                                 "[[plugins]]\n"
                                 "name = \"A\"\n"
                                 "enabled = false\n"
                                 "[[plugins]]\n"
                                 "name = \"C\"\n"
                                 "enabled = true\n"}});
  EXPECT_EQ(profile.scheduler_name.value, "base");
  EXPECT_EQ(profile.scheduler_name.place.ToString(), "base.toml:1");
  EXPECT_THAT(Names(profile), ElementsAre("A", "B", "C", "D"));
  EXPECT_FALSE(profile.plugins[0].is_enabled());
  EXPECT_EQ(profile.plugins[0].weight->value, 3);
  EXPECT_EQ(profile.plugins[0].weight->place.ToString(), "base.toml:4");
  EXPECT_TRUE(profile.plugins[2].is_enabled());
  const ProfileArgs& args = profile.plugins[1].args;
  EXPECT_EQ(args.value.dump(), R"({"deep":{"x":1,"y":20,"z":30},"limit":5,"list":[3]})");
  EXPECT_EQ(args.PlaceOf("/limit").ToString(), "base.toml:8");
  EXPECT_EQ(args.PlaceOf("/list/0").ToString(), "p/a.toml:8");
  EXPECT_EQ(args.places.count("/list/1"), 0u);
  EXPECT_EQ(args.PlaceOf("/deep/x").ToString(), "base.toml:11");
  EXPECT_EQ(args.PlaceOf("/deep/y").ToString(), "p/a.toml:9");
}

TEST(ReadProfileTest, OrderIsReplacedPerPoint) {
  const Profile profile = Read({{"p/base.toml", std::string(kBase) + "[order]\n"
                                                                     "Filter = [\"B\", \"A\"]\n"
                                                                     "Score = [\"B\"]\n"},
                                {"p/a.toml",
                                 "extends = \"base.toml\"\n"
                                 "[order]\n"
                                 "Filter = [\"C\"]\n"}});
  ASSERT_EQ(profile.order.size(), 2u);
  ASSERT_EQ(profile.order[0].plugins.size(), 1u);
  EXPECT_EQ(profile.order[0].plugins[0].value, "C");
  EXPECT_EQ(profile.order[1].plugins[0].value, "B");
}

TEST(ReadProfileTest, ANewLibraryRemovesTheInheritedSha256) {
  const std::string pinned = "[[plugins]]\nname = \"A\"\nlibrary = \"one.so\"\nsha256 = \"" +
                             std::string(64, '0') + "\"\n";
  const std::string over = "extends = \"base.toml\"\n[[plugins]]\nname = \"A\"\n";
  EXPECT_TRUE(Read({{"p/base.toml", pinned}, {"p/a.toml", over}}).plugins[0].sha256.has_value());
  EXPECT_FALSE(Read({{"p/base.toml", pinned}, {"p/a.toml", over + "library = \"two.so\"\n"}})
                   .plugins[0]
                   .sha256.has_value());
}

TEST(ReadProfileTest, ABareNameIsAnInstalledProfile) {
  const Files files = {{"share/profiles/default.toml", kBase},
                       {"p/a.toml", "extends = \"default\"\n"}};
  EXPECT_EQ(Names(Read(files)).size(), 3u);
  EXPECT_EQ(Names(Read(files, "default")).size(), 3u);
  EXPECT_EQ(ProfileErrors(files, "defalt"),
            "profile defalt: expected the path of a .toml file, or the name of a profile that is "
            "installed with Berth, found no profile of this name in share/profiles; did you mean "
            "default?");
  EXPECT_EQ(ProfileErrors({}, "default"),
            "profile default: expected a profile, found none at share/profiles/default.toml: No "
            "such file or directory");
  EXPECT_EQ(ProfileErrors(files, "default.toml"),
            "profile default.toml: expected a profile, found none at default.toml: No such file or "
            "directory");
}

// A file of that name in the same folder is not used.
TEST(ReadProfileTest, BareNameIsNeverFileInSameFolder) {
  ProfileFiles files = From({{"default.toml", ""}, {"a.toml", "extends = \"default\""}});
  files.shipped_folder = "";
  files.shipped_names = {};
  files.searched = {"bin/profiles", "share/profiles"};
  for (const auto& [name, error] :
       {std::pair(
            "default",
            "profile default: expected the path of a .toml file, because no profiles are installed "
            "with Berth here, found \"default\"; looked in bin/profiles, share/profiles"),
        std::pair(
            "a.toml",
            "a.toml:1: extends: expected the path of a .toml file, because no profiles are "
            "installed with Berth here, found \"default\"; looked in bin/profiles, share/profiles"),
        std::pair("./default.toml", "")}) {
    ConfigErrors errors;
    static_cast<void>(ReadProfile(name, files, errors));
    EXPECT_EQ(errors.ToStatus().message(), error) << name;
  }
}

TEST(ReadProfileTest, ReportsMissingFilesAndCycles) {
  EXPECT_EQ(ProfileErrors({{"p/a.toml", "\nextends = \"b.toml\""}}),
            "p/a.toml:2: extends: expected a profile, found none at p/b.toml: No such file or "
            "directory");
  EXPECT_EQ(ProfileErrors({{"p/a.toml", "extends = \"a.toml\""}}),
            "p/a.toml:1: extends: expected a profile that does not extend this one, found "
            "p/a.toml, which extends p/a.toml");
  EXPECT_EQ(ProfileErrors({{"p/a.toml", "extends = \"b.toml\""},
                           {"p/b.toml", "extends = \"c/../c.toml\""},
                           {"p/c.toml", "extends = \"../p/b.toml\""}}),
            "p/c.toml:1: extends: expected a profile that does not extend this one, found "
            "p/b.toml, which extends p/c.toml, which extends p/b.toml");
}

TEST(ReadProfileTest, LimitsTheChainOfExtends) {
  const auto chain = [](size_t length) {
    Files files;
    for (size_t i = 0; i < length; ++i) {
      files["p/" + std::to_string(i) + ".toml"] =
          "extends = \"" + std::to_string(i + 1) + ".toml\"\n";
    }
    files["p/" + std::to_string(length) + ".toml"] = "";
    return ProfileErrors(files, "p/0.toml");
  };
  EXPECT_EQ(chain(kMaxExtends), "");
  EXPECT_EQ(
      chain(kMaxExtends + 1),
      "p/16.toml:1: extends: expected at most 16 profiles in a chain of `extends`, found more");
}

// ---- before and after ---------------------------------------------------------------------------

TEST(ReadProfileTest, MovesPlugins) {
  struct Entry {
    std::string name;
    std::string before;
    std::string after;
  };
  struct Case {
    std::vector<Entry> entries;
    std::string names;
  };
  const Case cases[] = {
      {{{"D", "", ""}}, "ABCD"},
      {{{"D", "A", ""}}, "DABC"},
      {{{"D", "", "A"}}, "ADBC"},
      {{{"D", "", "C"}}, "ABCD"},
      {{{"A", "", "C"}}, "BCA"},
      {{{"C", "A", ""}}, "CAB"},
      {{{"A", "B", ""}}, "ABC"},
      {{{"A", "C", ""}}, "BAC"},
      {{{"D", "", "A"}, {"E", "", "A"}}, "AEDBC"},
      {{{"D", "B", ""}, {"E", "B", ""}}, "ADEBC"},
      {{{"D", "C", "A"}}, "ABDC"},
  };
  for (const Case& c : cases) {
    std::string text = "extends = \"base.toml\"\n";
    for (const Entry& entry : c.entries) {
      text += "[[plugins]]\nname = \"" + entry.name + "\"\n";
      if (!entry.before.empty()) text += "before = \"" + entry.before + "\"\n";
      if (!entry.after.empty()) text += "after = \"" + entry.after + "\"\n";
    }
    const Profile profile = Read({{"p/base.toml", kBase}, {"p/a.toml", text}});
    EXPECT_EQ(Join(Names(profile), ""), c.names) << text;
  }
}

// Moving the plugins one after the other breaks earlier constraints. All constraints hold in the
// end, unless they form a cycle.
TEST(ReadProfileTest, AllBeforeAndAfterHoldInTheEnd) {
  const struct {
    // "X<Y Z>Y": X before Y, Z after Y. "X<Y>Z": one entry with both.
    const char* constraints;
    const char* names;
  } cases[] = {
      {"D<B B<A", "DBAC"},
      {"C<B B<A", "CBA"},
      {"A>B B>C", "CBA"},
      {"C<B A>C", "CAB"},
      {"D<C C<B B<A", "DCBA"},
      {"A>B B>C C>D D", "DCBA"},
      {"D<A E<D F<E A<B", "FEDABC"},
      {"C<A>B", "BCA"},
      {"A<C>B C<E E", "BACE"},
      {"E D>E C>D", "ABEDC"},
  };
  for (const auto& c : cases) {
    std::string text = "extends = \"base.toml\"\n";
    for (const char* constraint = c.constraints; *constraint != '\0';) {
      text += std::string("[[plugins]]\nname = \"") + *constraint++ + "\"\n";
      for (; *constraint != ' ' && *constraint != '\0'; constraint += 2) {
        text +=
            std::string(*constraint == '<' ? "before" : "after") + " = \"" + constraint[1] + "\"\n";
      }
      if (*constraint == ' ') ++constraint;
    }
    const Profile profile = Read({{"p/base.toml", kBase}, {"p/a.toml", text}});
    EXPECT_EQ(Join(Names(profile), ""), c.names) << c.constraints;
  }
}

// The missing base may have the plugin Z, so Z is not reported; a cycle is reported anyway.
TEST(ReadProfileTest, ReportsACycleTogetherWithOtherErrors) {
  EXPECT_EQ(ProfileErrors({{"p/a.toml",
                            "extends = \"gone.toml\"\n"
                            "[[plugins]]\nname = \"A\"\nbefore = \"B\"\n"
                            "[[plugins]]\nname = \"B\"\nbefore = \"A\"\nafter = \"Z\"\n"}}),
            "p/a.toml:1: extends: expected a profile, found none at p/gone.toml: No such file or "
            "directory\n"
            "p/a.toml:4: plugin \"A\": before: expected `before` and `after` keys that do not "
            "contradict each other, found a cycle: A before B, B before A");
}

TEST(ReadProfileTest, BeforeAndAfterOfBaseAreAppliedOnce) {
  const Profile profile =
      Read({{"p/base.toml", std::string(kBase) + "[[plugins]]\nname = \"D\"\nbefore = \"A\"\n"},
            {"p/a.toml", "extends = \"base.toml\"\n[[plugins]]\nname = \"D\"\nafter = \"B\"\n"}});
  EXPECT_EQ(Join(Names(profile), ""), "ABDC");
  EXPECT_FALSE(profile.Find("D")->before.has_value());
}

// ---- Errors -------------------------------------------------------------------------------------

TEST(ReadProfileTest, ReportsInvalidKeys) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"schedulername = \"x\"",
       "p/a.toml:1: schedulername: expected a known key, found \"schedulername\"; did you mean "
       "schedulerName?"},
      {"zzz = 1",
       "p/a.toml:1: zzz: expected one of schedulerName, extends, plugins, order, found \"zzz\""},
      {"schedulerName = 7",
       "p/a.toml:1: schedulerName: expected the name of a scheduler, without spaces and control "
       "characters, found 7"},
      {"schedulerName = \"\"",
       "p/a.toml:1: schedulerName: expected the name of a scheduler, without spaces and control "
       "characters, found \"\""},
      {"schedulerName = \"my scheduler\"",
       "p/a.toml:1: schedulerName: expected the name of a scheduler, without spaces and control "
       "characters, found \"my scheduler\""},
      {"schedulerName = \"a\\u007F\"",
       "p/a.toml:1: schedulerName: expected the name of a scheduler, without spaces and control "
       "characters, found \"a\\x7f\""},
      {"extends = [\"b\"]",
       "p/a.toml:1: extends: expected the path or name of a profile, found an array"},
      {"plugins = 3",
       "p/a.toml:1: plugins: expected an array of tables, each [[plugins]], found 3"},
      {"[plugins]\nname = \"A\"",
       "p/a.toml:1: plugins: expected an array of tables, each [[plugins]], found a table"},
      {"plugins = [\"A\"]", "p/a.toml:1: plugins: expected a table, [[plugins]], found \"A\""},
      {"[[plugins]]\nweight = 2",
       "p/a.toml:1: plugins: name: expected the name of a plugin, found none"},
      {"[[plugins]]\nname = 2",
       "p/a.toml:2: plugins: name: expected the name of a plugin, found 2"},
      {"[[plugins]]\nname = \"A\"\nwieght = 2",
       "p/a.toml:3: plugin \"A\": wieght: expected a known key, found \"wieght\"; did you mean "
       "weight?"},
      {"[[plugins]]\nname = \"A\"\nweight = -1",
       "p/a.toml:3: plugin \"A\": weight: expected a whole number of at least 0, found -1"},
      {"[[plugins]]\nname = \"A\"\nweight = 1.5",
       "p/a.toml:3: plugin \"A\": weight: expected a whole number of at least 0, found the number "
       "1.5"},
      {"[[plugins]]\nname = \"A\"\nweight = \"five\"",
       "p/a.toml:3: plugin \"A\": weight: expected a whole number of at least 0, found \"five\""},
      {"[[plugins]]\nname = \"A\"\nenabled = \"no\"",
       "p/a.toml:3: plugin \"A\": enabled: expected true or false, found \"no\""},
      {"[[plugins]]\nname = \"A\"\n[[plugins]]\nname = \"A\"",
       "p/a.toml:3: plugin \"A\": name: expected unique plugin names, found a second entry: the "
       "first one is in line 1"},
      {"[[plugins]]\nname = \"A\"\nargs = 5",
       "p/a.toml:3: plugin \"A\": args: expected a table, found 5"},
      {"[[plugins]]\nname = \"A\"\npoints = \"Filter\"",
       "p/a.toml:3: plugin \"A\": points: expected an array of names of extension points, found "
       "\"Filter\""},
      {"[[plugins]]\nname = \"A\"\npoints = []",
       "p/a.toml:3: plugin \"A\": points: expected at least one extension point (enabled = false "
       "turns a plugin off), found none"},
      {"[[plugins]]\nname = \"A\"\npoints = [\"Filter\", 1,\n\"Filter\"]",
       "p/a.toml:3: plugin \"A\": points: expected an array of names of extension points, found an "
       "array with 1\n"
       "p/a.toml:4: plugin \"A\": points: expected unique values, found \"Filter\" twice"},
  };
  for (const Case& c : cases) EXPECT_EQ(ProfileErrors({{"p/a.toml", c.toml}}), c.error) << c.toml;
}

TEST(ReadProfileTest, ReportsWhatIsNoDigest) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"[[plugins]]\nname = \"A\"\nlibrary = \"a.so\"\nsha256 = \"12\"",
       "p/a.toml:4: plugin \"A\": sha256: expected 64 hexadecimal digits, found 2"},
      {"[[plugins]]\nname = \"A\"\nlibrary = \"a.so\"\nsha256 = 12",
       "p/a.toml:4: plugin \"A\": sha256: expected 64 hexadecimal digits, found 12"},
      {"[[plugins]]\nname = \"A\"\nlibrary = \"a.so\"\nsha256 = \"sha256:12\"",
       "p/a.toml:4: plugin \"A\": sha256: expected 64 hexadecimal digits, found 6, and 3 other "
       "characters, the first of them \"s\" at position 1"},
      {"[[plugins]]\nname = \"A\"\nlibrary = \"a.so\"\nsha256 = \"00000000000000000000000000000000"
       "0000000000000000000000000000000\xc3\xa9\"",
       "p/a.toml:4: plugin \"A\": sha256: expected 64 hexadecimal digits, found 63, and the "
       "character \"\xc3\xa9\" at position 64"},
      {"[[plugins]]\nname = \"A\"\n"
       "sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"",
       "p/a.toml:3: plugin \"A\": sha256: expected a `library` key in the same entry, which the "
       "digest belongs to, found none"},
  };
  for (const Case& c : cases) EXPECT_EQ(ProfileErrors({{"p/a.toml", c.toml}}), c.error) << c.toml;
}

// The plugin whose name could not be read may be the one that other keys refer to.
TEST(ReadProfileTest, ReportsAMisspelledNameKeyOnce) {
  const char* toml =
      "[[plugins]]\nnmae = \"acme.X\"\n[[plugins]]\nname = \"B\"\nafter = \"acme.X\"\n"
      "[order]\nFilter = [\"acme.X\"]";
  EXPECT_EQ(ProfileErrors({{"p/a.toml", toml}}),
            "p/a.toml:1: plugins: name: expected the name of a plugin, found none\n"
            "p/a.toml:2: plugins: nmae: expected a known key, found \"nmae\"; did you mean name?");
}

TEST(ReadProfileTest, ReportsInvalidOrders) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"[[plugins]]\nname = \"A\"\nbefore = \"A\"",
       "p/a.toml:3: plugin \"A\": before: expected another plugin, found the plugin itself"},
      {"[[plugins]]\nname = \"ImageLocality\"\n[[plugins]]\nname = \"B\"\nafter = \"ImageLocalty\"",
       "p/a.toml:5: plugin \"B\": after: expected a plugin of this profile, found "
       "\"ImageLocalty\"; did you mean ImageLocality?"},
      {"[[plugins]]\nname = \"A\"\nbefore = \"B\"\n[[plugins]]\nname = \"B\"\nbefore = \"A\"",
       "p/a.toml:3: plugin \"A\": before: expected `before` and `after` keys that do not "
       "contradict each other, found a cycle: A before B, B before A"},
      {"[[plugins]]\nname = \"A\"\n[[plugins]]\nname = \"B\"\nbefore = \"A\"\nafter = \"A\"",
       "p/a.toml:5: plugin \"B\": before: expected `before` and `after` keys that do not "
       "contradict each other, found a cycle: B before A, B after A"},
      // Two cycles. A plugin that only depends on a cycle is not part of it.
      {"[[plugins]]\nname = \"A\"\nafter = \"C\"\n[[plugins]]\nname = \"B\"\nafter = \"A\"\n"
       "[[plugins]]\nname = \"C\"\nafter = \"B\"\n[[plugins]]\nname = \"D\"\nafter = \"C\"\n"
       "[[plugins]]\nname = \"E\"\nbefore = \"F\"\n[[plugins]]\nname = \"F\"\nbefore = \"E\"",
       "p/a.toml:3: plugin \"A\": after: expected `before` and `after` keys that do not contradict "
       "each other, found a cycle: A after C, C after B, B after A\n"
       "p/a.toml:15: plugin \"E\": before: expected `before` and `after` keys that do not "
       "contradict each other, found a cycle: E before F, F before E"},
      {"order = []", "p/a.toml:1: order: expected a table, found an empty array"},
      {"[order]\nFilter = \"A\"",
       "p/a.toml:2: order.Filter: expected an array of names of plugins, found \"A\""},
      {"[[plugins]]\nname = \"NodeName\"\n[order]\nFilter = [\"NodeNmae\"]",
       "p/a.toml:4: order.Filter: expected a plugin of this profile, found \"NodeNmae\"; did you "
       "mean NodeName?"},
  };
  for (const Case& c : cases) EXPECT_EQ(ProfileErrors({{"p/a.toml", c.toml}}), c.error) << c.toml;
}

TEST(ReadProfileTest, ReportsAllErrorsOfAllFiles) {
  EXPECT_EQ(
      ProfileErrors({{"p/a.toml",
                      "extends = \"b.toml\"\n"
                      "[[plugins]]\n"
                      "name = \"A\"\n"
                      "weight = -1\n"
                      "before = \"NotThere\"\n"},
                     {"p/b.toml", "schedulerName = 1\nfoo = 2\n"}}),
      "p/b.toml:1: schedulerName: expected the name of a scheduler, without spaces and control "
      "characters, found 1\n"
      "p/b.toml:2: foo: expected one of schedulerName, extends, plugins, order, found \"foo\"\n"
      "p/a.toml:4: plugin \"A\": weight: expected a whole number of at least 0, found -1\n"
      "p/a.toml:5: plugin \"A\": before: expected a plugin of this profile, found "
      "\"NotThere\"");
}

TEST(ReadProfileTest, ReportsASyntaxErrorAlone) {
  const std::string error =
      ProfileErrors({{"p/a.toml", "extends = \"b.toml\"\nfoo = 1\n"}, {"p/b.toml", "x = \n"}});
  EXPECT_TRUE(error.starts_with("p/b.toml:1: not TOML: ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(ReadProfileTest, UnreadableBaseSuppressesUnknownNames) {
  EXPECT_EQ(ProfileErrors({{"p/a.toml",
                            "extends = \"gone.toml\"\n"
                            "[[plugins]]\nname = \"A\"\nbefore = \"NodeName\"\n"
                            "[order]\nFilter = [\"NodePorts\"]\n"}}),
            "p/a.toml:1: extends: expected a profile, found none at p/gone.toml: No such file or "
            "directory");
}

TEST(ReadProfileTest, LimitsTheNumberOfPlugins) {
  const auto plugins = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      text += "[[plugins]]\nname = \"P" + std::to_string(i) + "\"\n";
    }
    return ProfileErrors({{"p/a.toml", text}});
  };
  EXPECT_EQ(plugins(kMaxProfilePlugins), "");
  EXPECT_EQ(plugins(kMaxProfilePlugins + 1),
            "p/a.toml:1: plugins: expected at most 1000 plugins, found 1001");
}

}  // namespace
}  // namespace berth::host
