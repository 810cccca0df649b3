#include "host/api/yaml.h"

#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

std::string Repeat(std::string_view text, size_t count) {
  std::string repeated;
  while (count-- > 0) repeated += text;
  return repeated;
}

// Returns the JSON documents, one per line, or the error.
std::string Convert(std::string_view text, const YamlLimits& limits = {}) {
  const Result<std::vector<JsonDocument>> documents = YamlToJson(text, limits);
  if (!documents.ok()) return documents.status().ToString();
  std::string all;
  for (const JsonDocument& document : *documents) {
    all += (all.empty() ? "" : "\n") + document.json;
  }
  return all;
}

TEST(YamlToJson, ConvertsStructure) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a: 1\nb:\n  c: [x, {d: e}]\n", R"({"a":1,"b":{"c":["x",{"d":"e"}]}})"},
      {"- a\n- - b\n  - c\n-\n", R"(["a",["b","c"],null])"},
      {"a: {}\nb: []\n", R"({"a":{},"b":[]})"},
      {"a:\nb:\n", R"({"a":null,"b":null})"},
      {"hello", R"("hello")"},
      {"? a\n: b\n", R"({"a":"b"})"},
      {"[a: b, c]", R"([{"a":"b"},"c"])"},
      {R"({"a": "b", "c": [1, true, null]})", R"({"a":"b","c":[1,true,null]})"},
      {"\xef\xbb\xbf"
       "a: 1",
       R"({"a":1})"},
      {"a: 1\r\nb: 2\r\n", R"({"a":1,"b":2})"},
      {"# only a comment\n", ""},
      {"", ""},
  };
  for (const auto& [yaml, json] : kCases) EXPECT_EQ(Convert(yaml), json) << yaml;
}

void ExpectPlainScalars(std::span<const std::pair<std::string, std::string>> cases) {
  for (const auto& [yaml, json] : cases) {
    EXPECT_EQ(Convert("v: " + yaml), json == "null" ? R"({"v":null})" : "{\"v\":" + json + "}");
  }
}

TEST(YamlToJson, ResolvesPlainWordsAsKubectlDoes) {
  const std::pair<std::string, std::string> kCases[] = {
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"nULL", "\"nULL\""},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"tRUE", "\"tRUE\""},
      {"TRue", "\"TRue\""},
      {"false", "false"},
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"no", "false"},
      {"on", "true"},
      {"off", "false"},
      {"Off", "false"},
      {"y", "true"},
      {"N", "false"},
      {"none", "\"none\""},
      {"node", "\"node\""},
      {"yess", "\"yess\""},
      {"2026-01-10", "\"2026-01-10\""},
      {"2026-01-10T08:00:00Z", "\"2026-01-10T08:00:00Z\""},
      {"<<", "\"<<\""},
  };
  ExpectPlainScalars(kCases);
}

TEST(YamlToJson, ResolvesPlainNumbersAsKubectlDoes) {
  const std::pair<std::string, std::string> kCases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"7", "7"},
      {"+7", "7"},
      {"-7", "-7"},
      {"1_000", "1000"},
      {"010", "8"},
      {"-010", "-8"},
      {"08", "8"},
      {"0o17", "15"},
      {"0O17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"-0x10", "-16"},
      {"0x", "\"0x\""},
      {"0xg", "\"0xg\""},
      {"1a", "\"1a\""},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551616", "18446744073709551616"},
      {"-9223372036854775809", "-9223372036854775808"},
      {"100000000000000000000000", "1e+23"},
      {"1.5", "1.5"},
      {"-1.5", "-1.5"},
      {"+1.5", "1.5"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1.10", "1.1"},
      {"1e3", "1000"},
      {"1E-3", "0.001"},
      {"12e6", "12000000"},
      {"1e-999", "0"},
      {"1e999", "\"1e999\""},
      {"1e", "\"1e\""},
      {"1.2.3", "\"1.2.3\""},
      {".", "\".\""},
      {"..", "\"..\""},
      {"+", "\"+\""},
      {".1_0", "\".1_0\""},
      {"100m", "\"100m\""},
      {"1Gi", "\"1Gi\""},
      {"1E", "\"1E\""},
      {"12:30:45", "\"12:30:45\""},
      {"10.0.0.1", "\"10.0.0.1\""},
      {"_1", "\"_1\""},
  };
  ExpectPlainScalars(kCases);
}

