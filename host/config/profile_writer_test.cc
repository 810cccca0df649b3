#include "host/config/profile_writer.h"

#include <string>

#include <gtest/gtest.h>

#include "host/config/profile_reader.h"

namespace berth::host {
namespace {

Profile Read(const std::string& text) {
  ProfileFiles files;
  files.read = [&](const std::string&) -> Result<std::string> { return text; };
  ConfigErrors errors;
  auto profile = ReadProfile("p.toml", files, errors);
  EXPECT_EQ(errors.ToStatus().message(), "") << text;
  return profile.value_or(Profile());
}

ProfilePlugin Plugin(const std::string& name) {
  ProfilePlugin plugin;
  plugin.name.value = name;
  return plugin;
}

TEST(TomlString, EscapesWhatTomlDoesNotAllow) {
  EXPECT_EQ(TomlString("a \"b\" \\c"), R"("a \"b\" \\c")");
  EXPECT_EQ(TomlString("line\ntab\t"), R"("line\ntab\t")");
  EXPECT_EQ(TomlString(std::string("\0\x1f\x7f", 3)), R"("\u0000\u001F\u007F")");
  EXPECT_EQ(TomlString("ä€"), "\"ä€\"");
}

TEST(WriteProfile, WritesEveryKey) {
  Profile profile;
  profile.scheduler_name.value = "acme";
  profile.plugins = {Plugin("Sort"), Plugin("acme.Rack"), Plugin("Off")};
  ProfilePlugin& rack = profile.plugins[1];
  rack.weight = Placed<int64_t>{5, {}};
  rack.deadline_ns = Placed<int64_t>{90'000'000'500, {}};
  rack.library = Placed<std::string>{"/opt/librack.so", {}};
  rack.sha256 = Placed<std::string>{std::string(64, 'a'), {}};
  rack.points = {{"Filter", {}}, {"Score", {}}};
  rack.args.value = {{"limit", 2.0},
                     {"deep", {{"x y", {1, 2}}, {"empty", nlohmann::json::object()}}}};
  profile.plugins[2].enabled = Placed<bool>{false, {}};
  profile.order = {{{"Filter", {}}, {{"acme.Rack", {}}}}};
  const std::string text = WriteProfile(profile, "One.\nTwo\x01.");
  EXPECT_EQ(text, R"(# One.
# Two?.
schedulerName = "acme"

[[plugins]]
name = "Sort"

[[plugins]]
name = "acme.Rack"
weight = 5
deadline = "1m30.0000005s"
library = "/opt/librack.so"
sha256 = ")" + std::string(64, 'a') +
                      R"("
points = ["Filter", "Score"]
[plugins.args]
limit = 2.0
[plugins.args.deep]
"x y" = [1, 2]
[plugins.args.deep.empty]

[[plugins]]
name = "Off"
enabled = false

[order]
Filter = ["acme.Rack"]
)");
  EXPECT_EQ(Read(text), profile);
}

TEST(WriteProfile, ValuesOfEveryTypeRoundTrip) {
  const char* const kArgs[] = {
      R"({"a": 9223372036854775807, "b": -9223372036854775808, "c": 0})",
      R"({"a": 1e22, "b": 1e-7, "c": -0.0, "d": 0.1, "e": 5e-324, "f": 1.7976931348623157e308})",
      R"({"a": true, "b": false, "c": "", "d": "\u0000\u007f\\\"'\n", "e": "ä"})",
      R"({"a": [], "b": [[]], "c": [{}], "d": [{"x": {"y": []}}, 1, "two"], "e": {}})",
      R"({"": 1, "a.b": 2, "x\ny": {"#": 3}, "[t]": {"=": {"\"": 4}}})",
      R"({"b": {"c": 1}, "a": {"d": {"e": 2}}, "z": 3})",
      R"({"long": ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
          "cccccccccccccccccccccccccccccccccccccc"], "after": 1})",
  };
  for (const char* args : kArgs) {
    Profile profile;
    profile.plugins = {Plugin("A"), Plugin("B")};
    profile.plugins[0].args.value = nlohmann::json::parse(args);
    const std::string text = WriteProfile(profile, "");
    EXPECT_EQ(Read(text), profile) << text;
  }
}

// With the comments uncommented, the text is the whole profile; otherwise, the rest of it.
TEST(WriteProfile, WritesPluginsAsCommentsInTheirPositions) {
  Profile profile;
  profile.plugins = {Plugin("A"), Plugin("Gone"), Plugin("B"), Plugin("Lost")};
  profile.plugins[1].args.value = {{"x", {{"y", 1}}}};
  profile.order = {{{"Filter", {}}, {{"Gone", {}}, {"B", {}}}}, {{"Score", {}}, {{"Lost", {}}}}};
  const std::string text = WriteProfile(profile, "", {"Gone", "Lost"});
  EXPECT_EQ(text, R"(schedulerName = "default-scheduler"

[[plugins]]
name = "A"

# [[plugins]]
# name = "Gone"
# [plugins.args.x]
# y = 1

[[plugins]]
name = "B"

# [[plugins]]
# name = "Lost"

[order]
Filter = [
  # "Gone",
  "B",
]
# Score = [
#   "Lost",
# ]
)");
  Profile rest = profile;
  rest.plugins = {Plugin("A"), Plugin("B")};
  rest.order = {{{"Filter", {}}, {{"B", {}}}}};
  EXPECT_EQ(Read(text), rest);

  std::string uncommented = text;
  for (size_t at = 0; (at = uncommented.find("# ", at)) != std::string::npos;) {
    uncommented.erase(at, 2);
  }
  EXPECT_EQ(Read(uncommented), profile);
}

}  // namespace
}  // namespace berth::host
