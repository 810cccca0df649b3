#include "host/cluster/json_body.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/json_text.h"

namespace berth::host {
namespace {

using ::testing::StartsWith;

std::string RoundTrip(const std::string& text) {
  const auto json = ParseBody(text);
  return json.ok() ? DumpJson(*json) : json.status().ToString();
}

// Returns {"a":[[...]]} with `depth` levels of nested arrays and objects.
std::string Nested(size_t depth) {
  return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

TEST(JsonBody, KeepsAnObjectUnchanged) {
  for (const char* text : {"{}", R"({"b":1,"a":[1.5,true,null,"x"]})", R"({"brackets":"[[[{\"[["})",
                           R"({"a":"\\"})"}) {
    EXPECT_EQ(RoundTrip(text), text);
  }
  EXPECT_EQ(RoundTrip(R"({"a":1,"a":"x"})"), R"({"a":"x"})");  // The last one counts.
}

TEST(JsonBody, RejectsTextsThatAreNotAnObject) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("1"), std::string("null"), std::string("{"),
        std::string("{}}"), std::string("{} x"), std::string("{\"a\":\"\xff\"}"),
        std::string("{\"a\":\"\xc3\"}"), std::string("{\"a\":\"\\ud800\"}"),
        std::string("{\"a\":1e999}"), std::string("{\"a\":\"\\"), std::string("{\"a\":\0}", 7)}) {
    EXPECT_EQ(RoundTrip(text), "InvalidArgument: the body is not a JSON object") << text;
  }
}

TEST(JsonBody, LimitsTheDepth) {
  EXPECT_EQ(RoundTrip(Nested(kMaxBodyDepth)), Nested(kMaxBodyDepth));
  for (const size_t depth : {kMaxBodyDepth + 1, size_t{1'000'000}}) {
    EXPECT_THAT(RoundTrip(Nested(depth)),
                StartsWith("InvalidArgument: the body has more than 100"));
  }
  std::string many = "{\"a\":[";
  for (size_t i = 0; i < 2 * kMaxBodyDepth; ++i) many += "{},";
  EXPECT_EQ(RoundTrip(many + "0]}"), many + "0]}");
}

TEST(JsonBody, LimitsTheSize) {
  const std::string frame = R"({"a":""})";
  const auto of_size = [&](size_t size) {
    return R"({"a":")" + std::string(size - frame.size(), 'x') + R"("})";
  };
  EXPECT_EQ(RoundTrip(of_size(kMaxBodyBytes)), of_size(kMaxBodyBytes));
  EXPECT_EQ(RoundTrip(of_size(kMaxBodyBytes + 1)),
            "OutOfRange: Request entity too large: limit is 3145728");
}

TEST(JsonBody, ReadsAMemberThatIsAText) {
  const auto object = ParseBody(R"({"a":"x","b":7,"c":null,"d":""})");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(TextMember(*object, "a"), "x");
  for (const char* key : {"b", "c", "d", "e"}) EXPECT_EQ(TextMember(*object, key), "") << key;
}

}  // namespace
}  // namespace berth::host
