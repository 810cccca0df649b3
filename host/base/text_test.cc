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

}  // namespace
}  // namespace berth::host
