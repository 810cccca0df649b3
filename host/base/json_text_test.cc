#include "host/base/json_text.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/text.h"

namespace berth::host {
namespace {

TEST(ParseJson, DiscardsWhatIsNotJson) {
  const struct Case {
    const char* name;
    std::string_view text;
    bool is_json;
  } cases[] = {
      {"an object", R"({"a":[1,null,"x"]})", true},        {"a number", "1", true},
      {"spaces around the value", " true \n", true},       {"nothing", "", false},
      {"an object that does not end", R"({"a":1)", false}, {"text after the value", "{} {}", false},
      {"a byte that is not UTF-8", "\"\xff\"", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(!ParseJson(c.text).is_discarded(), c.is_json) << c.name;
    EXPECT_EQ(!ParseOrderedJson(c.text).is_discarded(), c.is_json) << c.name;
  }
}

TEST(ParseOrderedJson, KeepsTheOrderOfMembers) {
  const std::string_view text = R"({"b":1,"a":2})";
  EXPECT_EQ(DumpJson(ParseOrderedJson(text)), text);
  EXPECT_EQ(DumpJson(ParseJson(text)), R"({"a":2,"b":1})");
}

TEST(DumpJson, IndentsAndReplacesInvalidBytes) {
  const nlohmann::ordered_json json = {{"a", {1, 2}}, {"b", "x\xff"}};
  EXPECT_EQ(DumpJson(json), "{\"a\":[1,2],\"b\":\"x\xef\xbf\xbd\"}");
  EXPECT_EQ(DumpJson(json, 1), "{\n \"a\": [\n  1,\n  2\n ],\n \"b\": \"x\xef\xbf\xbd\"\n}");
  EXPECT_EQ(DumpJson(nlohmann::json("\xc3\xa9")), "\"\xc3\xa9\"") << "valid UTF-8 is not escaped";
}

TEST(QuotedJson, CutsLongValues) {
  const std::string fits(kMaxQuotedBytes - 2, 'y');  // The quotes are two more bytes.
  EXPECT_EQ(QuotedJson(fits), '"' + fits + '"');
  const std::string cut = QuotedJson(fits + "y");
  EXPECT_EQ(cut.size(), kMaxQuotedBytes);
  EXPECT_TRUE(cut.ends_with("yyy...")) << cut;
}

}  // namespace
}  // namespace berth::host
