#include "host/config/args_schema.h"

#include <string>

#include <gtest/gtest.h>

#include "host/config/config_value.h"
#include "host/config/toml_document.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;

const Json& Schema() {
  static const Json schema = Json::parse(R"({
    "type": "object", "additionalProperties": false, "required": ["ratio"],
    "properties": {
      "ratio": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
      "count": {"type": "integer", "minimum": 1, "default": 2},
      "zone": {"type": "string", "maxLength": 3, "default": ""},
      "on": {"type": "boolean"},
      "any": {},
      "strategy": {
        "type": "object", "additionalProperties": false,
        "properties": {
          "type": {"enum": ["LeastAllocated", "MostAllocated"]},
          "resources": {
            "type": "array", "minItems": 1, "maxItems": 2,
            "default": [{"name": "cpu"}],
            "items": {"type": "object", "additionalProperties": false, "required": ["name"],
                      "properties": {"name": {"type": "string"},
                                     "weight": {"type": "integer", "maximum": 100}}}}}},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}}}})");
  return schema;
}

std::string SchemaErrors(const Json& schema, const std::string& toml) {
  ConfigErrors errors;
  const auto root = ParseToml(toml, "a.toml", errors);
  EXPECT_TRUE(root.has_value()) << toml;
  CheckArgs(schema, ToArgs(*root, "P: ", errors), "P: ", {"a.toml", 99, 1}, errors);
  return std::string(errors.ToStatus().message());
}

TEST(CheckArgsTest, ReportsArgumentsThatDoNotMatchTheSchema) {
  struct Case {
    const char* toml;
    const char* error;
  };
  const Case cases[] = {
      {"ratio = 0", ""},
      {"ratio = 1.0", ""},
      {"ratio = 0.5\nany = [1, {a = 2}]\non = true\nzone = \"abc\"", ""},
      {"ratio = 1.01",
       "a.toml:1: P: args.ratio: expected a number from 0 to 1, found the number 1.01"},
      {"ratio = -1", "a.toml:1: P: args.ratio: expected a number from 0 to 1, found -1"},
      {"ratio = \"1\"", "a.toml:1: P: args.ratio: expected a number from 0 to 1, found \"1\""},
      {"ratio = 1\ncount = 1", ""},
      {"ratio = 1\ncount = 0",
       "a.toml:2: P: args.count: expected a whole number of at least 1, found 0"},
      {"ratio = 1\ncount = 1.5",
       "a.toml:2: P: args.count: expected a whole number of at least 1, found the number 1.5"},
      {"ratio = 1\nzone = \"abcd\"",
       "a.toml:2: P: args.zone: expected a string with a length of at most 3, found a length of 4"},
      {"ratio = 1\nzone = true", "a.toml:2: P: args.zone: expected a string, found true"},
      {"ratio = 1\non = \"yes\"", "a.toml:2: P: args.on: expected true or false, found \"yes\""},
      {"\nratoi = 1\n",
       "a.toml: P: args.ratio: expected a number, found none\n"
       "a.toml:2: P: args.ratoi: expected a known key, found \"ratoi\"; did you mean ratio?"},
      {"ratio = 1\nxyz = 1",
       "a.toml:2: P: args.xyz: expected one of any, count, labels, on, ratio, strategy, zone, "
       "found "
       "\"xyz\""},
      {"ratio = 1\nstrategy = 5", "a.toml:2: P: args.strategy: expected a table, found 5"},
      {"ratio = 1\n[strategy]\ntype = \"MostAlocated\"",
       "a.toml:3: P: args.strategy.type: expected one of \"LeastAllocated\", \"MostAllocated\", "
       "found \"MostAlocated\"; did you mean MostAllocated or "
       "LeastAllocated?"},
      {"ratio = 1\n[strategy]\ntype = 1",
       "a.toml:3: P: args.strategy.type: expected one of \"LeastAllocated\", \"MostAllocated\", "
       "found 1"},
      {"ratio = 1\nstrategy.resources = []",
       "a.toml:2: P: args.strategy.resources: expected an array with a length from 1 to 2, found a "
       "length of 0"},
      {"ratio = 1\n[[strategy.resources]]\nname = \"cpu\"\nweight = 101\n[[strategy.resources]]\n"
       "weight = 1\nnmae = \"x\"",
       "a.toml:4: P: args.strategy.resources[0].weight: expected a whole number of at most 100, "
       "found 101\n"
       "a.toml:5: P: args.strategy.resources[1].name: expected a string, found none\n"
       "a.toml:7: P: args.strategy.resources[1].nmae: expected a known key, found \"nmae\"; did "
       "you mean name?"},
      {"ratio = 1\n[labels]\na = \"1\"\nb = 2",
       "a.toml:4: P: args.labels.b: expected a string, found 2"},
  };
  for (const Case& c : cases) EXPECT_EQ(SchemaErrors(Schema(), c.toml), c.error) << c.toml;
}

TEST(CheckArgsTest, ReportsARequiredArgumentIfThereAreNone) {
  ConfigErrors errors;
  CheckArgs(Schema(), {}, "P: ", {"a.toml", 3, 1}, errors);
  EXPECT_EQ(errors.ToStatus().message(), "a.toml:3: P: args.ratio: expected a number, found none");
}

TEST(CheckArgsTest, RejectsArgumentsOfAPluginWithoutArguments) {
  EXPECT_EQ(SchemaErrors(Json::parse(R"({"type":"object","additionalProperties":false})"), "x = 1"),
            "a.toml:1: P: args.x: expected no arguments, found \"x\"");
  EXPECT_EQ(SchemaErrors(Json::object(), "x = 1"), "");
}

TEST(CheckArgsTest, IgnoresInvalidPartsOfASchema) {
  for (const char* schema :
       {"null", "[]", "7", R"({"type":7,"properties":[],"required":{},"enum":3,"items":2})",
        R"({"required":[1,null],"properties":{"x":5},"additionalProperties":[]})"}) {
    EXPECT_EQ(SchemaErrors(Json::parse(schema), "x = 1\ny = [1]"), "") << schema;
  }
}

TEST(ArgsKeyTest, FormatsAPointerAsAKey) {
  EXPECT_EQ(ArgsKey(""), "args");
  EXPECT_EQ(ArgsKey("/a/0/b~1c/~0d"), "args.a[0].b/c.~d");
  EXPECT_EQ(ArgsKey("/a~"), "args.a~");
}

TEST(WithDefaultsTest, AddsDefaultsOfMissingArguments) {
  EXPECT_EQ(WithDefaults(Schema(), nullptr).dump(), R"({"count":2,"ratio":0.5,"zone":""})");
  EXPECT_EQ(
      WithDefaults(Schema(), Json::parse(R"({"ratio":1,"strategy":{"type":"x"}})")).dump(),
      R"({"count":2,"ratio":1,"strategy":{"resources":[{"name":"cpu"}],"type":"x"},"zone":""})");
  EXPECT_EQ(WithDefaults(nullptr, nullptr).dump(), "{}");
}

}  // namespace
}  // namespace berth::host