TEST(YamlToJson, QuotedAndBlockScalarsAreStrings) {
  const std::pair<std::string, std::string> kCases[] = {
      {"v: '1'", R"({"v":"1"})"},
      {"v: \"true\"", R"({"v":"true"})"},
      {"v: ''", R"({"v":""})"},
      {"v: \"~\"", R"({"v":"~"})"},
      {"v: |\n  12\n  34\n", R"({"v":"12\n34\n"})"},
      {"v: |-\n  12\n", R"({"v":"12"})"},
      {"v: >\n  a\n  b\n", R"({"v":"a b\n"})"},
      {"v: \"a\\\"b\\\\c\\td\\u0001\"", R"({"v":"a\"b\\c\td\u0001"})"},
      {"v: 'it''s'", R"({"v":"it's"})"},
      {"v: gr\xc3\xb6\xc3\x9f"
       "e \xf0\x9f\x9a\xa2",
       "{\"v\":\"gr\xc3\xb6\xc3\x9f"
       "e \xf0\x9f\x9a\xa2\"}"},
  };
  for (const auto& [yaml, json] : kCases) EXPECT_EQ(Convert(yaml), json) << yaml;
}

TEST(YamlToJson, TagsDetermineTheType) {
  const std::pair<std::string, std::string> kCases[] = {
      {"!!str 12", "\"12\""},
      {"! 12", "\"12\""},
      {"!!int '12'", "12"},
      {"!!float 12", "12"},
      {"!!bool 'yes'", "true"},
      {"!!null ''", "null"},
      {"!!timestamp 2026-01-10", "\"2026-01-10\""},
      {"!!seq [1]", "[1]"},
      {"!!map {a: 1}", "{\"a\":1}"},
      {"!!int x",
       "InvalidArgument: line 1, column 4: expected a value of the tag's type int, found \"x\""},
      {"!!bool 1",
       "InvalidArgument: line 1, column 4: expected a value of the tag's type bool, found \"1\""},
      {"!!binary aGk=",
       "Unsupported: line 1, column 4: the tag \"tag:yaml.org,2002:binary\" is not supported here"},
      {"!Ref x", "Unsupported: line 1, column 4: the tag \"!Ref\" is not supported here"},
      {"!!set {a}",
       "Unsupported: line 1, column 4: the tag \"tag:yaml.org,2002:set\" is not supported here"},
      {"!!seq {a: 1}",
       "Unsupported: line 1, column 4: the tag \"tag:yaml.org,2002:seq\" is not supported here"},
  };
  for (const auto& [yaml, json] : kCases) {
    const bool error = json.find("line 1") != std::string::npos;
    EXPECT_EQ(Convert("v: " + yaml), error ? json : "{\"v\":" + json + "}") << yaml;
  }
}

TEST(YamlToJson, KeysAreStrings) {
  EXPECT_EQ(Convert("1: a\ntrue: b\n1.50: c\n'x y': d\n010: e\non_: f\n"),
            R"({"1":"a","true":"b","1.5":"c","x y":"d","8":"e","on_":"f"})");
  EXPECT_EQ(Convert("&k a: *k\n"), R"({"a":"a"})");
  EXPECT_EQ(Convert("x: &k 5\n*k : v\n"), R"({"x":5,"5":"v"})");
}

TEST(YamlToJson, SplitsDocumentsAndRecordsTheirLines) {
  const Result<std::vector<JsonDocument>> documents = YamlToJson(
      "# head\na: 1\n---\n---\n# empty\n---\nnull\n---\n\nb: 2\n...\n# tail\n---\n- c\n");
  ASSERT_TRUE(documents.ok()) << documents.status().ToString();
  ASSERT_EQ(documents->size(), 3U);
  EXPECT_EQ((*documents)[0].json, R"({"a":1})");
  EXPECT_EQ((*documents)[0].line, 2);
  EXPECT_EQ((*documents)[1].json, R"({"b":2})");
  EXPECT_EQ((*documents)[1].line, 10);
  EXPECT_EQ((*documents)[2].json, R"(["c"])");
  EXPECT_EQ((*documents)[2].line, 14);
  EXPECT_EQ(Convert("a: \xc3\xa4\xc3\xb6\n---\nb: 2\n"), "{\"a\":\"\xc3\xa4\xc3\xb6\"}\n{\"b\":2}");
  EXPECT_EQ(Convert("a: 1\n...\n# next\nb: 2\n"), "{\"a\":1}\n{\"b\":2}");
}

