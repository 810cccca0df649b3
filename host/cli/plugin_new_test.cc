#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cli/embedded_files.h"
namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::Field;

TEST(PluginTemplateTest, KeepsPartsWhoseConditionIsTrue) {
  const struct {
    const char* name;
    const char* condition;
    TemplatePoints points;
    bool kept;
  } cases[] = {
      {"the point is there", "Filter", {"Filter"}, true},
      {"the point is not there", "Filter", {"Score"}, false},
      {"a longer name is another point", "Filter", {"PreFilter"}, false},
      {"one of several", "Filter Score", {"Score"}, true},
      {"none of several", "Filter Score", {"Bind"}, false},
      {"both of two", "Filter&Score", {"Filter", "Score"}, true},
      {"one of two", "Filter&Score", {"Filter"}, false},
      {"without a point that is not there", "!Filter", {}, true},
      {"without a point that is there", "!Filter", {"Filter"}, false},
      {"with one and without another", "Bind&!Filter", {"Bind"}, true},
      {"with both", "Bind&!Filter", {"Bind", "Filter"}, false},
      {"the second alternative", "Bind&!Filter Score", {"Bind", "Filter", "Score"}, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string text = std::string("a\n@if ") + c.condition + "\nb\n@end\nc\n";
    EXPECT_EQ(RenderTemplate(text, {}, c.points), c.kept ? "a\nb\nc\n" : "a\nc\n");
  }
}

TEST(PluginTemplateTest, ANestedPartNeedsBothConditions) {
  constexpr const char* kText = "@if Filter\na\n@if Score\nb\n@end\nc\n@end\n";
  EXPECT_EQ(RenderTemplate(kText, {}, {"Filter", "Score"}), "a\nb\nc\n");
  EXPECT_EQ(RenderTemplate(kText, {}, {"Filter"}), "a\nc\n");
  EXPECT_EQ(RenderTemplate(kText, {}, {"Score"}), "");
}

TEST(PluginTemplateTest, ReplacesVariablesAndKeepsOtherAtSigns) {
  EXPECT_EQ(RenderTemplate("@A@-@B_C@@A@ me@host @ @a@ @AB", {{"A", "x"}, {"B_C", "y@A@"}}, {}),
            "x-y@A@x me@host @ @a@ @AB\n");
}

TEST(PluginTemplateTest, HasTheTemplatesOfAllLanguages) {
  for (const char* path : {"cpp/plugin.cc.in", "c/plugin.c.in", "rust/src/lib.rs.in",
                           "rust/Cargo.toml.in", "common/profile.toml.in"}) {
    EXPECT_THAT(PluginTemplates(), Contains(Field(&EmbeddedFile::path, path)));
  }
}

}  // namespace
}  // namespace berth::host
