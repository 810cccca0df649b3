#include "host/base/suggest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

using Names = std::vector<std::string>;

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("simulate", "simulte"), 1u);
  EXPECT_EQ(EditDistance("web-0", "web-1"), 1u);
  EXPECT_EQ(EditDistance("ab", "ba"), 1u);
  EXPECT_EQ(EditDistance("name", "nmae"), 1u);
  EXPECT_EQ(EditDistance("abc", "cab"), 2u);
  EXPECT_EQ(EditDistance("abab", "baba"), 2u);
}

TEST(NearMisses, ReturnsTheNearestNameFirst) {
  const Names names = {"default/web-2", "default/web-10", "default/database", "prod/web-1"};
  EXPECT_EQ(NearMisses("default/web-1", names), (Names{"default/web-10", "default/web-2"}));
}

TEST(NearMisses, FindsNamesThatContainTheWantedText) {
  const Names names = {"default/frontend-7c9f", "default/db"};
  EXPECT_EQ(NearMisses("frontend", names), Names{"default/frontend-7c9f"});
}

TEST(NearMisses, AllowsAThirdOfTheCharactersToDiffer) {
  const Names names = {"abcdef"};
  EXPECT_EQ(NearMisses("abcdxy", names), names);
  EXPECT_TRUE(NearMisses("abcxyz", names).empty());
}

TEST(NearMisses, ReturnsAtMostThreeNames) {
  const Names names = {"web-4", "web-3", "web-2", "web-1"};
  EXPECT_EQ(NearMisses("web-0", names), (Names{"web-1", "web-2", "web-3"}));
}

TEST(DidYouMean, IsEmptyWhenNoNameIsNear) {
  EXPECT_EQ(DidYouMean("web-0", Names{"other-thing"}), "");
  EXPECT_EQ(DidYouMean("web-0", Names{"web-1"}), "; did you mean web-1?");
  EXPECT_EQ(DidYouMean("web-0", Names{"web-1", "web-2", "web-3"}),
            "; did you mean web-1, web-2 or web-3?");
}

}  // namespace
}  // namespace berth::host
