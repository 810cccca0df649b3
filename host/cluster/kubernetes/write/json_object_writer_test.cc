#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

TEST(JsonObjectWriter, WritesTextsAsDumpJsonDoes) {
  const std::string_view texts[] = {"",
                                    "web-0",
                                    " ~",
                                    "a\"b",
                                    "a\\b",
                                    "a/b",
                                    "a\nb",
                                    "\x1f",
                                    "\x7f",
                                    "\xc3\xa9",
                                    "x\xff",
                                    "<&>",
                                    "tab\t",
                                    "100 \xe2\x82\xac",
                                    std::string_view("a\0b", 3)};
  for (const std::string_view text : texts) {
    JsonObjectWriter writer;
    writer.AddText("a", text);
    EXPECT_EQ(writer.Finish(), "{\"a\":" + DumpJson(nlohmann::json(text)) + "}");
  }
}

TEST(JsonObjectWriter, WritesMembersInOrder) {
  JsonObjectWriter writer;
  writer.AddText("a", "x\"y");
  writer.BeginObject("b");
  writer.EndObject();
  writer.BeginObject("c");
  writer.AddTextIfAny("none", "");
  writer.AddTextIfAny("d", "z");
  writer.AddNumber("e", -7);
  writer.EndObject();
  writer.AddText("f", "}");
  writer.AddText("g", "{");
  writer.AddNumber("h", 1);
  EXPECT_EQ(writer.Finish(), R"({"a":"x\"y","b":{},"c":{"d":"z","e":-7},"f":"}","g":"{","h":1})");
  EXPECT_EQ(JsonObjectWriter(100).Finish(), "{}");
}

}  // namespace
}  // namespace berth::host
