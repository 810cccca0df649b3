#include "host/cluster/kubernetes/watch/page_progress.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

struct PageOfList {
  std::vector<std::string> names;
  std::string token;
};

// Returns after how many pages the list must not go on; 0 if all of them are accepted.
size_t RefusedPage(const std::vector<PageOfList>& pages) {
  PageProgress progress;
  for (size_t at = 0; at < pages.size(); ++at) {
    for (const std::string& name : pages[at].names) progress.AddItem("ns", name);
    if (!progress.EndPage(pages[at].token).ok()) return at + 1;
  }
  return 0;
}

TEST(PageProgress, RefusesAPageThatCannotLeadFurther) {
  const struct {
    const char* name;
    std::vector<PageOfList> pages;
    size_t refused;
  } cases[] = {
      {"other objects and tokens", {{{"a", "b"}, "1"}, {{"c"}, "2"}, {{"d"}, ""}}, 0},
      {"one page without objects", {{{}, ""}}, 0},
      {"the same token with other objects", {{{"a"}, "1"}, {{"b"}, "1"}, {{"c"}, ""}}, 0},
      {"the same token and objects", {{{"a", "b"}, "1"}, {{"a", "b"}, "1"}}, 2},
      {"the same token without objects", {{{"a"}, "1"}, {{}, "1"}}, 2},
      {"the same objects on the last page", {{{"a"}, "1"}, {{"a"}, ""}}, 0},
      {"an overlap of one object", {{{"a", "b"}, "1"}, {{"b", "c"}, "2"}}, 0},
      {"objects that cannot be read", {{{"", "a"}, "1"}, {{"", "b"}, "1"}, {{"", "b"}, "1"}}, 3},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(RefusedPage(c.pages), c.refused);
  }
}

TEST(PageProgress, EqualNamesOfTwoNamespacesAreTwoObjects) {
  PageProgress progress;
  progress.AddItem("a", "x");
  EXPECT_TRUE(progress.EndPage("1").ok());
  progress.AddItem("b", "x");
  EXPECT_TRUE(progress.EndPage("1").ok());
  progress.AddItem("a", "x");
  EXPECT_FALSE(progress.EndPage("1").ok());
}

TEST(PageProgress, RefusesTheTenthIdlePageInARow) {
  const std::vector<std::string> contents[] = {{}, {"a", "b"}};
  for (const std::vector<std::string>& idle : contents) {
    std::vector<PageOfList> pages = {{{"a"}, "first"}};
    for (size_t i = 1; i < PageProgress::kMaxIdlePages; ++i) {
      pages.push_back({idle, std::to_string(i)});
    }
    pages.push_back({{"c"}, "new"});
    for (size_t i = 0; i < PageProgress::kMaxIdlePages; ++i) {
      pages.push_back({idle, "again" + std::to_string(i)});
    }
    EXPECT_EQ(RefusedPage(pages), pages.size());
  }
}

TEST(PageProgress, RefusesAListOfTooManyPages) {
  PageProgress progress;
  for (size_t i = 1; i < PageProgress::kMaxPages; ++i) {
    progress.AddItem("", std::to_string(i));
    ASSERT_TRUE(progress.EndPage(std::to_string(i)).ok()) << i;
  }
  PageProgress ended = progress;
  EXPECT_TRUE(ended.EndPage("").ok());
  progress.AddItem("", "another");
  EXPECT_EQ(progress.EndPage("another").ToString(),
            "InvalidArgument: the list has no end: expected at most 10000 pages, found more");
}

}  // namespace
}  // namespace berth::host
