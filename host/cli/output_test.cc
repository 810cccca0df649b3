#include "host/cli/output.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string_view>;

std::string Yaml(const Json& document) {
  std::string out;
  AppendDocument(document, OutputFormat::kYaml, out);
  return out;
}

TEST(CharacterCountTest, CountsCharactersInsteadOfBytes) {
  EXPECT_EQ(CharacterCount(""), 0u);
  EXPECT_EQ(CharacterCount("node"), 4u);
  EXPECT_EQ(CharacterCount("n\xC3\xB6"
                           "de"),
            4u);
  EXPECT_EQ(CharacterCount("\xE2\x82\xAC\xF0\x9F\x9A\xA2"), 2u);
}

TEST(PrintableTest, ReplacesControlCharacters) {
  EXPECT_EQ(Printable("plain"), "plain");
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "?31m")
      << "CSI as one character";
  EXPECT_EQ(Printable("n\xC3\xB6\xC2\xA7"), "n\xC3\xB6\xC2\xA7");
}

TEST(WrapTextTest, BreaksAtSpaces) {
  struct Case {
    std::string_view text;
    size_t width;
    Lines lines;
  };
  const std::vector<Case> cases = {
      {"", 5, {""}},
      {"one", 5, {"one"}},
      {"one two", 7, {"one two"}},
      {"one two", 6, {"one", "two"}},
      {"one two three", 7, {"one two", "three"}},
      {"a longword b", 4, {"a", "longword", "b"}},
      {"\xC3\xB6\xC3\xB6\xC3\xB6 x", 5, {"\xC3\xB6\xC3\xB6\xC3\xB6 x"}},
  };
  for (const Case& c : cases) EXPECT_EQ(WrapText(c.text, c.width), c.lines) << c.text;
}

TEST(AppendWrappedTest, IndentsAllLinesButTheFirst) {
  std::string out = "before\n  ";
  AppendWrapped("aaaaaaaa bbbbbbbb cccccccc dddddddd", 4, 30, out);
  EXPECT_EQ(out, "before\n  aaaaaaaa bbbbbbbb cccccccc\n    dddddddd\n");
}

TEST(AppendWrappedTest, DoesNotWrapWithoutATerminal) {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "word ";
  std::string out;
  AppendWrapped(line, 4, std::nullopt, out);
  EXPECT_EQ(out, line + "\n");
}

TEST(TableTest, AlignsColumnsWithoutSpacesAtTheEnd) {
  Table table({"A", "LONG", "C"});
  table.AddRow({"aaaa", "b", "c"});
  table.AddRow({"a", "", ""});
  std::string out;
  table.Append(std::nullopt, out);
  EXPECT_EQ(out,
            "A      LONG   C\n"
            "aaaa   b      c\n"
            "a\n");
  EXPECT_EQ(table.row_count(), 2u);
  EXPECT_EQ(table.Width(), 15u);
}

TEST(TableTest, KeepsAnEmptyFirstColumnAligned) {
  Table table({"", "NODE"});
  table.AddRow({"*", "a"});
  table.AddRow({"", "b"});
  std::string out;
  table.Append(std::nullopt, out);
  EXPECT_EQ(out, "    NODE\n*   a\n    b\n");
}

TEST(TableTest, WrapsTheLastColumnToTheTerminal) {
  Table table({"POD", "WHY NOT"});
  table.AddRow({"web-0", "0/3 nodes are available: 3 Insufficient cpu."});
  std::string out;
  table.Append(40, out);
  EXPECT_EQ(out,
            "POD     WHY NOT\n"
            "web-0   0/3 nodes are available: 3\n"
            "        Insufficient cpu.\n");
  std::string piped;
  table.Append(std::nullopt, piped);
  EXPECT_EQ(piped,
            "POD     WHY NOT\n"
            "web-0   0/3 nodes are available: 3 Insufficient cpu.\n");
}

TEST(TableTest, DoesNotWrapIntoAVeryNarrowColumn) {
  Table table({"POD", "WHY NOT"});
  table.AddRow({"web-0", "0/3 nodes are available: 3 Insufficient cpu."});
  std::string out;
  table.Append(31, out);
  EXPECT_NE(out.find("available: 3 Insufficient"), std::string::npos) << out;
}

TEST(AppendDocumentTest, WritesJson) {
  std::string out;
  AppendDocument({{"b", 1}, {"a", {"x"}}}, OutputFormat::kJson, out);
  EXPECT_EQ(out, "{\n  \"b\": 1,\n  \"a\": [\n    \"x\"\n  ]\n}\n");
}

TEST(AppendDocumentTest, ReplacesTextThatIsNotUtf8) {
  std::string out;
  AppendDocument({{"a", "\xFF"}}, OutputFormat::kJson, out);
  EXPECT_EQ(out, "{\n  \"a\": \"\xEF\xBF\xBD\"\n}\n");
}

TEST(AppendDocumentTest, WritesYaml) {
  EXPECT_EQ(Yaml({{"node", "node-a"}, {"seed", 7}, {"ok", true}, {"list", {"x", "z"}}}),
            "node: node-a\nseed: 7\nok: true\nlist:\n  - x\n  - z\n");
}

TEST(AppendDocumentTest, QuotesYamlStringsThatLookLikeOtherTypes) {
  for (const std::string text :
       {"true", "No",   "y",   "null",  "12",   "1e3",        "0x1f",     "~",
        "",     "a: b", "- a", "#c",    "a\nb", "2026-01-01", ".inf",     "*a",
        "&a",   "!x",   "'q'", "\"q\"", " a",   "a ",         "0/3 nodes"}) {
    const YAML::Node read = YAML::Load(Yaml({{"key", text}}));
    EXPECT_EQ(read["key"].as<std::string>(), text);
    EXPECT_EQ(read["key"].Tag(), "!") << text << ": not quoted";
  }
}

TEST(FormatFixedTest, UsesAnExponentForLongNumbers) {
  EXPECT_EQ(FormatFixed(0, 1), "0.0");
  EXPECT_EQ(FormatFixed(86.44, 1), "86.4");
  EXPECT_EQ(FormatFixed(1.005e18, 2), "1005000000000000000.00");
  EXPECT_EQ(FormatFixed(1e300, 2), "1.00e+300");
}

}  // namespace
}  // namespace berth::host
