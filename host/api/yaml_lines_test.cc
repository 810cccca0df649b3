#include "host/api/yaml_lines.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr const char* kText =
    "# a comment\n"                 // 1
    "kind: Pod\n"                   // 2
    "metadata:\n"                   // 3
    "  name: a\n"                   // 4
    "  labels: {k: v,\n"            // 5
    "    a/b: 7}\n"                 // 6
    "spec:\n"                       // 7
    "  items:\n"                    // 8
    "  - x: 1\n"                    // 9
    "  - x: 2\n"                    // 10
    "    y: &more\n"                // 11
    "      z: 3\n"                  // 12
    "  - *more\n"                   // 13
    "  - <<: *more\n"               // 14
    "    w: 4\n"                    // 15
    "---\n"                         // 16
    "---\n"                         // 17
    "\n"                            // 18
    "- first\n"                     // 19
    "-\n"                           // 20
    "  - nested\n"                  // 21
    "--- {metadata: {name: b}}\n";  // 22

TEST(YamlLinesTest, FindsTheLineOfAValue) {
  struct Case {
    YamlPlace place;
    int32_t line;
  };
  const std::vector<Case> cases = {
      {{2, ""}, 2},
      {{2, "/metadata"}, 4},
      {{2, "/metadata/name"}, 4},
      {{2, "/metadata/labels"}, 5},
      {{2, "/metadata/labels/a~1b"}, 6},
      {{2, "/spec/items/0/x"}, 9},
      {{2, "/spec/items/1/y/z"}, 12},
      {{19, "/0"}, 19},
      {{19, "/1/0"}, 21},
      {{22, "/metadata/name"}, 22},
  };
  std::vector<YamlPlace> places;
  for (const Case& c : cases) places.push_back(c.place);
  const std::vector<int32_t> lines = FindYamlLines(kText, places);
  ASSERT_EQ(lines.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(lines[i], cases[i].line) << places[i].document_line << places[i].pointer;
  }
}

TEST(YamlLinesTest, FindsTheInnermostValueOfAMissingValue) {
  const std::vector<YamlPlace> places = {{2, "/metadata/uid"},    {2, "/spec/items/9/x"},
                                         {2, "/spec/items/2/z"},  {2, "/spec/items/3/z"},
                                         {2, "/metadata/name/x"}, {19, "/7"},
                                         {18, "/metadata"},       {22, "/status"}};
  EXPECT_EQ(FindYamlLines(kText, places), (std::vector<int32_t>{4, 9, 13, 14, 4, 19, 18, 22}));
}

TEST(YamlLinesTest, SkipsAByteOrderMark) {
  const std::vector<YamlPlace> places = {{1, "/b"}};
  EXPECT_EQ(FindYamlLines("\xef\xbb\xbf"
                          "a: 1\nb: 2\n",
                          places),
            std::vector<int32_t>{2});
}

}  // namespace
}  // namespace berth::host
