#include "host/config/toml_document.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"

namespace berth::host {
namespace {

using ::testing::StartsWith;

std::string ErrorOf(std::string_view text) {
  ConfigErrors errors;
  static_cast<void>(ParseToml(text, "a.toml", errors));
  return std::string(errors.ToStatus().message());
}

TEST(ParseTomlTest, KeepsValuesAndPlaces) {
  ConfigErrors errors;
  const auto root = ParseToml(
      "name = \"x\"\n"
      "[[plugins]]\n"
      "  weight = 5\n"
      "  args.ratio = 0.5\n"
      "[[plugins]]\n"
      "  points = [\"Filter\",\n"
      "            \"Score\"]\n"
      "  on = true\n",
      "a.toml", errors);
  ASSERT_TRUE(errors.empty());
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->Find("name")->text, "x");
  EXPECT_EQ(root->Find("name")->place, (ConfigPlace{"a.toml", 1, 1}));
  EXPECT_EQ(root->Find("Name"), nullptr);
  const ConfigValue& plugins = *root->Find("plugins");
  ASSERT_EQ(plugins.elements.size(), 2u);
  EXPECT_EQ(plugins.elements[0].place.line, 2u);
  EXPECT_EQ(plugins.elements[1].place.line, 5u);
  EXPECT_EQ(plugins.elements[0].Find("weight")->integer, 5);
  EXPECT_EQ(plugins.elements[0].Find("weight")->place, (ConfigPlace{"a.toml", 3, 3}));
  EXPECT_EQ(plugins.elements[0].Find("args")->Find("ratio")->number, 0.5);
  EXPECT_EQ(plugins.elements[1].Find("points")->elements[1].place, (ConfigPlace{"a.toml", 7, 13}));
  EXPECT_TRUE(plugins.elements[1].Find("on")->boolean);
}

TEST(ParseTomlTest, ToArgsKeepsPlaces) {
  ConfigErrors errors;
  const auto root = ParseToml("a = 1\n[t]\n\"x/y\" = [2,\n 3]\n", "a.toml", errors);
  ASSERT_TRUE(root.has_value());
  const ProfileArgs args = ToArgs(*root, "", errors);
  EXPECT_EQ(args.value.dump(), R"({"a":1,"t":{"x/y":[2,3]}})");
  EXPECT_EQ(args.PlaceOf("/t").line, 2u);
  EXPECT_EQ(args.PlaceOf("/t/x~1y").line, 3u);
  EXPECT_EQ(args.PlaceOf("/t/x~1y/1").line, 4u);
}

TEST(ParseTomlTest, ReportsTheLineOfASyntaxError) {
  EXPECT_THAT(ErrorOf("a = 1\nb = \n"), StartsWith("a.toml:2: not TOML: "));
  EXPECT_THAT(ErrorOf("a = 1\na = 2\n"), StartsWith("a.toml:2: not TOML: "));
  EXPECT_THAT(ErrorOf("a = \"\xff\"\n"), StartsWith("a.toml:1: not TOML: "));
  EXPECT_THAT(ErrorOf("[[a]\n"), StartsWith("a.toml:1: not TOML: "));
  EXPECT_THAT(ErrorOf("[[`a\n"), StartsWith("a.toml: not TOML: "));
}

// toml++ 3.3 treats this branch as unreachable.
TEST(ParseTomlTest, DistinguishesNonAsciiLettersFromWhiteSpace) {
  EXPECT_THAT(ErrorOf("\u00e9 = 1\n"), StartsWith("a.toml:1: not TOML: "));
  EXPECT_THAT(ErrorOf("a =\ufcff1\n"), StartsWith("a.toml:1: not TOML: "));
  ConfigErrors errors;
  const auto root = ParseToml("a = \"\"\"x\\\n \u00e9\ufe0f\"\"\" # \u00e9\n", "a.toml", errors);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->Find("a")->text, "x\u00e9\ufe0f");
}

TEST(ParseTomlTest, KeepsTheTextOfNumbersAndTimes) {
  const struct {
    std::string toml;
    std::string text;
  } cases[] = {
      {"1e1", "1e1"},
      {"1_0.50", "1_0.50"},
      {"+inf", "+inf"},
      {"nan", "nan"},
      {"1.5 # a comment", "1.5"},
      {"1.5 # \u00e9", "1.5"},
      {"1." + std::string(62, '0'), "1." + std::string(62, '0')},
      {"1." + std::string(63, '0'), ""},
      {"1979-05-27", "the date 1979-05-27"},
      {"07:32:00.5", "the time 07:32:00.5"},
      {"1979-05-27T07:32:00", "the date with a time 1979-05-27T07:32:00"},
      {"1979-05-27 07:32:00+01:00 # c", "the date with a time 1979-05-27 07:32:00+01:00"},
  };
  for (const std::string before : {"", "b = 1\r\n", "b = \"\"\"\n\n\"\"\"\n"}) {
    for (const auto& c : cases) {
      SCOPED_TRACE(before + c.toml);
      ConfigErrors errors;
      const auto root = ParseToml(before + "a = " + c.toml + "\r\nz = 1\n", "a.toml", errors);
      ASSERT_TRUE(root.has_value());
      EXPECT_EQ(root->Find("a")->text, c.text);
    }
  }
  ConfigErrors errors;
  const auto root = ParseToml(
      "a = [\"\u00e9\", 1e1, 1979-05-27]\nb = {c = [1e2,1e3], d = 07:32:00}", "a.toml", errors);
  ASSERT_TRUE(root.has_value());
  const auto& elements = root->Find("a")->elements;
  EXPECT_EQ(elements[1].Describe(), "the number 10") << "behind a character of several bytes";
  EXPECT_EQ(elements[2].Describe(), "a date");
  EXPECT_EQ(root->Find("b")->Find("c")->elements[0].text, "1e2");
  EXPECT_EQ(root->Find("b")->Find("c")->elements[1].text, "1e3");
  EXPECT_EQ(root->Find("b")->Find("d")->text, "the time 07:32:00");
}

