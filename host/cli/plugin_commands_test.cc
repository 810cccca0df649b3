#include <string>

#include <gtest/gtest.h>

#include "host/cli/commands.h"

namespace berth::host {
namespace {

std::string Printed(const char* schema) {
  std::string out;
  SchemaTable(nlohmann::ordered_json::parse(schema)).Append(std::nullopt, out);
  return out;
}

TEST(SchemaTableTest, IsEmptyWithoutArguments) {
  EXPECT_EQ(SchemaTable({}).row_count(), 0u);
  EXPECT_EQ(SchemaTable("not a schema").row_count(), 0u);
  EXPECT_EQ(SchemaTable(nlohmann::ordered_json::object()).row_count(), 0u);
}

TEST(SchemaTableTest, ShowsTheAllowedValues) {
  EXPECT_EQ(Printed(R"({"type":"object","properties":{
      "weight":{"type":"integer","default":1,"minimum":1,"maximum":100,"description":"How much."},
      "type":{"type":"string","enum":["LeastAllocated","MostAllocated"]}}})"),
            "ARGUMENT   TYPE      DEFAULT   ALLOWED                         MEANING\n"
            "weight     integer   1         at least 1, at most 100         How much.\n"
            "type       string              LeastAllocated, MostAllocated\n");
}

TEST(SchemaTableTest, NamesNestedArgumentsByTheirPath) {
  const std::string out = Printed(R"({"properties":{"strategy":{"type":"object","properties":{
      "resources":{"type":"array","items":{"type":"object","properties":{
          "name":{"type":"string"}}}}}}}})");
  EXPECT_NE(out.find("strategy.resources[].name"), std::string::npos) << out;
}

TEST(SchemaTableTest, EndsForAnEndlesslyNestedSchema) {
  std::string schema = R"({"type":"string"})";
  for (int i = 0; i < 100; ++i) schema = R"({"properties":{"a":)" + schema + "}}";
  EXPECT_LT(SchemaTable(nlohmann::ordered_json::parse(schema)).row_count(), 30u);
}

}  // namespace
}  // namespace berth::host
