#include "host/runtime/arguments.h"

#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/api/objects.h"

namespace berth::host {
namespace {

class ArgumentsTest : public ::testing::Test {
 protected:
  const berth_value* Parse(const char* json) {
    root_ = ArgumentsFromJson(nlohmann::json::parse(json), "profiles/a.toml:3");
    return root_.get();
  }
  const berth_value* Get(const berth_value* value, std::string_view key) {
    return args_.get(value, AsStr(key));
  }

  const berth_args& args_ = *ArgumentsService();
  std::unique_ptr<berth_value> root_;
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
      {"null", BERTH_VALUE_NULL, 0, 0, ""},
      {"true", BERTH_VALUE_BOOL, 1, 1, ""},
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
    EXPECT_EQ(args_.kind(value), row.kind);
    EXPECT_EQ(args_.size(value), 0U);
    EXPECT_EQ(args_.as_int(value), row.as_int);
    EXPECT_EQ(args_.as_float(value), row.as_float);
    EXPECT_EQ(Text(args_.as_string(value)), row.as_string);
    EXPECT_EQ(Text(args_.where(value)), "profiles/a.toml:3");
    EXPECT_EQ(args_.get(value, AsStr("key")), nullptr);
    EXPECT_EQ(args_.at(value, 0, nullptr), nullptr);
  }
}

TEST_F(ArgumentsTest, ArraysAreReadByIndex) {
  const berth_value* value = Parse("[1, \"two\", [3]]");
  EXPECT_EQ(args_.kind(value), uint32_t{BERTH_VALUE_ARRAY});
  EXPECT_EQ(args_.size(value), 3U);
  EXPECT_EQ(args_.as_int(args_.at(value, 0, nullptr)), 1);
  berth_str key = AsStr("untouched");
  EXPECT_EQ(Text(args_.as_string(args_.at(value, 1, &key))), "two");
  EXPECT_EQ(Text(key), "untouched");
  EXPECT_EQ(args_.as_int(args_.at(args_.at(value, 2, nullptr), 0, nullptr)), 3);
  EXPECT_EQ(args_.at(value, 3, nullptr), nullptr);
  EXPECT_EQ(Get(value, "0"), nullptr);
}

TEST_F(ArgumentsTest, ObjectsAreReadByKeyAndByIndex) {
  const berth_value* value = Parse(R"({"a": 1, "b": {"c": true}, "": "empty"})");
  EXPECT_EQ(args_.kind(value), uint32_t{BERTH_VALUE_OBJECT});
  EXPECT_EQ(args_.size(value), 3U);
  EXPECT_EQ(args_.as_int(Get(value, "a")), 1);
  EXPECT_EQ(args_.as_int(Get(Get(value, "b"), "c")), 1);
  EXPECT_EQ(Text(args_.as_string(Get(value, ""))), "empty");
  EXPECT_EQ(Get(value, "d"), nullptr);
  for (uint64_t i = 0; i < args_.size(value); ++i) {
    berth_str key{};
    const berth_value* member = args_.at(value, i, &key);
    ASSERT_NE(member, nullptr);
    EXPECT_EQ(member, args_.get(value, key));
  }
  EXPECT_EQ(args_.at(value, 3, nullptr), nullptr);
}

TEST_F(ArgumentsTest, NothingIsNull) {
  EXPECT_EQ(args_.kind(nullptr), uint32_t{BERTH_VALUE_NULL});
  EXPECT_EQ(args_.size(nullptr), 0U);
  EXPECT_EQ(args_.get(nullptr, AsStr("a")), nullptr);
  EXPECT_EQ(args_.at(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(args_.as_int(nullptr), 0);
  EXPECT_EQ(args_.as_float(nullptr), 0);
  EXPECT_EQ(args_.as_string(nullptr).len, 0U);
  EXPECT_EQ(args_.where(nullptr).len, 0U);
}

}  // namespace
}  // namespace berth::host
