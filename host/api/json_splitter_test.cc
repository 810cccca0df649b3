#include "host/api/json_splitter.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr size_t kLimit = 1000;

// Returns every object with its line, such as "1:{}", and then the error if there was one,
// separated by "; ". The text is appended in pieces of `piece` bytes.
std::string Split(std::string_view text, size_t piece, size_t limit = kLimit) {
  JsonSplitter splitter(limit);
  std::string found;
  const auto note = [&found](const JsonText& object) {
    found += std::to_string(object.line) + ":" + object.text + "; ";
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    const Status status = splitter.Append(text.substr(at, piece), note);
    if (!status.ok()) return found + status.ToString();
  }
  const Status status = splitter.Finish();
  return status.ok() ? found : found + status.ToString();
}

// Splits the text at once, and expects the same result when it is appended in small pieces.
std::string Split(std::string_view text) {
  const std::string whole = Split(text, text.size() + 1);
  for (const size_t piece : {1U, 2U, 3U, 5U}) EXPECT_EQ(Split(text, piece), whole) << text;
  return whole;
}

TEST(JsonSplitter, SplitsAtTheEndOfEachObject) {
  struct Case {
    const char* text;
    const char* found;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {" \n\t\r\n ", ""},
      {"{}", "1:{}; "},
      {"{}{}", "1:{}; 1:{}; "},
      {"{}\n{}\n", "1:{}; 2:{}; "},
      {"\n\n {} \r\n{}", "3:{}; 4:{}; "},
      {"{\"a\":1}\n{\"b\":[]}", "1:{\"a\":1}; 2:{\"b\":[]}; "},
      {"{\n \"a\":\n  [1,\n   2]\n}\n{}", "1:{\n \"a\":\n  [1,\n   2]\n}; 6:{}; "},
      {"{\"}\":\"{[\\\"}\\\\\"}{}", "1:{\"}\":\"{[\\\"}\\\\\"}; 1:{}; "},
      {"{\"a\":[{},[],{\"b\":{}}],\"c\":[[[]]]}", "1:{\"a\":[{},[],{\"b\":{}}],\"c\":[[[]]]}; "},
      {"{\"a\":-1.5E+3,\"b\":true,\"c\":null}", "1:{\"a\":-1.5E+3,\"b\":true,\"c\":null}; "},
      {"{\"a\" : 1 , \"b\" : [ 1 , 2 ] }", "1:{\"a\" : 1 , \"b\" : [ 1 , 2 ] }; "},
      {"\xef\xbb\xbf{}", "1:{}; "},
      {"\xef\xbb\xbf", ""},
      {"{\"\xc3\xa4\":\"\x7f\"}", "1:{\"\xc3\xa4\":\"\x7f\"}; "},
  };
  for (const Case& c : cases) EXPECT_EQ(Split(c.text), c.found) << c.text;
}

TEST(JsonSplitter, ReportsMalformedTextAtItsFirstWrongByte) {
  struct Case {
    const char* text;
    const char* found;
  };
  const std::vector<Case> cases = {
      {"[]", "1: expected an object, found '['"},
      {"\nnull", "2: expected an object, found 'n'"},
      {"{}}", "1:{}; InvalidArgument: 1: expected an object, found '}'"},
      {"{},{}", "1:{}; InvalidArgument: 1: expected an object, found ','"},
      {"{\"a\":1\n{", "2: expected ',' or '}', found '{'"},
      {"{\"a\":[1\n2]}", "2: expected ',' or ']', found '2'"},
      {"{\"a\":1]", "1: expected ',' or '}', found ']'"},
      {"{\"a\":[1}", "1: expected ',' or ']', found '}'"},
      {"{\"a\" 1}", "1: expected ':', found '1'"},
      {"{a:1}", "1: expected a key in quotes, found 'a'"},
      {"{\"a\":1,}", "1: expected a key in quotes, found '}'"},
      {"{,}", "1: expected a key in quotes, found ','"},
      {"{\"a\":[1,]}", "1: expected a JSON value, found ']'"},
      {"{\"a\":[,]}", "1: expected a JSON value, found ','"},
      {"{\"a\":}", "1: expected a JSON value, found '}'"},
      {"{\"a\":'b'}", "1: expected a JSON value, found '''"},
      {"{}\n{\"a\nb\":1}",
       "1:{}; InvalidArgument: 2: expected a character that is allowed in a string, found byte 10"},
      {"{\"a\\\n\":1}", "1: expected an escape such as \\n, found byte 10"},
      {"\xff\xfe{", "1: expected an object, found byte 255"},
      {"\xef\xbb{}", "1: expected an object, found byte 239"},
      {"{}\xef\xbb\xbf", "1:{}; InvalidArgument: 1: expected an object, found byte 239"},
      {"\xef", "1: expected an object, found the end of the text"},
      {"{", "1: expected the end of the object, found the end of the text"},
      {"\n{\n\"a\":{}\n", "2: expected the end of the object, found the end of the text"},
      {"{\"a", "1: expected the end of the object, found the end of the text"},
  };
  for (const Case& c : cases) {
    const std::string expected = c.found;
    const bool whole = expected.find("InvalidArgument") != std::string::npos;
    EXPECT_EQ(Split(c.text), whole ? expected : "InvalidArgument: " + expected) << c.text;
  }
}

TEST(JsonSplitter, DeliversAnObjectWithItsLastByte) {
  JsonSplitter splitter(kLimit);
  std::vector<std::string> found;
  const auto note = [&found](JsonText object) { found.push_back(std::move(object.text)); };
  ASSERT_TRUE(splitter.Append("{\"a\":{}", note).ok());
  EXPECT_TRUE(found.empty());
  ASSERT_TRUE(splitter.Append("}", note).ok());
  EXPECT_THAT(found, ElementsAre("{\"a\":{}}"));
  EXPECT_TRUE(splitter.Finish().ok());
}

TEST(JsonSplitter, RejectsAnObjectThatIsTooLong) {
  const std::string just = "{\"a\":\"" + std::string(kLimit - 8, 'x') + "\"}";
  ASSERT_EQ(just.size(), kLimit);
  const std::string longer = "{\"a\":\"" + std::string(kLimit - 7, 'x') + "\"}";
  for (const size_t piece : {size_t{1}, size_t{64}, size_t{4096}}) {
    EXPECT_EQ(Split(just + just, piece), "1:" + just + "; 1:" + just + "; ");
    EXPECT_EQ(Split("{}\n" + longer, piece),
              "1:{}; OutOfRange: 2: expected an object of at most 1000 bytes, found more");
  }
  EXPECT_EQ(Split(longer.substr(0, kLimit + 1), 64),
            "OutOfRange: 1: expected an object of at most 1000 bytes, found more")
      << "the error must not wait for the end of the object";
}

TEST(JsonSplitter, AcceptsDeeplyNestedObjects) {
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(Split(deep + deep, 4096, deep.size()), "1:" + deep + "; 1:" + deep + "; ");
}

}  // namespace
}  // namespace berth::host
