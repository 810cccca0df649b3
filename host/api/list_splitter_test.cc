#include "host/api/list_splitter.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr ListSplitter::Limits kLimits = {.item_bytes = 60, .rest_bytes = 80, .total_bytes = 400};

// Returns the items, and then the text beside them or the error, separated by "; ". The text is
// appended in pieces of `piece` bytes, each of which is in memory of exactly this size.
std::string SplitList(std::string_view text, size_t piece,
                      const ListSplitter::Limits& limits = kLimits) {
  ListSplitter splitter(limits);
  std::string found;
  const auto note = [&found](std::string_view item) {
    found.append(item).append("; ");
    // The padding must be readable; a sanitizer reports it otherwise.
    EXPECT_EQ(std::string(item.data(), item.size() + ListSplitter::kPadding).substr(0, item.size()),
              item);
    return item == "{\"refuse\":1}" ? Status::Unsupported("refused") : Status::Ok();
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    const std::vector<char> copy(part.begin(), part.end());
    const Status status = splitter.Append({copy.data(), copy.size()}, note);
    if (!status.ok()) return found + status.ToString();
  }
  const Result<std::string> rest = splitter.Finish();
  return found + (rest.ok() ? *rest : rest.status().ToString());
}

// Splits the text at once, and expects the same result when it is appended in pieces.
std::string SplitList(std::string_view text) {
  const std::string whole = SplitList(text, text.size() + 1);
  for (const size_t piece : {1U, 2U, 3U, 7U, 70U}) {
    EXPECT_EQ(SplitList(text, piece), whole) << text << " in pieces of " << piece;
  }
  return whole;
}

struct ListCase {
  const char* name;
  const char* text;
  const char* found;
};

TEST(ListSplitter, PassesOnEachItemAndReturnsTheRest) {
  const std::vector<ListCase> cases = {
      {"no items", R"({"items":[]})", R"({"items":[]})"},
      {"no array", R"({"kind":"Status"})", R"({"kind":"Status"})"},
      {"null, as Go writes an empty slice", R"({"items":null,"a":1})", R"({"items":null,"a":1})"},
      {"one item", R"({"items":[{}]})", R"({}; {"items":[]})"},
      {"items first", R"({"items":[{"a":1},{"b":2}],"kind":"L"})",
       R"({"a":1}; {"b":2}; {"items":[],"kind":"L"})"},
      {"items last", R"({"metadata":{"resourceVersion":"7"},"items":[{"a":[{}]}]})",
       R"({"a":[{}]}; {"metadata":{"resourceVersion":"7"},"items":[]})"},
      {"brackets and quotes in strings", R"({"items":[{"a":"]}\"\\"},{"b":"[{"}]})",
       R"({"a":"]}\"\\"}; {"b":"[{"}; {"items":[]})"},
      {"spaces", " {\n\"items\" : [ {} ,\r\n\t{} ] } \n", "{}; {}; {\n\"items\" : [] }"},
      {"items below the top level", R"({"metadata":{"items":[{"a":1}]},"items":[{}]})",
       R"({}; {"metadata":{"items":[{"a":1}]},"items":[]})"},
      {"a value that is the text items", R"({"a":"items","b":[{"c":1}]})",
       R"({"a":"items","b":[{"c":1}]})"},
      {"escapes in a key", R"({"it\"ems":[{"a":1}],"items":[{}]})",
       R"({}; {"it\"ems":[{"a":1}],"items":[]})"},
      {"bytes beyond ASCII", "{\"items\":[{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}]}",
       "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}; {\"items\":[]}"},
  };
  for (const ListCase& c : cases) EXPECT_EQ(SplitList(c.text), c.found) << c.name;
}

