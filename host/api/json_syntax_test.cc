#include "host/api/json_syntax.h"

#include <string>
#include <string_view>
#include <vector>

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

// Returns the text from the place on.
std::string From(std::string_view json, std::string_view pointer) {
  return std::string(json.substr(FindPlace(json, pointer)));
}

TEST(ObjectPlaceTest, FindsTheValueAtAPointer) {
  constexpr std::string_view kJson =
      R"( {"a" : 1, "b":[ {"c":"x,]}"} , 7,"\"" ], "d/e":{"~":true},"f":{}} )";
  struct Case {
    const char* pointer;
    const char* from;
  };
  const Case cases[] = {
      {"", R"({"a" : 1, "b":[ {"c":"x,]}"} , 7,"\"" ], "d/e":{"~":true},"f":{}} )"},
      {"/a", R"(1, "b":[ {"c":"x,]}"} , 7,"\"" ], "d/e":{"~":true},"f":{}} )"},
      {"/b/0/c", R"("x,]}"} , 7,"\"" ], "d/e":{"~":true},"f":{}} )"},
      {"/b/1", R"(7,"\"" ], "d/e":{"~":true},"f":{}} )"},
      {"/b/2", R"("\"" ], "d/e":{"~":true},"f":{}} )"},
      {"/d~1e/~0", R"(true},"f":{}} )"},
      {"/f", "{}} "},
  };
  for (const Case& c : cases) EXPECT_EQ(From(kJson, c.pointer), c.from) << c.pointer;
}

TEST(ObjectPlaceTest, FindsTheInnermostValueIfThereIsNone) {
  constexpr std::string_view kJson = R"({"a":{"b":[1]},"c":[]})";
  struct Case {
    const char* pointer;
    const char* from;
  };
  const Case cases[] = {
      {"/x", R"({"a":{"b":[1]},"c":[]})"},
      {"/a/x/y", R"({"b":[1]},"c":[]})"},
      {"/a/b/1", R"([1]},"c":[]})"},
      {"/a/b/x", R"([1]},"c":[]})"},
      {"/a/b/0/x", R"(1]},"c":[]})"},
      {"/a/b/-1", R"([1]},"c":[]})"},
      {"/c/0", "[]}"},
      {"/", R"({"a":{"b":[1]},"c":[]})"},
      {"a", R"({"a":{"b":[1]},"c":[]})"},
      {"/a/", R"({"b":[1]},"c":[]})"},
      {"/c/99999999999999999999999", "[]}"},
  };
  for (const Case& c : cases) EXPECT_EQ(From(kJson, c.pointer), c.from) << c.pointer;
}

TEST(ObjectPlaceTest, AcceptsMalformedText) {
  for (const char* json : {"", " ", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":[1,",
                           "{\"a\":1", "{\"a\" 1}", "{a:1}", "[", "]", "{\"x\":}", "{,}", "\\"}) {
    EXPECT_LE(FindPlace(json, "/a/0/b"), std::string_view(json).size()) << json;
    EXPECT_EQ(DescribeObject(json), "") << json;
  }
  EXPECT_EQ(From(R"({"a":tru,"b":[1 2],"c":3)", "/c"), "3");
}

TEST(ObjectPlaceTest, SplitsPointers) {
  using Segments = std::vector<std::string>;
  EXPECT_EQ(SegmentsOf(""), Segments{});
  EXPECT_EQ(SegmentsOf("/"), Segments{""});
  EXPECT_EQ(SegmentsOf("/items/3/a~1b~0~01"), (Segments{"items", "3", "a/b~~1"}));
  EXPECT_EQ(SegmentsOf("/a~"), Segments{"a~"});
}

TEST(ObjectPlaceTest, FindsMembersOfTheRoot) {
  EXPECT_TRUE(HasMember(R"( {"a":null})", "a"));
  EXPECT_FALSE(HasMember(R"({"b":{"a":1}})", "a"));
  EXPECT_FALSE(HasMember(R"(["a"])", "a"));
}

TEST(ObjectPlaceTest, ReturnsThePointerOfAMessage) {
  EXPECT_EQ(PointerOf("/spec/priority: expected an integer, found 7: 8"), "/spec/priority");
  EXPECT_EQ(PointerOf("/: expected an object"), "/");
  EXPECT_EQ(PointerOf("duplicate v1/Pod default/a"), "");
  EXPECT_EQ(PointerOf("/no message"), "");
}

TEST(ObjectPlaceTest, NamesObjects) {
  struct Case {
    const char* json;
    const char* list_type;
    const char* described;
  };
  const Case cases[] = {
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"web","name":"a"}})", "",
       "Pod web/a"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})", "", "Pod default/a"},
      {R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}})", "", "Service default/a"},
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})", "", "Node n"},
      {R"({"apiVersion":"acme.com/v1","kind":"Rack","metadata":{"name":"r"}})", "", "Rack r"},
      {R"({"metadata":{"name":"a"}})", "v1/Pod", "Pod default/a"},
      {R"({"metadata":{"name":"a"}})", "", "a"},
      {R"({"metadata":{"name":"a","namespace":"web"}})", "", "web/a"},
      {R"({"kind":"Pod","metadata":{}})", "", "Pod"},
      {R"({"kind":"Pod","metadata":{"namespace":"web"}})", "", "Pod"},
      {R"({"kind":7,"metadata":{"name":8}})", "", ""},
      {"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xff\"}}", "", "Pod"},
      {R"({"kind":"Pod","metadata":7})", "", "Pod"},
      {"7", "", ""},
      {"null", "v1/Pod", "Pod"},
  };
  for (const Case& c : cases) EXPECT_EQ(DescribeObject(c.json, c.list_type), c.described) << c.json;
  const std::string long_name(1000, 'x');
  EXPECT_EQ(DescribeObject(R"({"metadata":{"name":")" + long_name + "\"}}"),
            long_name.substr(0, 250) + "...");
}

}  // namespace
}  // namespace berth::host