TEST(YamlToJson, AliasesCopyTheirNode) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a: &x {k: [1, 2]}\nb: *x\nc: *x\n", R"({"a":{"k":[1,2]},"b":{"k":[1,2]},"c":{"k":[1,2]}})"},
      {"- &x 1\n- &x 2\n- *x\n", "[1,2,2]"},
      {"- &x [&y 1]\n- *y\n- *x\n", "[[1],1,[1]]"},
      {"- &x\n- *x\n", "[null,null]"},
      {"a: &x 1\n---\nb: &x 2\nc: *x\n", "{\"a\":1}\n{\"b\":2,\"c\":2}"},
      {"- &x [1]\n- - - *x\n", "[[1],[[[1]]]]"},
  };
  for (const auto& [yaml, json] : kCases) EXPECT_EQ(Convert(yaml), json) << yaml;
}

TEST(YamlToJson, KeysOfAMappingOverrideMergedKeys) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a: &a {x: 1, w: 2}\nb:\n  <<: *a\n  w: 3\n", R"({"a":{"x":1,"w":2},"b":{"w":3,"x":1}})"},
      {"a: &a {x: 1, w: 2}\nb:\n  w: 3\n  <<: *a\n", R"({"a":{"x":1,"w":2},"b":{"w":3,"x":1}})"},
      {"<<: {x: 1}\n", R"({"x":1})"},
      {"<<: [{x: 1, u: [1, {z: ','}]}, {x: 2, w: '}'}]\nv: 0\n",
       R"({"v":0,"x":1,"u":[1,{"z":","}],"w":"}"})"},
      {"<<: []\n", "{}"},
      {"<<: {}\n<<: {x: 1}\n", R"({"x":1})"},
      {"a: &a {<<: {x: 1}}\nb: {<<: *a, <<: {x: 2, w: 3}}\n", R"({"a":{"x":1},"b":{"x":1,"w":3}})"},
      {"<<: {x: &q [7]}\nx: *q\n", R"({"x":[7]})"},
      {"'<<': {x: 1}\n", R"({"<<":{"x":1}})"},
      {"<<: {'a\"b,': 'c\\'}\n", R"({"a\"b,":"c\\"})"},
  };
  for (const auto& [yaml, json] : kCases) EXPECT_EQ(Convert(yaml), json) << yaml;
}

TEST(YamlToJson, ErrorsNameTheLineAndTheColumn) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a: 1\nb: 2\na: 3\n", "line 3, column 1: the key \"a\" occurs twice in this mapping"},
      {"x:\n  1: a\n  '1': b\n", "line 3, column 3: the key \"1\" occurs twice in this mapping"},
      {"a: [1, 2\nb: 3\n", "line 2, column 2: "},
      {"a: b: c\n", "line 1, column 5: "},
      {"a: *nope\n", "line 1, column 4: "},
      {"a: &x [*x]\n", "line 1, column 8: the alias refers to the node that contains it"},
      {"a: .inf\n", "line 1, column 4: JSON cannot represent \".inf\""},
      {"a: -.INF\n", "line 1, column 4: JSON cannot represent \"-.INF\""},
      {"a: .nan\n", "line 1, column 4: JSON cannot represent \".nan\""},
      {"a: 0x10000000000000000\n",
       "line 1, column 4: \"0x10000000000000000\" does not fit in 64 bits"},
      {"~: a\n", "line 1, column 1: the key is null"},
      {"? [a]\n: b\n", "line 1, column 3: expected a scalar as the key"},
      {"x: &k [1]\n*k : v\n", "line 2, column 1: expected a scalar as the key"},
      {"a:\n  <<: 5\n", "line 2, column 7: expected a mapping, or a sequence of mappings"},
      {"<<: [{a: 1}, 2]\n", "line 1, column 5: expected a mapping, or a sequence of mappings"},
      {"{a: 1} b\n", "line 1, column 8: expected the end of the document"},
      {", a\n", "line 1, column 1: expected the end of the document"},
      {"a: 1\n\tb: 2\n", "line 2, column "},
      {"a: b\nc: d\x04"
       "e: f\n",
       "line 2, column 5: control characters are not allowed"},
      {"a: \xff\n", "line 1, column 4: this is not valid UTF-8"},
      {"a: \xc0\x80\n", "line 1, column 4: this is not valid UTF-8"},
      {"a: \xed\xa0\x80\n", "line 1, column 4: this is not valid UTF-8"},
      {"a: \xe2\x82", "line 1, column 4: this is not valid UTF-8"},
      {"a: 'open\n", "line 1, column 4: the quoted scalar has no closing quote"},
      {"a: &x !!str \"it\\\" \n", "line 1, column 4: the quoted scalar has no closing quote"},
      {"a: 'it''s\n\n", "line 1, column 4: the quoted scalar has no closing quote"},
      {"%YAML 9.9\n---\na: 1\n", "line 1, column "},
  };
  for (const auto& [yaml, message] : kCases) {
    const Result<std::vector<JsonDocument>> documents = YamlToJson(yaml);
    ASSERT_FALSE(documents.ok()) << yaml << documents->at(0).json;
    EXPECT_EQ(documents.status().message().substr(0, message.size()), message) << yaml;
  }
}