TEST(ListSplitter, RejectsTextThatIsNoList) {
  const std::vector<ListCase> cases = {
      {"empty", "",
       "InvalidArgument: item 0, byte 0: expected the rest of the list, found the end of the text"},
      {"an array", "[]", "InvalidArgument: item 0, byte 0: expected '{', found '['"},
      {"the end within an item", R"({"items":[{},{"a":1)",
       "{}; InvalidArgument: item 1, byte 19: expected the rest of the list, found the end of the "
       "text"},
      {"the end within a string", R"({"a":"}})",
       "InvalidArgument: item 0, byte 8: expected the rest of the list, found the end of the text"},
      {"text after the list", "{}x",
       "InvalidArgument: item 0, byte 2: expected the end of the text, found 'x'"},
      {"items that are an object", R"({"items":{}})",
       "InvalidArgument: item 0, byte 9: expected an array of items, found '{'"},
      {"items that are a text", R"({"items":"a"})",
       "InvalidArgument: item 0, byte 9: expected an array of items, found '\"'"},
      {"an item that is a number", R"({"items":[1]})",
       "InvalidArgument: item 0, byte 10: expected an item or ']', found '1'"},
      {"a comma before the first item", R"({"items":[,{}]})",
       "InvalidArgument: item 0, byte 10: expected an item or ']', found ','"},
      {"a comma after the last item", R"({"items":[{},]})",
       "{}; InvalidArgument: item 1, byte 13: expected an item, found ']'"},
      {"no comma between items", R"({"items":[{}{}]})",
       "{}; InvalidArgument: item 1, byte 12: expected ',' or ']', found '{'"},
      {"a wrong bracket at the end of an item", R"({"items":[{]]})",
       "InvalidArgument: item 0, byte 11: expected '}', found ']'"},
      {"a wrong bracket at the end of the list", R"({"items":[]])",
       "InvalidArgument: item 0, byte 11: expected '}', found ']'"},
      {"an error of the sink", R"({"items":[{},{"refuse":1},{}]})",
       R"({}; {"refuse":1}; Unsupported: refused)"},
  };
  for (const ListCase& c : cases) EXPECT_EQ(SplitList(c.text), c.found) << c.name;
}

// Returns a list of one item with `item` bytes and `rest` bytes beside it.
std::string ListOf(size_t item, size_t rest) {
  const std::string text = R"({"a":"","items":[]})";
  return R"({"a":")" + std::string(rest - text.size(), 'r') + R"(","items":[{"b":")" +
         std::string(item - 8, 'i') + R"("}]})";
}

TEST(ListSplitter, EnforcesItsLimits) {
  for (const size_t piece : {size_t{1}, size_t{9}, size_t{1000}}) {
    EXPECT_TRUE(SplitList(ListOf(60, 80), piece).ends_with("\"items\":[]}")) << piece;
    EXPECT_TRUE(SplitList(ListOf(61, 80), piece)
                    .ends_with("OutOfRange: item 0: expected an item of at most 60 bytes, found "
                               "more"))
        << piece;
    EXPECT_TRUE(SplitList(ListOf(60, 81), piece)
                    .ends_with("expected the part of a list beside its items of at most 80 bytes, "
                               "found more"))
        << piece;
    const std::string spaces(398, ' ');
    EXPECT_EQ(SplitList("{}" + spaces, piece), "{}");
    EXPECT_EQ(SplitList("{} " + spaces, piece),
              "OutOfRange: item 0: expected a list of at most 400 bytes, found more");
  }
}

TEST(ListSplitter, HoldsNoMoreThanOneItem) {
  ListSplitter splitter({});
  size_t bytes = 0;
  const auto count = [&bytes](std::string_view item) {
    bytes += item.size();
    return Status::Ok();
  };
  ASSERT_TRUE(splitter.Append("{\"items\":[{\"n\":0}", count).ok());
  for (int i = 1; i < 10'000; ++i) ASSERT_TRUE(splitter.Append(",{\"n\":1}", count).ok());
  EXPECT_EQ(splitter.items(), 10'000u);
  ASSERT_TRUE(splitter.Append("],\"metadata\":{}}", count).ok());
  EXPECT_EQ(bytes, 70'000u);
  const Result<std::string> rest = splitter.Finish();
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(*rest, R"({"items":[],"metadata":{}})");
}

}  // namespace
}  // namespace berth::host
