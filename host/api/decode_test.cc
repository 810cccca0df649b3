#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode_testing.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class DecodeAloneTest : public DecodeTest {
 protected:
  // Returns the tree as JSON, or the error.
  std::string Tree(std::string_view json) {
    const auto tree = decoder_.DecodeTree(json);
    return tree.ok() ? JsonOf(tree->root) : std::string(tree.status().message());
  }
  std::string Selector(const Result<Parsed<berth_selector>>& selector) {
    return selector.ok() ? Show(selector->root) : std::string(selector.status().message());
  }
  std::string Labels(std::string_view json) {
    return Selector(decoder_.DecodeLabelSelector(Json(json)));
  }
  std::string FromText(std::string_view text) {
    return Selector(decoder_.DecodeSelectorText(text));
  }
  std::string Terms(std::string_view json) {
    const auto selector = decoder_.DecodeNodeSelector(Json(json));
    if (!selector.ok()) return std::string(selector.status().message());
    std::string text;
    for (const berth_node_term& term : Elements<berth_node_term>(selector->root->terms)) {
      text +=
          "[" + ShowRequirements(term.expressions) + " / " + ShowRequirements(term.fields) + "]";
    }
    return text;
  }
};

TEST_F(DecodeAloneTest, ReadsAnyJsonValue) {
  for (const char* json : {"null", "true", "false", "0", "-7", "9223372036854775807", "1.5",
                           "1e+300", "\"\"", "\"text\"", "[]", "{}", "[1,[2,{\"a\":\"b\"}],null]",
                           R"({"a":1,"b":[true,false],"c":{"d":"e"}})"}) {
    EXPECT_EQ(Tree(json), json);
  }
  EXPECT_EQ(Tree(" \n{ \"a\" :\t1 } "), R"({"a":1})");
  EXPECT_EQ(Tree("2.0"), "2.0") << "a FLOAT stays a FLOAT";
  EXPECT_EQ(Tree(R"({"a":1,"a":2,"b":null})"), R"({"a":2})") << "as in objects";
}