TEST(YamlToJson, FindsDuplicatesAmongManyKeys) {
  std::string yaml;
  for (int32_t i = 0; i < 200; ++i) yaml += "k" + std::to_string(i) + ": 0\n";
  EXPECT_EQ(Convert(yaml).substr(0, 15), R"({"k0":0,"k1":0,)");
  for (const char* again : {"k0", "k32", "k33", "k199"}) {
    EXPECT_EQ(Convert(yaml + again + ": 1\n"), "InvalidArgument: line 201, column 1: the key \"" +
                                                   std::string(again) +
                                                   "\" occurs twice in this mapping");
  }
}

TEST(YamlToJson, AcceptsInputAtItsLimitsAndRejectsMore) {
  YamlLimits limits;
  limits.max_bytes = 4;
  EXPECT_EQ(Convert("a: 1", limits), R"({"a":1})");
  EXPECT_EQ(Convert("a: 12", limits),
            "OutOfRange: line 1, column 1: expected at most 4 bytes, found 5");

  limits = {};
  limits.max_depth = 3;
  EXPECT_EQ(Convert("[[[]]]", limits), "[[[]]]");
  EXPECT_EQ(Convert("[[[[]]]]", limits),
            "OutOfRange: line 1, column 4: expected at most 3 levels of nested mappings and "
            "sequences");
  EXPECT_EQ(Convert("[&x [1], [*x]]", limits), "[[1],[[1]]]");
  EXPECT_NE(Convert("[&x [1], [[*x]]]", limits).find("line 1, column 12: expected at most 3"),
            std::string::npos);

  limits = {};
  limits.max_nodes = 5;
  EXPECT_EQ(Convert("[1, 2, 3, 4]", limits), "[1,2,3,4]");
  EXPECT_NE(Convert("[1, 2, 3, 4, 5]", limits).find("expected at most 5 nodes"), std::string::npos);
  EXPECT_EQ(Convert("[&x [1], *x]", limits), "[[1],[1]]");
  EXPECT_NE(Convert("[&x [1], *x, *x]", limits).find("column 14: expected at most 5 nodes"),
            std::string::npos);
}

TEST(YamlToJson, RejectsDeepNesting) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    const std::string error = Convert(Repeat(open, 100'000));
    EXPECT_NE(error.find("line 1, column "), std::string::npos) << error;
  }
}

TEST(YamlToJson, RejectsAliasBombsQuickly) {
  std::string nodes = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int32_t i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    nodes += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + Repeat(alias + ", ", 8) +
             alias + "]\n";
  }
  std::string merges = "a0: &a0 {k: v}\n";
  for (int32_t i = 1; i < 40; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    merges += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {p: " + alias +
              ", q: " + alias + "}\n";
  }
  const std::string bytes =
      "a: &a " + std::string(1 << 20, 'x') + "\nb: [" + Repeat("*a, ", 2000) + "]\n";
  for (const std::string& bomb : {nodes, merges, bytes}) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<std::vector<JsonDocument>> documents = YamlToJson(bomb);
    ASSERT_FALSE(documents.ok());
    EXPECT_EQ(documents.status().code(), ErrorCode::kOutOfRange);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  }
}

