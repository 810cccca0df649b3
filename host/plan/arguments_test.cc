#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/objects.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

class ArgumentsTest : public ::testing::Test {
 protected:
  const berth_value* Parse(const char* json) {
    arguments_.emplace(nlohmann::json::parse(json), "profiles/a.toml:3");
    return arguments_->root();
  }
  const berth_value* Get(const berth_value* value, std::string_view key) {
    return values_.get(value, AsStr(key));
  }

  const berth_values& values_ = *ValuesService();
  std::optional<Arguments> arguments_;
};

struct Scalar {
  const char* json;
  uint32_t kind;
  int64_t as_int;
  double as_float;
  const char* as_string;
};

TEST_F(ArgumentsTest, Scalars) {
  constexpr Scalar kTable[] = {
      {"true", BERTH_VALUE_BOOL, 1, 0, ""},
      {"false", BERTH_VALUE_BOOL, 0, 0, ""},
      {"-7", BERTH_VALUE_INT, -7, -7, ""},
      {"9223372036854775807", BERTH_VALUE_INT, INT64_MAX, 9223372036854775807.0, ""},
      {"-9223372036854775808", BERTH_VALUE_INT, INT64_MIN, -9223372036854775808.0, ""},
      {"9223372036854775808", BERTH_VALUE_FLOAT, 0, 9223372036854775808.0, ""},
      {"18446744073709551615", BERTH_VALUE_FLOAT, 0, 18446744073709551615.0, ""},
      {"0.25", BERTH_VALUE_FLOAT, 0, 0.25, ""},
      {"\"text\"", BERTH_VALUE_STRING, 0, 0, "text"},
      {"\"\"", BERTH_VALUE_STRING, 0, 0, ""},
  };
  for (const Scalar& row : kTable) {
    SCOPED_TRACE(row.json);
    const berth_value* value = Parse(row.json);
    EXPECT_EQ(values_.kind(value), row.kind);
    EXPECT_EQ(values_.size(value), 0U);
    EXPECT_EQ(values_.as_int(value), row.as_int);
    EXPECT_EQ(values_.as_float(value), row.as_float);
    EXPECT_EQ(Text(values_.as_string(value)), row.as_string);
    EXPECT_EQ(Text(values_.where(value)), "profiles/a.toml:3");
    EXPECT_EQ(values_.get(value, AsStr("key")), nullptr);
    EXPECT_EQ(values_.at(value, 0, nullptr), nullptr);
  }
}

TEST_F(ArgumentsTest, ArraysAreReadByIndex) {
  const berth_value* value = Parse("[1, \"two\", [3]]");
  EXPECT_EQ(values_.kind(value), uint32_t{BERTH_VALUE_ARRAY});
  EXPECT_EQ(values_.size(value), 3U);
  EXPECT_EQ(values_.as_int(values_.at(value, 0, nullptr)), 1);
  berth_str key = AsStr("untouched");
  EXPECT_EQ(Text(values_.as_string(values_.at(value, 1, &key))), "two");
  EXPECT_EQ(Text(key), "untouched");
  EXPECT_EQ(values_.as_int(values_.at(values_.at(value, 2, nullptr), 0, nullptr)), 3);
  EXPECT_EQ(values_.at(value, 3, nullptr), nullptr);
  EXPECT_EQ(Get(value, "0"), nullptr);
}

TEST_F(ArgumentsTest, ObjectsAreReadByKeyAndByIndex) {
  const berth_value* value = Parse(R"({"a": 1, "b": {"c": true}, "": "empty"})");
  EXPECT_EQ(values_.kind(value), uint32_t{BERTH_VALUE_OBJECT});
  EXPECT_EQ(values_.size(value), 3U);
  EXPECT_EQ(values_.as_int(Get(value, "a")), 1);
  EXPECT_EQ(values_.as_int(Get(Get(value, "b"), "c")), 1);
  EXPECT_EQ(Text(values_.as_string(Get(value, ""))), "empty");
  EXPECT_EQ(Get(value, "d"), nullptr);
  for (uint64_t i = 0; i < values_.size(value); ++i) {
    berth_str key{};
    const berth_value* member = values_.at(value, i, &key);
    ASSERT_NE(member, nullptr);
    EXPECT_EQ(member, values_.get(value, key));
  }
  EXPECT_EQ(values_.at(value, 3, nullptr), nullptr);
}

TEST_F(ArgumentsTest, EveryValueHasItsPlace) {
  const ArgumentPlaces places = {{"", "a:1"}, {"/x~1y", "a:2"}, {"/x~1y/1", "a:3"}, {"/z", "b:1"}};
  const Arguments arguments(nlohmann::json::parse(R"({"x/y": [1, {"q": 2}], "w": 3, "z": 4})"),
                            "profiles/a.toml:3", places);
  const berth_value* root = arguments.root();
  const auto where = [this](const berth_value* value) { return Text(values_.where(value)); };
  EXPECT_EQ(where(root), "a:1");
  EXPECT_EQ(where(Get(root, "w")), "a:1");
  EXPECT_EQ(where(Get(root, "z")), "b:1");
  EXPECT_EQ(where(Get(root, "x/y")), "a:2");
  EXPECT_EQ(where(values_.at(Get(root, "x/y"), 0, nullptr)), "a:2");
  const berth_value* element = values_.at(Get(root, "x/y"), 1, nullptr);
  EXPECT_EQ(where(element), "a:3");
  EXPECT_EQ(where(Get(element, "q")), "a:3");
}

TEST_F(ArgumentsTest, NullIsAbsent) {
  EXPECT_EQ(Parse("null"), nullptr);
  EXPECT_EQ(values_.size(Parse(R"({"a": null})")), 0U);
  const berth_value* list = Parse("[null, 1]");
  EXPECT_EQ(values_.size(list), 2U);
  EXPECT_EQ(values_.kind(values_.at(list, 0, nullptr)), uint32_t{BERTH_VALUE_NULL});
}

TEST_F(ArgumentsTest, ANullDocumentHasNoRoot) {
  EXPECT_EQ(values_.kind(nullptr), uint32_t{BERTH_VALUE_NULL});
  EXPECT_EQ(values_.size(nullptr), 0U);
  EXPECT_EQ(values_.get(nullptr, AsStr("a")), nullptr);
  EXPECT_EQ(values_.at(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(values_.as_int(nullptr), 0);
  EXPECT_EQ(values_.as_float(nullptr), 0);
  EXPECT_EQ(values_.as_string(nullptr).len, 0U);
  EXPECT_EQ(values_.where(nullptr).len, 0U);
}

}  // namespace
}  // namespace berth::host
