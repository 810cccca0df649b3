#include "host/base/secret.h"

#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<std::string, Secret>, "conversions are explicit");

// A text of the size that std::string stores inside itself, and one that it allocates.
const std::string kTexts[] = {"", "a", "fifteen bytes!!", std::string(4096, 'x'),
                              std::string("a\0b", 3)};

TEST(Secret, HoldsTheText) {
  for (const std::string& text : kTexts) {
    const Secret secret(text);
    EXPECT_EQ(secret.Reveal(), text);
    EXPECT_EQ(secret.size(), text.size());
    EXPECT_EQ(secret.empty(), text.empty());
  }
  EXPECT_TRUE(Secret().empty());
  EXPECT_EQ(Secret().Reveal(), "");
}

TEST(Secret, IsCopiedAndMoved) {
  for (const std::string& text : kTexts) {
    Secret first(text);
    Secret copy = first;
    EXPECT_EQ(copy.Reveal(), text);
    EXPECT_EQ(first.Reveal(), text) << "a copy leaves the original unchanged";
    if (!text.empty()) {
      EXPECT_NE(copy.Reveal().data(), first.Reveal().data());
    }

    Secret moved = std::move(first);
    EXPECT_EQ(moved.Reveal(), text);
    EXPECT_TRUE(first.empty());

    Secret assigned("before");
    assigned = copy;
    EXPECT_EQ(assigned.Reveal(), text);
    assigned = std::move(copy);
    EXPECT_EQ(assigned.Reveal(), text);
    assigned = *&assigned;
    EXPECT_EQ(assigned.Reveal(), text) << "an assignment to itself changes nothing";
  }
}

TEST(Secret, IsComparedByItsText) {
  EXPECT_EQ(Secret("a"), Secret("a"));
  EXPECT_EQ(Secret(""), Secret());
  EXPECT_FALSE(Secret("a") == Secret("b"));
  EXPECT_FALSE(Secret("a") == Secret("ab"));
}

}  // namespace
}  // namespace berth::host
