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
  const ProfileArgs args = ToArgs(*root);
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

TEST(ParseTomlTest, RejectsDatesAndNonFiniteNumbers) {
  EXPECT_EQ(
      ErrorOf("a = 1\nb.c = 1979-05-27\nd = [inf, nan, -inf]"),
      "a.toml:2: c: expected a string, number, boolean, array or table, found a date or time\n"
      "a.toml:3: d: expected a finite number, found inf\n"
      "a.toml:3: d: expected a finite number, found nan");
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
  const Case cases[] = {{"true", "true"},         {"7", "7"},
                        {"0.5", "0.5"},           {"\"five\"", "\"five\""},
                        {"[]", "an empty array"}, {"[1]", "an array"},
                        {"{}", "a table"},        {"\"a\\nb\"", "\"a\\x0ab\""}};
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
