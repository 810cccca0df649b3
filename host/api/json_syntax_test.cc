#include "host/api/json_syntax.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(JsonSyntax, AcceptsJson) {
  for (const char* text :
       {"", " \n", "{}", "[]", "{} {}", "[1,-0.5e+3,\"a\\u00e9\\n\",true,false,null]",
        "{\"a\":{\"b\":[[],{}]}}\n[1]", "0", "-0", "1E5", "\"\"", "[0.1]"}) {
    const auto error = FindSyntaxError(text);
    EXPECT_FALSE(error) << text << ": " << error->message;
  }
}

TEST(JsonSyntax, FindsTheFirstError) {
  struct Case {
    const char* text;
    size_t offset;
    const char* message;
  };
  const Case cases[] = {
      {"{", 1, "expected a key in quotes, found the end of the text"},
      {"{\"a\"", 4, "expected ':', found the end of the text"},
      {"{\"a\":1", 6, "expected ',' or '}', found the end of the text"},
      {"{\"a\":1]", 6, "expected ',' or '}', found ']'"},
      {"[1 2]", 3, "expected ',' or ']', found '2'"},
      {"[1,]", 3, "expected a JSON value, found ']'"},
      {"{\"a\":1,}", 7, "expected a key in quotes, found '}'"},
      {"{a:1}", 1, "expected a key in quotes, found 'a'"},
      {"{} }", 3, "expected a JSON value, found '}'"},
      {"[tru]", 1, "expected a JSON value, found 't'"},
      {"[01]", 2, "expected ',' or ']', found '1'"},
      {"[-]", 2, "expected a digit, found ']'"},
      {"[1.]", 3, "expected a digit, found ']'"},
      {"[1e]", 3, "expected a digit, found ']'"},
      {"[\"a", 1, "the string has no closing quote"},
      {"[\"\\x\"]", 3, "expected an escape such as \\n, found 'x'"},
      {"[\"\\u12g4\"]", 6, "expected four hexadecimal digits, found 'g'"},
      {"[\"a\nb\"]", 3, "expected a character that is allowed in a string, found byte 10"},
      {"{}\n[\"\xff\"]", 3, "expected UTF-8 text"},
  };
  for (const Case& c : cases) {
    const auto error = FindSyntaxError(c.text);
    ASSERT_TRUE(error) << c.text;
    EXPECT_EQ(error->offset, c.offset) << c.text;
    EXPECT_EQ(error->message, c.message) << c.text;
  }
}

TEST(JsonSyntax, EndOfValueFindsTheLastBracket) {
  EXPECT_EQ(EndOfValue("{}{}"), 2u);
  EXPECT_EQ(EndOfValue("{\"}\":[\"\\\"]\"]} x"), 13u);
  EXPECT_EQ(EndOfValue("[[],{}]"), 7u);
  EXPECT_EQ(EndOfValue("{\"a\":"), 5u);
  EXPECT_EQ(EndOfValue("{\"a\\"), 4u);
  EXPECT_EQ(EndOfValue("}"), 1u);
}

TEST(JsonSyntax, CountsLines) {
  EXPECT_EQ(LineAt("a\nb\n", 0), 1);
  EXPECT_EQ(LineAt("a\nb\n", 1), 1);
  EXPECT_EQ(LineAt("a\nb\n", 2), 2);
  EXPECT_EQ(LineAt("a\nb\n", 4), 3);
}

TEST(JsonSyntax, CountsNestingOutsideOfStrings) {
  EXPECT_FALSE(IsNestedDeeper("", 0));
  EXPECT_TRUE(IsNestedDeeper("{}", 0));
  EXPECT_FALSE(IsNestedDeeper("[{\"a\":[]},[[]]]", 3));
  EXPECT_TRUE(IsNestedDeeper("[{\"a\":[]},[[]]]", 2));
  EXPECT_FALSE(IsNestedDeeper("[\"[[[\\\"[[[\"]", 1));
  EXPECT_TRUE(IsNestedDeeper(std::string(1'000'000, '['), 100));
  EXPECT_FALSE(IsNestedDeeper("]]]", 0));
}

}  // namespace
}  // namespace berth::host