TEST_F(DecodeAloneTest, WritesTextThatReadsAsTheSame) {
  EXPECT_EQ(Tree(R"("a\"b\\c\/d\n\u0001\u00e9")"), "\"a\\\"b\\\\c/d\\u000a\\u0001\xc3\xa9\"");
  EXPECT_EQ(Tree(Tree(R"(["\u001f\t"])")), R"(["\u001f\u0009"])");
  const std::string large = "[" + std::string(10'000, ' ') + "\"" + std::string(9'000, 'x') + "\"]";
  EXPECT_EQ(Tree(large).size(), 9'004U) << "longer than one piece";
}

TEST_F(DecodeAloneTest, RejectsOtherTexts) {
  for (const char* text : {"", "  ", "x", "{", "}", "[1", "1]", "1,2", "1 2", "{} {}", "[1],[2]",
                           "1],[2", "{\"a\"}", "nul", "01", "'a'", "\"a", "\xff"}) {
    EXPECT_FALSE(decoder_.DecodeTree(text).ok()) << text;
  }
  EXPECT_THAT(Tree(""), HasSubstr("expected a JSON value, found nothing"));
  EXPECT_THAT(Tree("1,2"), HasSubstr("expected the end of the text"));
  EXPECT_THAT(Tree(std::string(65, '[') + std::string(65, ']')), HasSubstr("nested deeper"));
  EXPECT_TRUE(decoder_.DecodeTree(std::string(64, '[') + std::string(64, ']')).ok());
}

TEST_F(DecodeAloneTest, ReadsLabelSelectors) {
  EXPECT_EQ(Labels("{}"), "");
  EXPECT_EQ(Labels("{'matchLabels':{'a':'x'},"
                   "'matchExpressions':[{'key':'b','operator':'NotIn','values':['y']}]}"),
            "a In 'x'; b NotIn 'y'");
}

struct WrongSelector {
  const char* json;
  const char* error;
};

TEST_F(DecodeAloneTest, ExplainsInvalidLabelSelectors) {
  constexpr WrongSelector kTable[] = {
      {"null", "expected an object"},
      {"[]", "expected an object"},
      {"{'matchLabels':'a'}", "/matchLabels: expected an object"},
      {"{'matchLabels':{'-a':'x'}}", "\"-a\" is not a label key"},
      {"{'matchLabels':{'a':'x y'}}", "\"x y\", a value of key \"a\", is not a label value"},
      {"{'matchExpressions':[{'key':'a','operator':'In'}]}", "key \"a\" has none"},
      {"{'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]}",
       "key \"a\" has some"},
      {"{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}",
       "an operator other than In, NotIn, Exists and DoesNotExist"},
      {"{'matchExpressions':[{'key':'a','operator':'Is','values':['1']}]}",
       "an operator other than In, NotIn, Exists and DoesNotExist"},
  };
  for (const WrongSelector& row : kTable) EXPECT_THAT(Labels(row.json), HasSubstr(row.error));
  EXPECT_EQ(Labels("{'matchLabels':{'a':'x'}}"), "a In 'x'") << "an error leaves nothing behind";
}

TEST_F(DecodeAloneTest, ReadsNodeSelectors) {
  EXPECT_EQ(Terms("{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Gt',"
                  "'values':['5']}]},{'matchFields':[{'key':'metadata.name','operator':'In',"
                  "'values':['n']}]},{}]}"),
            "[a Gt 5 / ][ / metadata.name In 'n'][ / ]");
}

TEST_F(DecodeAloneTest, ExplainsInvalidNodeSelectors) {
  constexpr WrongSelector kTable[] = {
      {"{}", "expected nodeSelectorTerms with at least one term"},
      {"{'nodeSelectorTerms':[]}", "expected nodeSelectorTerms with at least one term"},
      {"{'nodeSelectorTerms':{}}", "/nodeSelectorTerms: expected an array"},
      {"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Is'}]}]}",
       "/nodeSelectorTerms/0/matchExpressions/0/operator"},
      {"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Lt',"
       "'values':['x']}]}]}",
       "the operators Gt and Lt need one integer"},
      {"{'nodeSelectorTerms':[{'matchFields':[{'key':'spec','operator':'In',"
       "'values':['x']}]}]}",
       "expected metadata.name"},
  };
  for (const WrongSelector& row : kTable) EXPECT_THAT(Terms(row.json), HasSubstr(row.error));
}

struct TextCase {
  const char* text;
  const char* selector;
};

// The cases are those of apimachinery: pkg/labels/selector_test.go.
TEST_F(DecodeAloneTest, ReadsTextsOfSelectors) {
  constexpr TextCase kTable[] = {
      {"", ""},
      {" ", ""},
      {"x=a,y=b,z=c", "x In 'a'; y In 'b'; z In 'c'"},
      {"x==a", "x In 'a'"},
      {"x!=a,y = b", "x NotIn 'a'; y In 'b'"},
      {"x=", "x In ''"},
      {"x= ,z= ", "x In ''; z In ''"},
      {"x", "x Exists"},
      {"!x", "x DoesNotExist"},
      {"x,!y", "x Exists; y DoesNotExist"},
      {"x>1", "x Gt 1"},
      {"x<7", "x Lt 7"},
      {"x in (b,a)", "x In 'a' 'b'"},
      {"x notin ( a , b , a )", "x NotIn 'a' 'b'"},
      {"x in ()", "x In ''"},
      {"x in (,a)", "x In '' 'a'"},
      {"x in (a,)", "x In '' 'a'"},
      {"x in (a,,b)", "x In '' 'a' 'b'"},
      {"in in (in),notin notin (notin)", "in In 'in'; notin NotIn 'notin'"},
      {"in", "in Exists"},
      {"example.com/a=b", "example.com/a In 'b'"},
  };
  for (const TextCase& row : kTable) {
    EXPECT_EQ(FromText(row.text), row.selector) << row.text;
  }
}

TEST_F(DecodeAloneTest, ExplainsInvalidTextsOfSelectors) {
  constexpr WrongSelector kTable[] = {
      {"x=a||y=b", "found \"=\" at byte 6"},
      {"x=a||y", "\"a||y\", a value of key \"x\", is not a label value"},
      {"x==a==b", "expected ',' or the end of the text, found \"==\" at byte 4"},
      {"!x=a", "expected ',' or the end of the text, found \"=\" at byte 2"},
      {"!", "expected a key, found the end of the text"},
      {"=a", "expected !, a key, or the end of the text, found \"=\" at byte 0"},
      {"x,", "expected a key after ',', found the end of the text"},
      {"x y", "expected one of =, ==, !=, in, notin, > and <, found \"y\" at byte 2"},
      {"x in a", "expected '(', found \"a\" at byte 5"},
      {"x in (a", "expected ',' or ')', found the end of the text"},
      {"x in (a b)", "expected ',' or ')', found \"b\" at byte 8"},
      {"x=(a)", "expected a value, found \"(\" at byte 2"},
      {"z<-5", "\"-5\", a value of key \"z\", is not a label value"},
      {"x>a", "the operators Gt and Lt need one integer"},
      {"-x=a", "\"-x\" is not a label key"},
      {"x=a b", "expected ',' or the end of the text"},
      {"x in (a/b)", "\"a/b\", a value of key \"x\", is not a label value"},
  };
  for (const WrongSelector& row : kTable) {
    EXPECT_THAT(FromText(row.json), HasSubstr(row.error)) << row.json;
  }
}

}  // namespace
}  // namespace berth::host