TEST(ToArgsTest, RejectsValuesThatJsonLacks) {
  ConfigErrors errors;
  const auto root = ParseToml("a = 1\nb.c = 1979-05-27\nd = [inf, 1e1, nan]", "a.toml", errors);
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(errors.empty());
  const ProfileArgs args = ToArgs(*root, "plugin: ", errors);
  EXPECT_EQ(errors.ToStatus().message(),
            "a.toml:2: plugin: args.b.c: expected a string, number, boolean, array or table, found "
            "the date 1979-05-27\n"
            "a.toml:3: plugin: args.d[0]: expected a finite number, found the number inf\n"
            "a.toml:3: plugin: args.d[2]: expected a finite number, found the number nan");
  EXPECT_EQ(args.value.dump(), R"({"a":1,"b":{"c":null},"d":[null,10.0,null]})");
  EXPECT_EQ(args.texts.at("/d/1"), "1e1");
}

TEST(ParseTomlTest, EnforcesLimits) {
  EXPECT_EQ(ErrorOf(std::string(kMaxConfigBytes, '\n')), "");
  EXPECT_EQ(ErrorOf(std::string(kMaxConfigBytes + 1, '\n')),
            "a.toml: expected a file of at most 1048576 bytes, found 1048577");
  EXPECT_EQ(ErrorOf("a = " + std::string(30, '[') + std::string(30, ']')), "");
  EXPECT_EQ(ErrorOf("\na = " + std::string(40, '[') + std::string(40, ']')),
            "a.toml:2: expected at most 32 nested arrays and tables, found more");
  std::string key = "a";
  for (int i = 1; i < 32; ++i) key += ".a";
  EXPECT_EQ(ErrorOf(key + " = 1"), "");
  EXPECT_EQ(ErrorOf(key + ".a = 1"), "a.toml:1: expected a key of at most 32 parts, found more");
}

TEST(ConfigValueTest, DescribesValues) {
  struct Case {
    const char* toml;
    const char* text;
  };
  const Case cases[] = {{"true", "true"},          {"7", "7"},
                        {"0.5", "the number 0.5"}, {"\"five\"", "\"five\""},
                        {"[]", "an empty array"},  {"[1]", "an array"},
                        {"{}", "a table"},         {"\"a\\nb\"", "\"a\\x0ab\""}};
  for (const Case& c : cases) {
    ConfigErrors errors;
    const auto root = ParseToml(std::string("a = ") + c.toml, "a.toml", errors);
    ASSERT_TRUE(root.has_value()) << c.toml;
    EXPECT_EQ(root->Find("a")->Describe(), c.text);
  }
  EXPECT_EQ(Quoted(std::string(65, 'x')), "\"" + std::string(64, 'x') + "...\"");
}

// Returns "key <line>", "depth <line>", or nothing, with limits of three.
std::string Excess(std::string_view text) {
  const auto excess = FindTomlExcess(text, 3, 3);
  if (!excess.has_value()) return "";
  return (excess->is_key ? "key " : "depth ") + std::to_string(excess->line);
}

TEST(FindTomlExcessTest, CountsBracketsAndParts) {
  struct Case {
    const char* text;
    const char* excess;
  };
  const Case cases[] = {
      {"", ""},
      {"a.b.c = 1", ""},
      {"a.b.c.d = 1", "key 1"},
      {"\na . \"b\" . 'c' . d = 1", "key 2"},
      {"a.b.c = 1.5\nd.e.f = 2.5", ""},
      {"[a.b.c]", ""},
      {"[a.b.c.d]", "key 1"},
      {"[[a.b.c]]\n", ""},
      {"a = [1.5, 2.5, 3.5, 4.5]", ""},
      {"a = {b.c.d = 1, e.f.g = 2}", ""},
      {"a = {b.c.d.e = 1}", "key 1"},
      {"a = [[[1]]]", ""},
      {"a = [[[[1]]]]", ""},
      {"a = [[[[[1]]]]]", "depth 1"},
      {"a = [\n[\n[\n[\n{b = 1}]]]]", "depth 5"},
      {"a = [[1], [2], [3], [4], [5]]", ""},
      // The content of strings and comments does not count, wherever they end.
      {"a = \"1.2.3.4.5 [[[[[[\"", ""},
      {"a = '1.2.3.4.5 [[[[[[\\'\n", ""},
      {"# 1.2.3.4.5 [[[[[[\nb = 1", ""},
      {"a = \"\\\"1.2.3.4.5\"", ""},
      {"a = \"\"\"\n1.2.3\n.4.5 \\\"\"\" 1.2.3.4\"\"\"\nb.c.d.e = 1", "key 4"},
      {"a = '''\n1.2.3.4.5'''\nb.c.d.e = 1", "key 3"},
      {"a = \"\"\"x\"\"\"\"\"\nb.c.d.e = 1", "key 2"},
      {"a = [\"\"\"x\"\"\"\", {b.c.d.e = 1}]", "key 1"},
      {"a = [\"\"\"\"\"\", {b.c.d.e = 1}]", "key 1"},
      {"a = \"unclosed\nb.c.d.e = 1", "key 2"},
      {"a = \"unclosed\\\nb.c.d.e = 1", "key 2"},
      {"a = \"unclosed\\", ""},
      {"a = \"\"\"unclosed", ""},
      {"]]]]]]", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(Excess(c.text), c.excess) << c.text;
}

}  // namespace
}  // namespace berth::host