TEST(YamlToJson, AcceptsManyAliasesOfASmallNode) {
  std::string yaml = "template: &t {a: 1, b: 2, c: [1, 2, 3], d: {e: f}}\npods:\n";
  for (int32_t i = 0; i < 200'000; ++i) yaml += "- *t\n";
  EXPECT_TRUE(YamlToJson(yaml).ok());
}

TEST(YamlToJson, AnyTruncatedTextGivesValueOrAnError) {
  const std::string yaml =
      "%YAML 1.1\n---\na: &x {b: [1, 'q', \"d\\n\"], <<: {c: !!str 5}}\n? k\n: |\n  text\n"
      "- *x\n...\n---\n- *y\n";
  for (size_t begin = 0; begin < yaml.size(); ++begin) {
    for (size_t size = 0; begin + size <= yaml.size(); ++size) {
      const Result<std::vector<JsonDocument>> documents = YamlToJson(yaml.substr(begin, size));
      EXPECT_TRUE(documents.ok() || documents.status().message().starts_with("line "));
    }
  }
}

constexpr const char* kText =
    "# a comment\n"                 // 1
    "kind: Pod\n"                   // 2
    "metadata:\n"                   // 3
    "  name: a\n"                   // 4
    "  labels: {k: v,\n"            // 5
    "    a/b: 7}\n"                 // 6
    "spec:\n"                       // 7
    "  items:\n"                    // 8
    "  - x: 1\n"                    // 9
    "  - x: 2\n"                    // 10
    "    y: &more\n"                // 11
    "      z: 3\n"                  // 12
    "  - *more\n"                   // 13
    "  - <<: *more\n"               // 14
    "    w: 4\n"                    // 15
    "---\n"                         // 16
    "---\n"                         // 17
    "\n"                            // 18
    "- first\n"                     // 19
    "-\n"                           // 20
    "  - nested\n"                  // 21
    "--- {metadata: {name: b}}\n";  // 22

TEST(YamlLinesTest, FindsTheLineOfAValue) {
  struct Case {
    YamlPlace place;
    int32_t line;
  };
  const std::vector<Case> cases = {
      {{2, ""}, 2},
      {{2, "/metadata"}, 4},
      {{2, "/metadata/name"}, 4},
      {{2, "/metadata/labels"}, 5},
      {{2, "/metadata/labels/a~1b"}, 6},
      {{2, "/spec/items/0/x"}, 9},
      {{2, "/spec/items/1/y/z"}, 12},
      {{19, "/0"}, 19},
      {{19, "/1/0"}, 21},
      {{22, "/metadata/name"}, 22},
  };
  std::vector<YamlPlace> places;
  for (const Case& c : cases) places.push_back(c.place);
  const std::vector<int32_t> lines = FindYamlLines(kText, places);
  ASSERT_EQ(lines.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(lines[i], cases[i].line) << places[i].document_line << places[i].pointer;
  }
}

TEST(YamlLinesTest, FindsTheInnermostValueOfAMissingValue) {
  const std::vector<YamlPlace> places = {{2, "/metadata/uid"},    {2, "/spec/items/9/x"},
                                         {2, "/spec/items/2/z"},  {2, "/spec/items/3/z"},
                                         {2, "/metadata/name/x"}, {19, "/7"},
                                         {18, "/metadata"},       {22, "/status"}};
  EXPECT_EQ(FindYamlLines(kText, places), (std::vector<int32_t>{4, 9, 13, 14, 4, 19, 18, 22}));
}

TEST(YamlLinesTest, SkipsAByteOrderMark) {
  const std::vector<YamlPlace> places = {{1, "/b"}};
  EXPECT_EQ(FindYamlLines("\xef\xbb\xbf"
                          "a: 1\nb: 2\n",
                          places),
            std::vector<int32_t>{2});
}

}  // namespace
}  // namespace berth::host
