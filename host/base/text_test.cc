#include "host/base/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(Text, ConvertsToAndFromTheAbi) {
  EXPECT_EQ(Text(AsStr("node-a")), "node-a");
  EXPECT_EQ(Text(berth_str{nullptr, 0}), "");
  EXPECT_EQ(Text(berth_str{nullptr, 3}), "");
  EXPECT_FALSE(IsNull(berth_str{nullptr, 0}));
  EXPECT_TRUE(IsNull(berth_str{nullptr, 3}));
  EXPECT_FALSE(IsNull(AsStr("")));
}

TEST(Characters, AreClassifiedAsAscii) {
  for (int byte = -128; byte < 128; ++byte) {
    const char c = static_cast<char>(byte);
    const bool ascii = byte >= 0;
    EXPECT_EQ(IsDigit(c), ascii && std::string("0123456789").find(c) != std::string::npos) << byte;
    EXPECT_EQ(IsHexDigit(c),
              ascii && std::string("0123456789abcdefABCDEF").find(c) != std::string::npos)
        << byte;
    EXPECT_EQ(IsLower(c), byte >= 'a' && byte <= 'z') << byte;
    EXPECT_EQ(IsUpper(c), byte >= 'A' && byte <= 'Z') << byte;
    EXPECT_EQ(IsLetter(c), IsLower(c) || IsUpper(c)) << byte;
    EXPECT_EQ(ToLower(c), IsUpper(c) ? c + 32 : c) << byte;
    EXPECT_EQ(IsContinuationByte(c), byte < -64) << byte;
  }
}

TEST(IsNumber, TakesDigitsOnly) {
  EXPECT_TRUE(IsNumber("0"));
  EXPECT_TRUE(IsNumber("0123456789"));
  for (const char* text : {"", "-1", "1.5", "1 ", "x"}) EXPECT_FALSE(IsNumber(text)) << text;
}

TEST(ToLower, ChangesAsciiLettersOnly) { EXPECT_EQ(ToLower("PVC-Ä1"), "pvc-Ä1"); }

TEST(TrimSpace, RemovesSpacesAtBothEnds) {
  EXPECT_EQ(TrimSpace(""), "");
  EXPECT_EQ(TrimSpace(" \t\r\n"), "");
  EXPECT_EQ(TrimSpace("a"), "a");
  EXPECT_EQ(TrimSpace("\n a \t b\r\n"), "a \t b");
  EXPECT_EQ(TrimSpace("\va"), "\va");
}

TEST(Join, PutsTheSeparatorBetweenTexts) {
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(Join(std::vector<std::string>{"", "b", ""}, ", "), ", b, ");
}

TEST(Truncate, KeepsAShortText) {
  EXPECT_EQ(Truncate("", 3, "..."), "");
  EXPECT_EQ(Truncate("abc", 3, "..."), "abc");
}

TEST(Truncate, ReplacesTheEndOfALongText) {
  EXPECT_EQ(Truncate("abcdef", 5, "..."), "ab...");
  EXPECT_EQ(Truncate("abcd", 3, "..."), "...");
}

TEST(Truncate, DoesNotEndWithinACharacter) {
  EXPECT_EQ(Truncate("a\xc3\xa4\xc3\xa4\xc3\xa4", 6, " .."), "a\xc3\xa4 ..");
  EXPECT_EQ(Truncate("a\xc3\xa4\xc3\xa4\xc3\xa4", 5, " .."), "a ..");
}

TEST(DecodePercent, DecodesEscapes) {
  EXPECT_EQ(DecodePercent(""), "");
  EXPECT_EQ(DecodePercent("/a%2Fb%2fc%25+"), "/a/b/c%+");
  EXPECT_EQ(DecodePercent("%0a%FF"), "\n\xff");
  for (const char* text : {"%", "%4", "a%4", "%4g", "%g4", "%%41", "% 41"}) {
    EXPECT_EQ(DecodePercent(text), std::nullopt) << text;
  }
}

TEST(Quoted, EscapesControlCharacters) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
  EXPECT_EQ(Quoted("a\x1b[0m\n\x7f"), "\"a\\x1b[0m\\x0a\\x7f\"");
}

TEST(Quoted, ShortensALongText) {
  EXPECT_EQ(Quoted(std::string(64, 'x')), "\"" + std::string(64, 'x') + "\"");
  EXPECT_EQ(Quoted(std::string(65, 'x')), "\"" + std::string(64, 'x') + "...\"");
  EXPECT_EQ(Quoted("abc", 2), "\"ab...\"");
  EXPECT_EQ(Quoted("a\xc3\xa4", 2), "\"a...\"");
  EXPECT_EQ(Quoted(std::string(100, 'x'), std::string::npos), "\"" + std::string(100, 'x') + "\"");
}

TEST(OneLine, JoinsLinesAndEscapesControlCharacters) {
  EXPECT_EQ(OneLine(""), "");
  EXPECT_EQ(OneLine("one"), "one");
  EXPECT_EQ(OneLine("one\n"), "one");
  EXPECT_EQ(OneLine("one\r\n  two\n\nthree"), "one; two; three");
  EXPECT_EQ(OneLine("a\x1b[2J\tb\rc"), "a\\x1b[2J\\x09b\\x0dc");
  EXPECT_EQ(OneLine("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

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

TEST(WithCommasTest, GroupsThreeDigits) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
}

TEST(CountOfTest, AddsTheNounInTheRightNumber) {
  EXPECT_EQ(CountOf(0, "node"), "0 nodes");
  EXPECT_EQ(CountOf(1, "node"), "1 node");
  EXPECT_EQ(CountOf(1204, "node"), "1,204 nodes");
}

}  // namespace
}  // namespace berth::host
